import type { KubeObject, OwnerReference } from "./objects.ts";

/** The reference by which an object is the one that another was made for, and takes it along when it goes. */
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
