import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { ManagedResource } from "./managed-resource.ts";

export interface AnnotateOptions {
  readonly fieldManager: string;
  /** Nobody may have written since it was read: else `Conflict`. */
  readonly isExact?: boolean;
}

/** Sets one annotation, or removes it with null; all else stays as it is, whoever writes meanwhile. */
export function annotate(
  kube: Kube,
  { kind, object }: ManagedResource,
  annotation: Readonly<Record<string, string | null>>,
  { fieldManager, isExact = false }: AnnotateOptions,
): Promise<KubeObject> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  // The UID makes sure that it is still the same resource, and not another one of its name.
  const body = { metadata: { uid, ...(isExact && { resourceVersion }), annotations: annotation } };
  return kube.patch(kind.type, ref, { type: "merge", body }, { fieldManager });
}
