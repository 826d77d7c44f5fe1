import type { Fingerprinter } from "../../publish/fingerprint.ts";
import type { SourceId, SourceState } from "../../restart/model.ts";
import type { SourceMarks } from "../../restart/opt-in.ts";
import { classDigest, compareDigests, digestFor, isWholeDigest, type UsedKeys } from "../../restart/source-digests.ts";
import { partsOf } from "../../restart/source-id.ts";
import type { ClassReader } from "./class-reader.ts";
import type { RestartCaches, Workload } from "./restart-caches.ts";
import type { PodStatusRecord } from "./restart-sources.ts";
import type { ReadMark } from "./shared-reads.ts";
import type { Reading, SourceReader } from "./source-reader.ts";
import { useOf, type WorkloadRecord } from "./workload-record.ts";

export interface SourceStatesOptions {
  readonly caches: RestartCaches;
  readonly sources: SourceReader;
  readonly classes: ClassReader;
  readonly fingerprinter: Fingerprinter;
}

type States = ReadonlyMap<SourceId, SourceState>;

const UNMARKED: SourceMarks = { isMatched: false, isIgnored: false };

/** What the sources of a workload are: as the watches know it, which costs nothing, and live. */
export class SourceStates {
  readonly #options: SourceStatesOptions;
  /** What is mounted is shared between many pods, and its digest is made once. */
  readonly #classDigests = new WeakMap<object, Map<string, string>>();

  constructor(options: SourceStatesOptions) {
    this.#options = options;
  }

  /** When the state of a workload was taken, for those who read what its pods have mounted. */
  takenNow(): ReadMark {
    return this.#options.classes.mark();
  }

  /** Undefined where something has to be read before anything can be said. */
  cached({ record }: Workload): States | undefined {
    const { caches, sources } = this.#options;
    const { namespace, optIn } = record;
    const states = new Map<SourceId, SourceState>();
    for (const source of this.#candidates(record)) {
      const entry = caches.source(namespace, source);
      if (!optIn.counts(source, useOf(record, source), entry?.record ?? UNMARKED)) continue;
      const reading = entry && sources.known(namespace, source, entry.resourceVersion);
      const written = entry && this.#asWrittenDown(record, source, entry.resourceVersion);
      const isToBeRead = entry !== undefined && reading === undefined && written === undefined;
      const state = isClass(source) ? this.#cachedClass(record, source) : stateOf(record, source, reading);
      if (isToBeRead || state === undefined) return undefined;
      states.set(source, reading || !written ? state : written);
    }
    return states;
  }

  /** By reads that began after this version of the workload was seen; of classes, after it was taken. */
  async live(workload: Workload, takenAt: ReadMark, signal: AbortSignal): Promise<States> {
    const { sources, classes } = this.#options;
    const { record } = workload;
    const { namespace, optIn } = record;
    const candidates = this.#candidates(record);
    const plain = candidates.filter((source) => !isClass(source));
    const mounted = candidates.filter(
      (source) => isClass(source) && optIn.counts(source, useOf(record, source), UNMARKED),
    );
    const [readings, classStates] = await Promise.all([
      Promise.all(plain.map((source) => sources.read(namespace, source, record.seenAt, signal))),
      classes.states(workload, mounted, takenAt, signal),
    ]);
    const states = new Map<SourceId, SourceState>();
    for (const [index, source] of plain.entries()) {
      const reading = readings[index];
      if (!optIn.counts(source, useOf(record, source), reading?.marks ?? UNMARKED)) continue;
      states.set(source, stateOf(record, source, reading));
    }
    for (const [source, state] of classStates) states.set(source, { ...state, isOptional: isOptional(record, source) });
    return states;
  }

  /** Whether what a pod has mounted differs from what the workload is known to run on. */
  isNewsTo(record: WorkloadRecord, { namespace, className, objects }: PodStatusRecord): boolean {
    const source: SourceId = `class/${className}`;
    const known = record.state?.sources.get(source);
    return (
      known === undefined || compareDigests(known.digest, this.#classDigest(namespace, source, objects)) !== "same"
    );
  }

  /** What the workload uses or names, each once; what a pattern stands for is looked up. */
  #candidates(record: WorkloadRecord): readonly SourceId[] {
    const { caches } = this.#options;
    const { namespace, uses, optIn } = record;
    const named = optIn.namedSources.flatMap(({ kind, name, matches }): readonly SourceId[] => {
      if (name !== undefined) return [`${kind}/${name}`];
      return kind === "class" ? [] : caches.matching(namespace, kind, matches);
    });
    return [...new Set([...uses.filter((use) => !use.isPullOnly).map(({ source }) => source), ...named])];
  }

  /**
   * A version of which the workload itself tells the digest need not be read again: so an operator that starts reads what
   * has changed while there was none, and nothing else. Only of whole sources: which keys a digest covers, it does not say.
   */
  #asWrittenDown(record: WorkloadRecord, source: SourceId, version: string): SourceState | undefined {
    const known = record.state?.sources.get(source);
    if (known === undefined || known.version !== version || useOf(record, source)?.keys !== undefined) return undefined;
    if (!isWholeDigest(known.digest, this.#options.fingerprinter)) return undefined;
    return { digest: known.digest, publishedAt: known.since, isOptional: isOptional(record, source), version };
  }

  /** As long as all pods of the namespace agree with what is known there is nothing to find out. */
  #cachedClass(record: WorkloadRecord, source: SourceId): SourceState | undefined {
    const statuses = this.#options.caches.podStatusesOf(record.namespace, partsOf(source).name);
    const known = record.state?.sources.get(source);
    if (statuses.length === 0) return { digest: undefined, publishedAt: 0, isOptional: isOptional(record, source) };
    if (!known || statuses.some((status) => this.isNewsTo(record, status))) return undefined;
    return { digest: known.digest, publishedAt: known.since, isOptional: isOptional(record, source) };
  }

  #classDigest(namespace: string, source: SourceId, objects: PodStatusRecord["objects"]): string {
    const digests = this.#classDigests.get(objects) ?? new Map<string, string>();
    this.#classDigests.set(objects, digests);
    const key = `${namespace}/${source}`;
    const { fingerprinter } = this.#options;
    const digest = digests.get(key) ?? classDigest({ fingerprinter, namespace, source, objects });
    digests.set(key, digest);
    return digest;
  }
}

const isClass = (source: SourceId): boolean => partsOf(source).kind === "class";

/** What is named and not used says something when it changes, not when it comes. */
const isOptional = (record: WorkloadRecord, source: SourceId): boolean => useOf(record, source)?.isOptional ?? false;

/** Of what is named and not used. */
const EVERYTHING: UsedKeys = { keys: undefined };

const stateOf = (record: WorkloadRecord, source: SourceId, reading: Reading | undefined): SourceState => ({
  digest: reading && digestFor(reading.digests, useOf(record, source) ?? EVERYTHING),
  publishedAt: reading?.publishedAt ?? 0,
  isOptional: isOptional(record, source),
  version: reading?.resourceVersion,
});
