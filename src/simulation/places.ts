import { keyOf, type ObjectRef, type ResourceType } from "../kube/objects.ts";
import { SECRET } from "./scene.ts";

/** Everything that is in a namespace is in the same one here. */
export const refOf = ({ namespaced }: Pick<ResourceType, "namespaced">, name: string): ObjectRef =>
  namespaced ? { namespace: SECRET.namespace, name } : { name };

/** A kind and where the object is: as calls name what they are about, and the world what it reconciles. */
export const targetOf = (type: ResourceType, name: string): string => `${type.kind} ${keyOf(refOf(type, name))}`;

/** The name in such a place. */
export const nameIn = (address: string): string => address.slice(address.lastIndexOf("/") + 1);
