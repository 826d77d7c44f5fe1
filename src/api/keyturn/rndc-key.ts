import { RNDC_ALGORITHMS, STRATEGIES } from "../bind/names.ts";
import { conditions, keyFields, managedColumns, rotationProgress } from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { rotation } from "../rotation.ts";
import { duration, list, object, objectName, oneOf, type SchemaNode, text, textMap } from "../schema.ts";

const MAX_INSTANCES = 200;
const WEEK_MS = 7 * 86_400_000;

const fixed = (node: SchemaNode): SchemaNode => ({
  ...node,
  "x-kubernetes-validations": [
    { rule: "self == oldSelf", message: "cannot be changed: delete the resource and make another one" },
  ],
});

const secret = object(
  {
    name: fixed(objectName("Name of the Secret of this namespace that always holds the active key.")),
    labels: textMap("Labels that it has beside ours."),
    annotations: textMap("Annotations that it has beside ours."),
  },
  {
    required: ["name"],
    description: "Where the key is published; what named reads stands in another one, <name>-ring.",
  },
);

const keys = keyFields({ system: "named", id: "id", createdAt: "createdAt", retiredAt: "retiredAt" });

/** One key of the named servers of one instance, or of all instances that share it. */
export const rndcKey: CustomResource = {
  group: "keyturn.dev",
  version: "v1alpha1",
  kind: "RndcKey",
  plural: "rndckeys",
  shortNames: ["rk"],
  namespaced: true,
  categories: ["keyturn", "managed", "bind9"],
  columns: managedColumns(".spec.rotation"),
  spec: object(
    {
      secret,
      keyName: text("What keys are called; with strategy Overlap each adds a suffix of its own.", {
        minLength: 1,
        maxLength: 200,
        pattern: "^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$",
      }),
      algorithm: oneOf("The HMAC of keys that are generated.", RNDC_ALGORITHMS, { default: "hmac-sha256" }),
      strategy: oneOf(
        "Overlap: both keys are accepted for a while. Restart: one key, and the pods are restarted.",
        STRATEGIES,
      ),
      rotation,
      lead: duration(
        "How much earlier a key is replaced that was not made because one was due, so that those that were made together are not replaced at once.",
        { minMs: 1, maxMs: WEEK_MS * MAX_INSTANCES, message: "must be at most 1400d" },
      ),
      instances: list(
        objectName("Name of a Bind9Instance."),
        "The Bind9Instances of this namespace that use the key.",
        {
          minItems: 1,
          maxItems: MAX_INSTANCES,
          "x-kubernetes-list-type": "set",
        },
      ),
      initialKey: object(
        { name: objectName("Name of a Secret of this namespace.") },
        { required: ["name"], description: "The Secret that holds the first key, and what else is to be published." },
      ),
      deletionPolicy: oneOf("What happens to the key when this object is deleted.", ["Orphan", "Delete"], {
        default: "Delete",
      }),
    },
    { required: ["secret", "keyName", "strategy", "instances"] },
  ),
  status: object({
    atProvider: object(keys.active, { description: "The active key." }),
    pending: keys.pending,
    retiredKeys: keys.retiredKeys,
    ...rotationProgress,
    conditions,
  }),
};
