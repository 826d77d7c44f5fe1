import { KubeError } from "../../kube/errors.ts";
import type { Kube } from "../../kube/port.ts";
import { parentOf } from "./children.ts";
import { type ManagedResource, managedResource } from "./managed-resource.ts";

/** The resource that this one is a key of; undefined where it is nobody's, or whoever asks may not see whose it is. */
export async function lookAtParent(kube: Kube, resource: ManagedResource): Promise<ManagedResource | undefined> {
  const parent = parentOf(resource);
  if (!parent) return undefined;
  try {
    const { name, namespace } = parent;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    return managedResource(parent.kind, await kube.get(parent.kind.type, ref));
  } catch (error) {
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
