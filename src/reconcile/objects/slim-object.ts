import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";

/** As an object is kept that is kept whole: without who wrote which field, and without what nobody here reads. */
export function slim(object: KubeObject): KubeObject {
  const { metadata, status, ...fields } = object;
  return { ...fields, metadata: slimMetadata(metadata), ...(status !== undefined && { status }) };
}

function slimMetadata({ managedFields: _, creationTimestamp: __, ...metadata }: ObjectMeta): ObjectMeta {
  return metadata;
}
