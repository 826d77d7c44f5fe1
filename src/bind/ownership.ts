import { BINDY, MANAGED_BY } from "../api/bind/names.ts";
import type { KubeObject, OwnerReference } from "../kube/objects.ts";

/** What stands on everything that is made for another object. */
export const MADE_BY_US = { [MANAGED_BY]: BINDY } as const;

export const ownerReference = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true,
});

export const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  owner.metadata.uid !== undefined &&
  (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller === true && uid === owner.metadata.uid);
