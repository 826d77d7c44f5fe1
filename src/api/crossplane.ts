import type { Column } from "./custom-resource.ts";
import type { Rule } from "./duration-rules.ts";
import {
  anything,
  instant,
  integer,
  list,
  namespaceName,
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

/** One of the fields that say which object outside is meant must be there. */
export const oneIsRequired = (what: string, fields: readonly [string, string, string], unless = ""): Rule => {
  const [id, ref, selector] = fields;
  return {
    rule: `${unless}${fields.map((field) => `has(self.${field})`).join(" || ")}`,
    message: `say which ${what}: ${id}, ${ref} or ${selector}`,
    reason: "FieldValueRequired",
    fieldPath: `.${id}`,
  };
};

export const secretKeyReference = (description: string): SchemaNode =>
  object(
    {
      name: objectName("Name of the Secret."),
      namespace: namespaceName("Namespace of the Secret."),
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
    { name: objectName("Name of the Secret."), namespace: namespaceName("Namespace of the Secret.") },
    { required: ["name", "namespace"], description: "The Secret that always holds the active key." },
  ),
  publishConnectionDetailsTo: anything(
    "Taken so that manifests of the Crossplane providers apply, and ignored: external secret stores are gone from Crossplane itself. Use writeConnectionSecretToRef.",
  ),
};

/**
 * The active key's columns that every managed kind shows, between its conditions and its age. A path finds one field: where
 * the frequency may be called an interval as well, that is a column of its own.
 */
export const managedColumns = (
  rotationPath: string,
  { hasInterval = false }: { readonly hasInterval?: boolean } = {},
): readonly Column[] => [
  { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
  { name: "Synced", type: "string", jsonPath: ".status.conditions[?(@.type=='Synced')].status" },
  { name: "External-Name", type: "string", jsonPath: ".metadata.annotations.crossplane\\.io/external-name" },
  { name: "Frequency", type: "string", jsonPath: `${rotationPath}.frequency` },
  ...(hasInterval ? [{ name: "Interval", type: "string", jsonPath: `${rotationPath}.interval` } as const] : []),
  { name: "Next-Rotation", type: "string", jsonPath: ".status.nextRotation" },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

interface KeyNames {
  /** The system whose keys these are, as messages call it. */
  readonly system: string;
  readonly id: string;
  readonly createdAt: string;
  readonly retiredAt: string;
}

/** How a status tells of keys; what differs is what kinds call their fields. */
export function keyFields({ system, id, createdAt, retiredAt }: KeyNames): {
  readonly active: Readonly<Record<string, SchemaNode>>;
  readonly pending: SchemaNode;
  readonly retiredKeys: SchemaNode;
} {
  const key = {
    [id]: text(`${id === "guid" ? "GUID" : "ID"} at ${system}.`),
    name: text(`Name at ${system}.`),
    [createdAt]: instant("When it was created."),
  };
  const sequence = integer("Which of the intended keys it is.");
  return {
    active: { ...key, sequence, madeFrom: text("A keyed digest of what it was made from.") },
    pending: object(
      {
        name: text("Name of the key that is to come."),
        sequence,
        since: instant("When it was intended."),
        [id]: text(`Its ${id === "guid" ? "GUID" : "ID"}, where that is known already.`),
        madeFrom: text("A keyed digest of what it is made from."),
        reason: text("Why it was intended, in one CamelCase word."),
        fulfils: text("The value of the force annotation that it fulfils."),
      },
      { description: "The key that is being made." },
    ),
    retiredKeys: list(
      object({
        ...key,
        [retiredAt]: instant("When it was retired."),
        replacedDate: instant("When the Secret stopped holding it."),
        deletionDate: instant("When it will be deleted."),
        overlap: text("How long it was promised to live on beside its successor."),
        cause: text("Why it was retired."),
        heldFor: text("Who has not moved on from it, though its deletionDate has passed (revoke: AfterConsumers)."),
      }),
      "Keys that are no longer published and live until their deletionDate, or longer while heldFor says for whom.",
    ),
  };
}

/** No list of words here: no status is refused for what it tells of the past. */
const history = list(
  object({
    keyId: text("ID of the key that was to be the next one."),
    reason: text("Why it was intended, in one CamelCase word, such as RotationDue."),
    startedAt: instant("Since when a next key was wanted."),
    endedAt: instant("When this came of it."),
    outcome: text(
      "Succeeded: it became the active key. Abandoned: it was given up for another one. Ineffective: it had the credentials of the old key, which stayed.",
    ),
  }),
  "What became of the last ten keys that were intended, the latest first.",
);

/** What stands in every status beside the keys. */
export const rotationProgress: Readonly<Record<string, SchemaNode>> = {
  observedGeneration: integer("The generation of the spec that all of this was said of."),
  sequence: integer("Counts the keys that were ever intended."),
  lastForced: text("The last value of the force annotation that was fulfilled."),
  postponedUntil: instant("A rotation that changed nothing is not tried again before this."),
  nextRotation: instant(
    "When the next rotation begins if nobody holds it back: the active key is as old as the frequency says, and a window is open. Absent while a key is being made, and without a policy.",
  ),
  history,
};

/** In the status of what is made outside by itself, and not by children. */
export const keptProviderConfig: SchemaNode = text(
  "The ProviderConfig that its keys were made with. While there are any, no other one can be named.",
);

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
