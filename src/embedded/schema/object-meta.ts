/** The fields of `metadata` that the API server knows; everything else in it is an unknown field. */
export const OBJECT_META_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
]);

/** What every resource has besides its own fields. */
export const META_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
