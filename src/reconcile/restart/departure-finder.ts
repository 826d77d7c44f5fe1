import type { ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { isOlder } from "../../kube/resource-version.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import type { Departed, Departure, SourceId, SourceState } from "../../restart/model.ts";
import { partsOf } from "../../restart/source-id.ts";
import { configMapType } from "../../restart/workload-kinds.ts";
import type { Departures } from "./departures.ts";
import { OneStore } from "./one-store.ts";
import type { Workload } from "./restart-caches.ts";

export interface DepartureFinderOptions {
  readonly kube: Pick<Kube, "list">;
  readonly fingerprinter: Fingerprinter;
  readonly departures: Departures;
}

type Sources = ReadonlyMap<SourceId, SourceState>;

const DIGEST_LENGTH = 22;

/**
 * Whether the pods of a workload are made from a template that is later than what has changed: then they start with it, and
 * somebody else's rollout does what a restart would. By what this process has seen, or one before it has written down. Must
 * not: say so where it is not certain.
 */
export class DepartureFinder {
  readonly #options: DepartureFinderOptions;
  readonly #store: OneStore;

  constructor(options: DepartureFinderOptions) {
    this.#options = options;
    this.#store = new OneStore(options.kube);
  }

  /** As far as it can be told without a request; "unasked" where only one would tell. */
  known(workload: Workload, sources: Sources): Departed | "unasked" | undefined {
    const departed = this.#departed(workload);
    const types = departed ? typesAt(departed, workload, sources) : [];
    const answers = types.map((type) => this.#store.known(type, typeOf(workload)));
    if (answers.length === 0 || answers.includes(false)) return undefined;
    return answers.includes(undefined) ? "unasked" : departed;
  }

  async find(workload: Workload, sources: Sources, signal: AbortSignal): Promise<Departed | undefined> {
    const departed = this.#departed(workload);
    const types = departed ? typesAt(departed, workload, sources) : [];
    if (types.length === 0) return undefined;
    for (const type of types) if (!(await this.#store.holds(type, typeOf(workload), signal))) return undefined;
    return departed;
  }

  #departed(workload: Workload): Departed | undefined {
    const { metadata, record } = workload;
    const { template: sight } = record;
    const departure = this.#departureOf(workload);
    // Who has marked it waits for our own words on the pod template.
    if (!sight || !departure || record.optIn.markedFor) return undefined;
    const isReadable = this.#options.fingerprinter.isComparable(departure.template);
    // Pods from before are the right ones by the template that came back.
    if (!isReadable || this.#keyed(metadata.uid, sight.digest) === departure.template) return undefined;
    const isRolledOut = sight.revision === undefined || sight.revision !== departure.revision;
    return { departure, areAll: sight.isWhole && isRolledOut };
  }

  #departureOf({ key, metadata, record }: Workload): Departure | undefined {
    const seen = this.#options.departures.of(key, metadata.uid);
    if (!seen) return record.state?.departure;
    const { template, revision, version } = seen;
    return { template: this.#keyed(seen.uid, template), ...(revision !== undefined && { revision }), version };
  }

  #keyed(uid: string | undefined, digest: string): string {
    const { fingerprinter } = this.#options;
    return `${fingerprinter.keyId}.${fingerprinter.ofParts(["template", uid ?? "", digest]).slice(0, DIGEST_LENGTH)}`;
  }
}

const TYPES: Readonly<Record<string, ResourceType>> = { secret: secretType, configmap: configMapType };

/** Of the sources that were written since they were last looked at, and before the template was left. */
function typesAt({ departure }: Departed, { record }: Workload, sources: Sources): readonly ResourceType[] {
  const written = [...sources].filter(([source, { version }]) => {
    const isWritten = version !== undefined && version !== record.state?.sources.get(source)?.version;
    return isWritten && isOlder(version, departure.version);
  });
  return [...new Set(written.flatMap(([source]) => TYPES[partsOf(source).kind] ?? []))];
}

function typeOf({ kind, key }: Workload): ResourceType {
  if (!kind) throw new TypeError(`${key} has no pod template`);
  return kind.type;
}
