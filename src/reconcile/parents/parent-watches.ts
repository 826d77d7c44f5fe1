import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { Watch } from "../../runtime/controller.ts";
import type { ManagedKind } from "../managed/managed-kind.ts";
import { type CredentialRecord, credentialRecord, isWish, recordsOf } from "../managed/managed-watches.ts";
import { readMarks } from "./child-marks.ts";
import type { WatchedChildren } from "./parent-family.ts";

/** What is kept of a child: whom it concerns, and where its Secret is. */
export interface ChildRecord {
  /** Keys of the parents that it names, by its marks and by its owner references: mostly the same one. */
  readonly parents: readonly string[];
  readonly secret: SecretAddress | undefined;
}

export const parentWatch = (kind: ManagedKind): Watch<CredentialRecord> => ({
  source: { type: kind.type, record: (object) => credentialRecord(kind, object) },
  keysOf: ({ key }) => [key],
  isWish,
});

export const childWatch = (kind: ManagedKind, children: WatchedChildren): Watch<ChildRecord> => ({
  source: {
    type: children.type,
    record: (child) => ({ parents: parentsOf(kind, child), secret: children.secretOf(child) }),
    indexes: {
      parent: ({ parents }) => parents,
      secret: ({ secret }) => (secret ? [keyOf(secret)] : []),
    },
  },
  keysOf: concerned,
});

const concerned = (delta: Delta<ChildRecord>): readonly string[] => [
  ...new Set(recordsOf(delta).flatMap(({ parents }) => parents)),
];

function parentsOf({ type }: ManagedKind, { metadata }: KubeObject): readonly string[] {
  const { ownerReferences = [], namespace } = metadata;
  const owners = ownerReferences.filter(({ kind }) => kind === type.kind).map(({ name }) => name);
  const marks = readMarks(metadata);
  const names = marks?.ownerKind === type.kind ? [...owners, marks.ownerName] : owners;
  const keys = names.map((name) => (type.namespaced && namespace !== undefined ? keyOf({ namespace, name }) : name));
  return [...new Set(keys)];
}
