import type { SeenKey } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { MarkFilter, Marks, OutsideKey } from "../../providers/contract.ts";
import type { ManagedKind } from "./managed-kind.ts";

export type Owner = NonNullable<MarkFilter["owner"]>;

export function ownerOf(kind: ManagedKind, { metadata }: KubeObject): Owner {
  const { uid = "", name, namespace } = metadata;
  return { uid, kind: kind.type.kind, name, ...(namespace !== undefined && { namespace }) };
}

export function marksOf(owner: Owner, clusterId: string, sequence: number): Marks {
  const { uid, kind, name, namespace } = owner;
  return {
    clusterId,
    ownerUid: uid,
    ownerKind: kind,
    ownerName: name,
    ...(namespace !== undefined && { ownerNamespace: namespace }),
    sequence,
  };
}

/**
 * A key outside as the engine sees it. Ours is what bears our UID, or our kind and name under another one: the object of
 * that name is this one, so the other UID is no more (a restored backup changes it).
 */
export function seenKey(
  key: OutsideKey,
  { clusterId, owner }: { readonly clusterId: string; readonly owner: Owner },
): SeenKey {
  const { marks, id, name, createdAt, state, illSince, isHindered, leavingSince, isHalfDeleted } = key;
  const isOurs =
    marks?.clusterId === clusterId &&
    marks.ownerKind === owner.kind &&
    (marks.ownerUid === owner.uid || (marks.ownerName === owner.name && marks.ownerNamespace === owner.namespace));
  const sequence = isOurs ? marks.sequence : undefined;
  return { id, name, createdAt, state, sequence, illSince, isHindered, leavingSince, isHalfDeleted };
}
