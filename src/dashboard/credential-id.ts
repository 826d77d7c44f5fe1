import { isNamespaceName, isObjectName } from "../base/object-names.ts";
import { keyOf, type ObjectRef } from "../kube/objects.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { BadQuestion } from "./refusals.ts";
import type { CredentialId } from "./wire.ts";

/** What a `CredentialId` stands for. */
export interface Credential {
  readonly kind: ManagedKind;
  readonly ref: ObjectRef;
}

export const idOf = ({ type }: Pick<ManagedKind, "type">, ref: ObjectRef): CredentialId =>
  [type.kind, keyOf(ref)].join("/");

/** Undefined of what cannot be one. */
export function findCredential(id: string): Credential | undefined {
  const [kindName, ...words] = id.split("/");
  const kind = managedKinds.find(({ type }) => type.kind === kindName);
  if (!kind || words.length !== (kind.type.namespaced ? 2 : 1)) return undefined;
  const [name = "", namespace] = words.reverse();
  if (!isObjectName(name) || !isNamespaceName(namespace ?? "x")) return undefined;
  return { kind, ref: { name, ...(namespace !== undefined && { namespace }) } };
}

/** The same for an id that somebody sent. */
export function readCredential(id: unknown): Credential {
  const found = typeof id === "string" ? findCredential(id) : undefined;
  if (!found) throw new BadQuestion(400, "id must be KIND/NAME or KIND/NAMESPACE/NAME of a kind that Keyturn rotates");
  return found;
}
