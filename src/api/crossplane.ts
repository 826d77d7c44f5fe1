import {
  anything,
  instant,
  integer,
  list,
  object,
  objectName,
  oneOf,
  type SchemaNode,
  text,
  textMap,
} from "./schema.ts";

/** The fields that every managed resource of the Crossplane providers shares, so that their manifests apply unchanged. */
const policy = object(
  {
    resolution: oneOf("Whether a reference that cannot be resolved is an error.", ["Required", "Optional"], {
      default: "Required",
    }),
    resolve: oneOf("Resolve once, or on every reconcile.", ["Always", "IfNotPresent"]),
  },
  { description: "How the reference is resolved." },
);

export const reference = (description: string): SchemaNode =>
  object({ name: objectName("Name of the referenced object."), policy }, { required: ["name"], description });

export const selector = (description: string): SchemaNode =>
  object(
    {
      matchControllerRef: { type: "boolean", description: "Only objects with the same controller." },
      matchLabels: textMap("Labels the object must have."),
      policy,
    },
    { description },
  );

export const secretKeyReference = (description: string): SchemaNode =>
  object(
    {
      name: objectName("Name of the Secret."),
      namespace: objectName("Namespace of the Secret."),
      key: text("Key within the Secret.", { minLength: 1, maxLength: 253 }),
    },
    { required: ["name", "namespace", "key"], description },
  );

export const managedResourceSpec: Readonly<Record<string, SchemaNode>> = {
  deletionPolicy: oneOf("What happens outside when this object is deleted.", ["Orphan", "Delete"], {
    default: "Delete",
  }),
  managementPolicies: list(
    { type: "string", enum: ["Observe", "Create", "Update", "Delete", "LateInitialize", "*"] },
    "Which actions Keyturn may take outside.",
    { default: ["*"] },
  ),
  providerConfigRef: object(
    { name: objectName("Name of the ProviderConfig."), policy },
    { required: ["name"], default: { name: "default" }, description: "How to reach the external system." },
  ),
  writeConnectionSecretToRef: object(
    { name: objectName("Name of the Secret."), namespace: objectName("Namespace of the Secret.") },
    { required: ["name", "namespace"], description: "The Secret that always holds the active key." },
  ),
  publishConnectionDetailsTo: anything(
    "Taken so that manifests of the Crossplane providers apply, and ignored: external secret stores are gone from Crossplane itself. Use writeConnectionSecretToRef.",
  ),
};

export const conditions: SchemaNode = list(
  object(
    {
      type: text("Type of the condition."),
      status: oneOf("Whether it holds.", ["True", "False", "Unknown"]),
      reason: text("Why, in one CamelCase word."),
      message: text("Why, in a sentence."),
      lastTransitionTime: instant("When the status last changed."),
      observedGeneration: integer("The generation this was said of."),
    },
    { required: ["type", "status", "reason", "lastTransitionTime"] },
  ),
  "What is known of the resource.",
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
);
