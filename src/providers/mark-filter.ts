import type { MarkFilter, Marks } from "./contract.ts";

/** Whether marks are of the cluster and, where one is named, of the owner: by UID, or by kind and name whatever the UID. */
export function matchesFilter(marks: Marks | undefined, filter: MarkFilter): boolean {
  if (!marks || marks.clusterId !== filter.clusterId) return false;
  const { owner } = filter;
  if (!owner || marks.ownerUid === owner.uid) return true;
  return marks.ownerKind === owner.kind && marks.ownerName === owner.name && marks.ownerNamespace === owner.namespace;
}
