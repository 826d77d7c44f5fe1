import { keyOf, type ObjectRef } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { fieldsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { readMarks } from "../../reconcile/parents/child-marks.ts";
import type { ManagedResource } from "./managed-resource.ts";

/** The resource that another one is a key of: it makes it, copies from it, and deletes it when its time is over. */
export interface Parent extends ObjectRef {
  readonly kind: ManagedKind;
}

/** What the keys of a resource are, where they are resources themselves: a kind. */
export function childKindOf({ kind, object }: Pick<ManagedResource, "kind" | "object">): string | undefined {
  return kind.childKindOf?.(object) ?? textOf(fieldsOf(fieldsOf(object.spec).template).kind);
}

/** By its owner reference, or by its marks, which say the same of a parent that was restored from a backup. */
export function parentOf({ object }: Pick<ManagedResource, "object">): Parent | undefined {
  const { namespace, ownerReferences = [] } = object.metadata;
  for (const { apiVersion, kind: name, name: ownerName } of ownerReferences) {
    const kind = managedKinds.find(({ type }) => type.kind === name && type.group === apiVersion.split("/")[0]);
    if (kind) return { kind, name: ownerName, ...(kind.type.namespaced && namespace !== undefined && { namespace }) };
  }
  const marks = readMarks(object.metadata);
  const kind = marks && managedKinds.find(({ type }) => type.kind === marks.ownerKind);
  if (!kind) return undefined;
  return {
    kind,
    name: marks.ownerName,
    ...(marks.ownerNamespace !== undefined && { namespace: marks.ownerNamespace }),
  };
}

/** `rotatingcredentialbinding/orders` */
export const parentName = (parent: Parent): string => `${parent.kind.type.kind.toLowerCase()}/${keyOf(parent)}`;

/** `rotatingcredentialbinding orders`: as it is given to a command. */
export const parentWords = (parent: Parent): string => `${parent.kind.type.kind.toLowerCase()} ${keyOf(parent)}`;
