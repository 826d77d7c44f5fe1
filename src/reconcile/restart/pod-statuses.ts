import { NotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import { podStatusType, podType } from "../../restart/workload-kinds.ts";
import type { Outcome } from "../../runtime/workers.ts";
import type { OwnerWalk } from "./owner-walk.ts";
import type { RestartCaches } from "./restart-caches.ts";
import type { RestartReporter } from "./restart-reporter.ts";
import type { PodStatusRecord } from "./restart-sources.ts";
import { readWorkloadKey, workloadKey } from "./workload-key.ts";
import type { WorkloadReader, WorkloadRecord } from "./workload-record.ts";

export interface PodStatusesOptions {
  readonly kube: Kube;
  readonly caches: RestartCaches;
  readonly owners: OwnerWalk;
  readonly reader: WorkloadReader;
  readonly reporter: RestartReporter;
  readonly enqueue: (key: string) => void;
  /** Whether what is mounted differs from what a workload is known to run on. */
  readonly isNewsTo: (record: WorkloadRecord, status: PodStatusRecord) => boolean;
}

/** How many pods' owners are remembered. */
const MOST_REMEMBERED = 20_000;

/**
 * From what the Secrets Store says of a pod to the workload that makes the pod. Asked for only where some workload that
 * takes part uses the class and is not known to run on what is mounted. Must not: decide on a restart.
 */
export class PodStatuses {
  readonly #options: PodStatusesOptions;
  /** By the UID of a pod. */
  readonly #owners = new Map<string, string>();

  constructor(options: PodStatusesOptions) {
    this.#options = options;
  }

  /** The keys that a change of a pod status is worth looking at. */
  keysOf(delta: Delta<PodStatusRecord>): readonly string[] {
    if (delta.type === "deleted") return [];
    const { record, key } = delta.entry;
    if (delta.type === "updated" && delta.old.record.objects === record.objects) return [];
    if (!this.#isNews(record)) return [];
    const owner = record.podUid === undefined ? undefined : this.#owners.get(record.podUid);
    return [owner ?? `${podStatusType.kind}/${key}`];
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { kube, caches, owners, enqueue } = this.#options;
    const { namespace, name } = readWorkloadKey(key);
    const status = caches.podStatus(namespace, name);
    if (!status || !this.#isNews(status)) return { kind: "settled", isOver: true };
    let pod: KubeObject;
    try {
      pod = await kube.get(podType, { namespace, name: status.podName }, { metadataOnly: true, signal });
    } catch (error) {
      if (error instanceof NotFound) return { kind: "settled", isOver: true };
      throw error;
    }
    const owner = await owners.ownerOf(pod.metadata, signal);
    if (owner.kind === "workload") {
      this.#remember(pod.metadata.uid ?? "", owner.key);
      if (caches.record(owner.key)?.optIn.isIn) enqueue(owner.key);
    } else if (owner.kind === "unknown") this.#tellUnknown(pod, owner.owner, signal);
    return { kind: "settled" };
  }

  /** To a workload that takes part, or of a pod that does so by itself. */
  #isNews(status: PodStatusRecord): boolean {
    const { caches, isNewsTo } = this.#options;
    const { namespace, className, podName } = status;
    if (caches.bareMetadata(workloadKey(podType.kind, namespace, podName))) return true;
    return caches.usersOf(namespace, `class/${className}`).some((user) => {
      const known = caches.record(user);
      return known !== undefined && isNewsTo(known, status);
    });
  }

  /** A pod that has not asked for anything has nothing to complain about. */
  #tellUnknown(
    pod: KubeObject,
    { kind, name }: { readonly kind: string; readonly name: string },
    signal: AbortSignal,
  ): void {
    const { reader, reporter } = this.#options;
    if (reader.pod(pod)?.optIn.isIn !== true) return;
    reporter.unknownOwner({ type: podType, metadata: pod.metadata }, `${kind} ${name}`, signal);
  }

  #remember(podUid: string, owner: string): void {
    if (this.#owners.size >= MOST_REMEMBERED) this.#owners.clear();
    this.#owners.set(podUid, owner);
  }
}
