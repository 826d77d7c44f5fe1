import type { KubeObject } from "../../kube/objects.ts";
import { type Json, type JsonObject, jsonOf } from "../json.ts";
import type { ScalePaths, Strategy } from "../registry.ts";
import { holdsRules, validateRules } from "../schema/cel/validate-rules.ts";
import { sameValue } from "../schema/correlate.ts";
import { applyDefaults } from "../schema/defaults.ts";
import { invalidValue, NO_FIELD } from "../schema/field-errors.ts";
import { prune } from "../schema/prune.ts";
import type { Schema } from "../schema/schema.ts";
import { validateUpdatedValue, validateValue } from "../schema/validate.ts";
import { validateEmbedded } from "../schema/validate-embedded.ts";
import { validateListTypes } from "../schema/validate-lists.ts";
import type { FieldError } from "../status-error.ts";
import { without } from "./json-fields.ts";
import { finalizerWarnings } from "./metadata-validation.ts";
import { scaleErrors } from "./scale.ts";

/**
 * How objects of a custom kind are taken in, from the schema of one version: unknown fields dropped, defaults filled in,
 * values and rules checked; status kept apart where the status subresource is on. Must not: touch metadata, which is the
 * server's.
 */
export function customResourceStrategy(
  schema: Schema,
  options: { readonly hasStatus: boolean; readonly scale?: ScalePaths },
): Strategy {
  const { hasStatus, scale } = options;
  const body = withoutMetadata(schema);
  const dropStatus = (object: KubeObject): KubeObject => without(jsonOf(object), "status") as KubeObject;
  return {
    tracksGeneration: true,
    updatesNeedVersion: true,
    warningsFor: (object, old) => finalizerWarnings(object.metadata, old?.metadata),
    applyDefaults: (object) => pruneAndDefault(object, schema, body),
    validateCreate: (object) => [...validateNew(jsonOf(object), schema), ...scaleErrors(object, scale)],
    validateUpdate: (object, old) => [
      ...validateChanged(jsonOf(object), jsonOf(old), schema),
      ...scaleErrors(object, scale),
    ],
    ...(hasStatus
      ? {
          prepareCreate: dropStatus,
          prepareUpdate: (object: KubeObject, old: KubeObject) =>
            old.status === undefined ? dropStatus(object) : { ...object, status: old.status },
        }
      : { bumpsGeneration: changesAnythingButMetadata }),
  };
}

/** A schema may restrict names in metadata, but defaults and nulls there are the server's business. */
function withoutMetadata(schema: Schema): Schema {
  const { metadata: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}

function pruneAndDefault(object: KubeObject, schema: Schema, body: Schema): KubeObject {
  const pruned = prune(jsonOf(object), schema, { isResourceRoot: true });
  return applyDefaults(pruned, body) as JsonObject as KubeObject;
}

/** Without a status subresource, status is a field like any other. */
const changesAnythingButMetadata = (object: KubeObject, old: KubeObject): boolean =>
  !sameValue(without(jsonOf(object), "metadata"), without(jsonOf(old), "metadata"));

function validateNew(object: Json, schema: Schema): readonly FieldError[] {
  const errors = [
    ...validateValue(object, schema),
    ...validateEmbedded(object, schema),
    ...validateListTypes(object, schema),
  ];
  return withRules(errors, schema, () => validateRules(object, undefined, schema));
}

/** What an update did not touch is not held against it, also where the schema has become stricter. */
function validateChanged(object: Json, old: Json, schema: Schema): readonly FieldError[] {
  const lists = validateListTypes(object, schema);
  const errors = [
    ...validateUpdatedValue(object, old, schema),
    ...validateEmbedded(object, schema),
    ...(lists.length > 0 && validateListTypes(old, schema).length === 0 ? lists : []),
  ];
  return withRules(errors, schema, () => validateRules(object, old, schema));
}

/** Errors after which the types that rules rely on may be wrong. */
const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const RULES_SKIPPED = invalidValue(
  NO_FIELD,
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

function withRules(
  errors: readonly FieldError[],
  schema: Schema,
  rules: () => readonly FieldError[],
): readonly FieldError[] {
  if (!holdsRules(schema)) return errors;
  return errors.some((error) => BLOCKING.has(error.reason)) ? [...errors, RULES_SKIPPED] : [...errors, ...rules()];
}
