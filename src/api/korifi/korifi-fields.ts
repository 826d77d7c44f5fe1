import { NAME_PATTERN } from "../../base/object-names.ts";
import { conditions } from "../crossplane.ts";
import type { Column } from "../custom-resource.ts";
import { integer, object, objectName, oneOf, type SchemaNode, text } from "../schema.ts";
import { KORIFI_GROUP, KORIFI_VERSION } from "./names.ts";

/** What the kinds of Korifi share. */
export const korifiKind = {
  group: KORIFI_GROUP,
  version: KORIFI_VERSION,
  categories: ["keyturn", "korifi"],
  namespaced: true,
} as const;

/** Korifi writes an empty text where it means nothing. */
export const nameOrNothing = (description: string): SchemaNode =>
  text(description, { maxLength: 253, pattern: `^$|${NAME_PATTERN}` });

export const displayName = (description: string): SchemaNode => text(description, { maxLength: 255 });

export const parameters = object(
  { name: nameOrNothing("Name of a Secret.") },
  { description: "For a service broker. Taken so that manifests of Korifi apply, and ignored." },
);

const secretReference = (description: string): SchemaNode =>
  object({ name: objectName("Name of a Secret of this namespace.") }, { required: ["name"], description });

/** A reference that has two names: the one of the document, and the one of later releases. */
export const twiceNamed = (names: readonly [string, string], description: string): Record<string, SchemaNode> => ({
  [names[0]]: secretReference(description),
  [names[1]]: secretReference(`The same as ${names[0]}, by the name that later releases of Korifi have for it.`),
});

export const instanceStatus = {
  observedGeneration: integer("The generation of the spec that this was said of."),
  credentials: secretReference("The Secret with the credentials, as one JSON object under the key credentials."),
  credentialsObservedVersion: text("The version of the Secret that the credentials were last taken from."),
  lastOperation: object(
    {
      type: oneOf("What was done.", ["create", "update", "delete"]),
      state: oneOf("How it went.", ["initial", "in progress", "succeeded", "failed"]),
      description: text("How it went, in words."),
    },
    { description: "The last operation of a service broker. Taken so that objects of Korifi stay what they are." },
  ),
  conditions,
} as const satisfies Readonly<Record<string, SchemaNode>>;

export const readyColumn: Column = {
  name: "Ready",
  type: "string",
  jsonPath: ".status.conditions[?(@.type=='Ready')].status",
};
export const ageColumn: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
