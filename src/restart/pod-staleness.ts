import { parseInstant } from "../base/instant.ts";
import type { KubeObject } from "../kube/objects.ts";
import { recordOf, recordsIn } from "../kube/record.ts";
import { digestsAnnotation } from "./annotations.ts";
import type { SourceState } from "./model.ts";
import { classDigest, type DigestScope, type MountedObject, statusWrittenAt } from "./source-digests.ts";
import { partsOf } from "./source-id.ts";

/**
 * What a SecretProviderClass is for a workload: the class itself does not say, only what the driver has mounted into the
 * pods. A pod whose pod status was written after its containers started runs on something else than what is mounted
 * now; one that started later does not. Must not: take a pod of an older template for a reason to restart.
 */
export interface ClassSituation extends DigestScope {
  /** The workload's pods, whole. */
  readonly pods: readonly KubeObject[];
  /** Pod statuses of the namespace; those of other classes and other pods are passed over. */
  readonly statuses: readonly KubeObject[];
  readonly prefix: string;
  /** `<prefix>/digests` of the pod template. */
  readonly templateDigests: string | undefined;
  readonly now: number;
}

/** What one pod has mounted. */
interface Mounted {
  readonly digest: string;
  readonly writtenAt: number;
  /** Its containers started with something older. */
  readonly isStale: boolean;
}

export function classState(situation: ClassSituation): SourceState {
  const { prefix, templateDigests, now } = situation;
  const current = situation.pods.filter(
    (pod) => isLive(pod) && pod.metadata.annotations?.[digestsAnnotation(prefix)] === templateDigests,
  );
  const mounted = current.flatMap((pod) => mountedBy(pod, situation)).sort(newestFirst);
  const [stale] = mounted.filter(({ isStale }) => isStale);
  if (stale !== undefined) return sourceState(stale, now);
  const [newest, ...others] = mounted;
  // Pods that do not agree are in the middle of something: the driver, or their next restart, brings them together.
  if (newest === undefined || others.some(({ digest }) => digest !== newest.digest)) return NOBODY_TELLS;
  return { ...sourceState(newest, now), isRunning: true };
}

const NOBODY_TELLS: SourceState = { digest: undefined, publishedAt: 0, isOptional: false };

const sourceState = ({ digest, writtenAt }: Mounted, now: number): SourceState => ({
  digest,
  publishedAt: Math.min(writtenAt, now),
  isOptional: false,
});

/** Of those written in the same second, always the same one. */
const newestFirst = (a: Mounted, b: Mounted): number => b.writtenAt - a.writtenAt || (a.digest < b.digest ? -1 : 1);

const isLive = (pod: KubeObject): boolean => {
  const { phase } = recordOf(pod.status);
  return pod.metadata.deletionTimestamp === undefined && phase !== "Succeeded" && phase !== "Failed";
};

function mountedBy(pod: KubeObject, { statuses, ...scope }: ClassSituation): readonly Mounted[] {
  const mount = mountOf(pod, statuses, partsOf(scope.source).name);
  if (mount === undefined) return [];
  const { status, writtenAt, isStale } = mount;
  return [{ digest: classDigest({ ...scope, objects: objectsOf(status) }), writtenAt, isStale }];
}

/** What is mounted of a class in a pod that has started, and whether the pod started with something older. */
export function mountOf(
  pod: KubeObject,
  statuses: readonly KubeObject[],
  className: string,
): (Omit<Mounted, "digest"> & { readonly status: KubeObject }) | undefined {
  const startedAt = oldestStartOf(pod);
  const status = statuses.find((candidate) => isOf(candidate, pod, className));
  const writtenAt = status === undefined ? undefined : statusWrittenAt(status);
  if (status === undefined || startedAt === undefined || writtenAt === undefined) return undefined;
  return { status, writtenAt, isStale: writtenAt > startedAt };
}

/** By uid: the pods of a StatefulSet come again under their names, and what was mounted into the former may linger. */
function isOf(status: KubeObject, pod: KubeObject, className: string): boolean {
  const { podName, secretProviderClassName } = recordOf(status.status);
  const { name, namespace, uid } = pod.metadata;
  return (
    secretProviderClassName === className &&
    podName === name &&
    status.metadata.namespace === namespace &&
    (status.metadata.ownerReferences ?? []).every((owner) => owner.kind !== "Pod" || owner.uid === uid)
  );
}

const objectsOf = (status: KubeObject): readonly MountedObject[] =>
  recordsIn(recordOf(status.status).objects).flatMap(({ id, version }) =>
    typeof id === "string" && typeof version === "string" ? [{ id, version }] : [],
  );

/** Undefined while no container runs. Before that, init containers run that may be over when the others start. */
export function oldestStartOf(pod: KubeObject): number | undefined {
  const { containerStatuses, initContainerStatuses } = recordOf(pod.status);
  const started = startsIn(containerStatuses);
  return started.length === 0 ? undefined : Math.min(...started, ...startsIn(initContainerStatuses));
}

const startsIn = (statuses: unknown): readonly number[] =>
  recordsIn(statuses).flatMap(({ state }) => parseInstant(recordOf(recordOf(state).running).startedAt) ?? []);
