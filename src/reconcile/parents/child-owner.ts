import type { ObjectMeta, OwnerReference } from "../../kube/objects.ts";

/** Owner references of children and their Secrets. Pure. */
export const isOwnedBy = ({ ownerReferences = [] }: ObjectMeta, { uid }: Pick<OwnerReference, "uid">): boolean =>
  ownerReferences.some((one) => one.uid === uid);

/** Under another UID it is the same owner as it was before it was restored: there is one object of that name. */
const isSame = (one: OwnerReference, { uid, kind, name, apiVersion }: OwnerReference): boolean =>
  one.uid === uid || (one.kind === kind && one.name === name && groupOf(one) === apiVersion.split("/")[0]);

const groupOf = ({ apiVersion }: OwnerReference): string | undefined => apiVersion.split("/")[0];

export const withoutOwner = ({ ownerReferences = [] }: ObjectMeta, owner: OwnerReference): readonly OwnerReference[] =>
  ownerReferences.filter((one) => !isSame(one, owner));

export const addOwner = (metadata: ObjectMeta, owner: OwnerReference): readonly OwnerReference[] => [
  ...withoutOwner(metadata, owner),
  owner,
];

/** An object has one controller at most. */
export const hasOtherController = (metadata: ObjectMeta, owner: OwnerReference): boolean =>
  withoutOwner(metadata, owner).some(({ controller }) => controller === true);
