import { NotFound } from "../../kube/errors.ts";
import type { ObjectMeta, OwnerReference, ResourceType } from "../../kube/objects.ts";
import type { ObjectReader } from "../../kube/port.ts";
import {
  cronJobType,
  daemonSetType,
  deploymentType,
  isOfKind,
  jobType,
  replicaSetType,
  statefulSetType,
} from "../../restart/workload-kinds.ts";
import { controllerOf } from "./restart-sources.ts";
import { workloadKey } from "./workload-key.ts";

/** Who makes a pod again. */
export type PodOwner =
  | { readonly kind: "workload"; readonly key: string }
  /** Nobody that we know of. */
  | { readonly kind: "unknown"; readonly owner: OwnerReference }
  /** It, or somebody on the way, is gone. */
  | { readonly kind: "gone" };

/** How many owners are remembered; the oldest are asked for again. */
const MOST_REMEMBERED = 20_000;

/**
 * Walks owner references from a pod to what makes it: through a ReplicaSet to its Deployment, through a Job to its
 * CronJob. Of what is between, metadata alone is read, once for each UID. Must not: read or write a pod.
 */
export class OwnerWalk {
  readonly #kube: ObjectReader;
  /** By the UID of a ReplicaSet or Job that somebody made; one that nobody did may still be taken over. */
  readonly #between = new Map<string, PodOwner>();

  constructor(kube: ObjectReader) {
    this.#kube = kube;
  }

  async ownerOf(pod: ObjectMeta, signal: AbortSignal): Promise<PodOwner> {
    const { namespace = "", name } = pod;
    const owner = controllerOf(pod);
    if (!owner) return { kind: "workload", key: workloadKey("Pod", namespace, name) };
    if (isOfKind(owner, statefulSetType) || isOfKind(owner, daemonSetType))
      return { kind: "workload", key: workloadKey(owner.kind, namespace, owner.name) };
    const between = [replicaSetType, jobType].find((type) => isOfKind(owner, type));
    return between ? this.#above(between, namespace, owner, signal) : { kind: "unknown", owner };
  }

  async #above(type: ResourceType, namespace: string, owner: OwnerReference, signal: AbortSignal): Promise<PodOwner> {
    const known = this.#between.get(owner.uid);
    if (known) return known;
    try {
      const { metadata } = await this.#kube.get(type, { namespace, name: owner.name }, { metadataOnly: true, signal });
      if (metadata.uid !== owner.uid) return { kind: "gone" };
      const top = controllerOf(metadata);
      const found = above(type, namespace, owner, top);
      if (top) this.#remember(owner.uid, found);
      return found;
    } catch (error) {
      if (error instanceof NotFound) return { kind: "gone" };
      throw error;
    }
  }

  #remember(uid: string, owner: PodOwner): void {
    this.#between.set(uid, owner);
    if (this.#between.size <= MOST_REMEMBERED) return;
    const oldest = this.#between.keys().next();
    if (!oldest.done) this.#between.delete(oldest.value);
  }
}

function above(
  type: ResourceType,
  namespace: string,
  between: OwnerReference,
  top: OwnerReference | undefined,
): PodOwner {
  if (type === replicaSetType && !top)
    return { kind: "workload", key: workloadKey("ReplicaSet", namespace, between.name) };
  const expected = type === replicaSetType ? deploymentType : cronJobType;
  if (top && isOfKind(top, expected)) return { kind: "workload", key: workloadKey(expected.kind, namespace, top.name) };
  return { kind: "unknown", owner: top ?? between };
}
