import { parseInstant } from "../../base/instant.ts";
import { type ManagedResource, retiredKeys } from "../resources/managed-resource.ts";
import type { Problem } from "../resources/problems.ts";
import type { Consumer } from "./consumer.ts";
import { SKEW_MS, wasPublishedAt } from "./left-behind.ts";

type KeyUser = Pick<Consumer, "notWaitedFor" | "olderPodsAt"> & {
  readonly workload: Pick<Consumer["workload"], "kindName" | "namespace" | "name">;
};

/**
 * Who runs on a key that is no more, because a hold has ended or nobody waited. Nothing remembers keys that are gone: a pod
 * runs on one that was published when it started, and where none of those that are there was, it was deleted since.
 * Only those who have opted in are told of: others may read their files again without a restart.
 */
export function deletedKeyProblems(resource: ManagedResource, consumers: readonly KeyUser[]): readonly Problem[] {
  return consumers.flatMap(({ workload, notWaitedFor, olderPodsAt }) => {
    const pods = notWaitedFor === undefined ? olderPodsAt.filter((at) => isOnDeletedKey(resource, at)).length : 0;
    if (pods === 0) return [];
    const { kindName, namespace, name } = workload;
    const message = `${kindName} ${namespace}/${name} runs on a key that was deleted (${pods} ${pods === 1 ? "pod" : "pods"})`;
    return [{ reason: "RunsOnDeletedKey", message, since: undefined }];
  });
}

function isOnDeletedKey({ object, state }: ManagedResource, podAt: number): boolean {
  const { active } = state;
  // What a Secret held before there was a resource to fill it was no key of its.
  const resourceAt = parseInstant(object.metadata.creationTimestamp) ?? Number.POSITIVE_INFINITY;
  if (!active || podAt < resourceAt || podAt >= active.createdAt - SKEW_MS) return false;
  return !retiredKeys(state).some((key) => wasPublishedAt(key, podAt));
}
