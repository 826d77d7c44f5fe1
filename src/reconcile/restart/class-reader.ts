import type { Clock } from "../../base/clock.ts";
import { NotServed } from "../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import type { SourceId, SourceState } from "../../restart/model.ts";
import { classState } from "../../restart/pod-staleness.ts";
import { usesOf } from "../../restart/pod-uses.ts";
import { podStatusType, podType, templateOfPod } from "../../restart/workload-kinds.ts";
import type { OwnerWalk } from "./owner-walk.ts";
import type { Workload } from "./restart-caches.ts";
import { type ReadMark, SharedReads } from "./shared-reads.ts";

export interface ClassReaderOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly fingerprinter: Fingerprinter;
  readonly owners: OwnerWalk;
}

/** The pods of a namespace in which the Secrets Store has mounted something, and what it says of them. */
interface Mounts {
  readonly pods: readonly KubeObject[];
  readonly statuses: readonly KubeObject[];
}

const PAGE = 500;
const READS_AT_A_TIME = 4;

/** Finds out, live, what the pods of a workload have mounted of a class. */
export class ClassReader {
  readonly #options: ClassReaderOptions;
  readonly #reads = new SharedReads<Mounts>(READS_AT_A_TIME);

  constructor(options: ClassReaderOptions) {
    this.#options = options;
  }

  mark(): ReadMark {
    return this.#reads.mark();
  }

  /** By reads that began after the mark. */
  async states(
    workload: Workload,
    classes: readonly SourceId[],
    after: ReadMark,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<SourceId, SourceState>> {
    const { fingerprinter, clock } = this.#options;
    const { namespace, optIn, templateDigests } = workload.record;
    if (classes.length === 0) return new Map();
    const { pods, statuses } = await this.#reads.read(namespace, after, () => this.#mounts(namespace, signal));
    const own = await this.#ownPods(workload, pods, signal);
    const common = { fingerprinter, namespace, pods: own, statuses, prefix: optIn.prefix, templateDigests };
    return new Map(classes.map((source) => [source, classState({ ...common, source, now: clock.now() })]));
  }

  async #ownPods({ key }: Workload, pods: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]> {
    const own: KubeObject[] = [];
    for (const pod of pods) {
      const owner = await this.#options.owners.ownerOf(pod.metadata, signal);
      if (owner.kind === "workload" && owner.key === key) own.push(pod);
    }
    return own;
  }

  async #mounts(namespace: string, signal: AbortSignal): Promise<Mounts> {
    const statuses = await this.#list(podStatusType, namespace, () => true, signal);
    const pods = await this.#list(podType, namespace, usesClass, signal);
    return { pods, statuses };
  }

  async #list(
    type: ResourceType,
    namespace: string,
    keeps: (object: KubeObject) => boolean,
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    let token: string | undefined;
    try {
      do {
        const page = await this.#options.kube.list(type, {
          namespace,
          limit: PAGE,
          signal,
          ...(token !== undefined && { continue: token }),
        });
        found.push(...page.items.filter(keeps));
        token = page.continue;
      } while (token);
    } catch (error) {
      // Without the driver nothing is mounted.
      if (!(error instanceof NotServed)) throw error;
    }
    return found;
  }
}

const usesClass = (pod: KubeObject): boolean =>
  usesOf(templateOfPod(pod).spec).some(({ source }) => source.startsWith("class/"));
