import type { Clock } from "../../base/clock.ts";
import { NotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ObjectReader } from "../../kube/port.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import type { SourceId } from "../../restart/model.ts";
import { type SourceMarks, sourceMarksOf } from "../../restart/opt-in.ts";
import { dataOf, digestsOf, publishedAtOf, type SourceDigests } from "../../restart/source-digests.ts";
import { partsOf } from "../../restart/source-id.ts";
import { configMapType } from "../../restart/workload-kinds.ts";
import { type ReadCounter, type ReadMark, SharedReads } from "./shared-reads.ts";

/** What is kept of a version of a Secret or ConfigMap: nothing of its values but keyed digests. */
export interface Reading {
  readonly resourceVersion: string;
  readonly digests: SourceDigests;
  readonly publishedAt: number;
  readonly marks: SourceMarks;
}

export interface SourceReaderOptions {
  readonly kube: ObjectReader;
  readonly clock: Clock;
  readonly fingerprinter: Fingerprinter;
  readonly reloader: boolean;
  /** The version of a source, as far as the watches know; undefined: it is not there. */
  readonly versionOf: (namespace: string, source: SourceId) => string | undefined;
  /** Shared with whoever notes when a workload was seen. */
  readonly counter?: ReadCounter;
}

/** What a read brought, and when it began. */
interface Recent {
  readonly startedAt: ReadMark;
  readonly begunAt: number;
  readonly reading: Reading;
}

const READS_AT_A_TIME = 8;
/** So long a read counts as one of now: no longer than an answer may take anyway. */
const RECENT_MS = 1000;
/** A change of a source that many use is one read; this many sources may change at once. */
const MOST_RECENT = 64;
/**
 * So many are remembered, the latest. What a workload uses as a whole stands in its state besides; who uses single keys of
 * one that was forgotten has it read again when something happens to it.
 */
const MOST_READINGS = 1024;

/**
 * Reads Secrets and ConfigMaps live and keeps digests of the last version of each, so that many workloads cost one read of
 * a change. Values are dropped as soon as their digests are made. Must not: keep, log or hand on a value.
 */
export class SourceReader {
  readonly #options: SourceReaderOptions;
  readonly #reads: SharedReads<Reading | undefined>;
  readonly #recent = new Map<string, Recent>();
  readonly #readings = new Map<string, Reading>();

  constructor(options: SourceReaderOptions) {
    this.#options = options;
    this.#reads = new SharedReads(READS_AT_A_TIME, options.counter);
  }

  /** To be taken together with the state that a reading is compared with. */
  mark(): ReadMark {
    return this.#reads.mark();
  }

  /** What is known of this very version. */
  known(namespace: string, source: SourceId, resourceVersion: string): Reading | undefined {
    const reading = this.#readings.get(`${namespace}/${source}`);
    return reading?.resourceVersion === resourceVersion ? reading : undefined;
  }

  /**
   * The source as it is now, by a read that began after the mark; undefined: it is not there. One that was a moment ago
   * serves as well, as long as the watch knows of nothing newer: of hundreds of workloads, each is as old as it was then.
   */
  async read(namespace: string, source: SourceId, after: ReadMark, signal: AbortSignal): Promise<Reading | undefined> {
    const key = `${namespace}/${source}`;
    const recent = this.#recent.get(key);
    if (recent && recent.startedAt > after && this.#isOfNow(namespace, source, recent)) return recent.reading;
    return this.#reads.read(key, after, (startedAt) => this.#read(namespace, source, startedAt, signal));
  }

  #isOfNow(namespace: string, source: SourceId, { begunAt, reading }: Recent): boolean {
    const { clock, versionOf } = this.#options;
    return clock.monotonic() - begunAt < RECENT_MS && versionOf(namespace, source) === reading.resourceVersion;
  }

  async #read(
    namespace: string,
    source: SourceId,
    startedAt: ReadMark,
    signal: AbortSignal,
  ): Promise<Reading | undefined> {
    const { kube, clock } = this.#options;
    const { kind, name } = partsOf(source);
    const type = kind === "secret" ? secretType : configMapType;
    const begunAt = clock.monotonic();
    try {
      const object = await kube.get(type, { namespace, name }, { signal });
      const reading = this.#keep(namespace, source, object);
      putLatest(this.#recent, `${namespace}/${source}`, { startedAt, begunAt, reading }, MOST_RECENT);
      return reading;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#readings.delete(`${namespace}/${source}`);
      this.#recent.delete(`${namespace}/${source}`);
      return undefined;
    }
  }

  #keep(namespace: string, source: SourceId, object: KubeObject): Reading {
    const { clock, fingerprinter, reloader } = this.#options;
    const { resourceVersion = "", annotations } = object.metadata;
    const known = this.known(namespace, source, resourceVersion);
    if (known) return known;
    const reading: Reading = {
      resourceVersion,
      digests: digestsOf({ fingerprinter, namespace, source, data: dataOf(object) }),
      publishedAt: publishedAtOf(object, clock.now()),
      marks: sourceMarksOf(annotationsOf(annotations), { reloader }),
    };
    putLatest(this.#readings, `${namespace}/${source}`, reading, MOST_READINGS);
    return reading;
  }
}

/** Namespaces come and go, and so do sources: the oldest go when there are more than `most`. */
function putLatest<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
