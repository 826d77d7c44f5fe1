import { apiVersionOf, type KubeObject, type ObjectMeta } from "../kube/objects.ts";
import { trackUpdate } from "./apply/managed-fields.ts";
import type { OwnershipOptions } from "./apply/ownership.ts";
import { resetFieldsOf } from "./apply/reset-fields.ts";
import { isObject, type Json, type JsonObject, jsonOf } from "./json.ts";
import { validateMetadata, validateMetadataUpdate } from "./kinds/metadata-validation.ts";
import { normalize } from "./kinds/normalize.ts";
import { builtInSchemas } from "./kinds/schemas.ts";
import { metadataForUpdate, withGeneration } from "./metadata.ts";
import type { WriteContext } from "./object-api.ts";
import type { ResourceDefinition } from "./registry.ts";
import { cannotBeHandled, checkDecodable } from "./schema/decode.ts";
import { invalidValue } from "./schema/field-errors.ts";
import type { Schema } from "./schema/schema.ts";
import { strictDecodingError, unknownBuiltInFields, unknownCustomFields } from "./schema/unknown-fields.ts";
import { badRequest, type FieldError, invalid, StatusError } from "./status-error.ts";

/**
 * What an object passes on its way into the store, in order: decode → default → track fields → prepare → validate. Pure.
 * Must not: read or write the store; `operations.ts` does.
 */
export interface Decoded {
  readonly object: KubeObject;
  /** Unknown and duplicate fields, where the writer wants to hear of them. */
  readonly warnings: readonly string[];
  /** Server-side apply has worked out the managed fields already. */
  readonly hasManagedFields?: boolean;
}

export interface WriteStep {
  readonly context: WriteContext;
  readonly nowAt: number;
}

/** Checks that a body is an object of this kind, and what to say about fields that it does not have. */
export function decodeBody(definition: ResourceDefinition, body: Json, context: WriteContext): Decoded {
  if (!isObject(body)) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): it is not a JSON object`,
    );
  }
  const object = withEnvelope(definition, body);
  const decoded = withTypes(definition, object);
  const warnings = strictness(definition, object, context);
  return { object: decoded, warnings };
}

/** The same for what a patch made of an object: there the fault is the patch's, and is told as such. */
export function decodePatched(definition: ResourceDefinition, body: Json, context: WriteContext): Decoded {
  try {
    return decodeBody(definition, body, context);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status !== 400) throw error;
    // The real server quotes the whole object here, Secrets included.
    const cause = { reason: "FieldValueInvalid", message: `Invalid value: ${error.message}`, field: "patch" };
    throw invalid({ group: "", kind: "" }, "", [cause]);
  }
}

/** The same for what an apply made of an object: its fields are known to the schema, but may still not be decodable. */
export function decodeApplied(definition: ResourceDefinition, merged: KubeObject, context: WriteContext): Decoded {
  const warnings = context.fieldValidation === "Ignore" ? [] : (context.decodeWarnings ?? []);
  const object = appliedWithTypes(definition, merged);
  if (context.fieldValidation === "Strict" && warnings.length > 0) {
    throw badRequest(`error strict decoding YAML: ${warnings.join(", ")}`);
  }
  return { object, warnings, hasManagedFields: true };
}

function appliedWithTypes(definition: ResourceDefinition, merged: KubeObject): KubeObject {
  try {
    return withTypes(definition, merged);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { name } = merged.metadata;
    throw new StatusError(500, "", `failed to convert new object (${name}) to proper version: ${error.message}`);
  }
}

const OBJECT_META: Schema = { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" };

/** Refuses values of the wrong type. Of custom objects only the metadata has types that are the server's own. */
function withTypes(definition: ResourceDefinition, object: KubeObject): KubeObject {
  if (!definition.custom) {
    checkDecodable(jsonOf(object), definition);
    return object;
  }
  const { kind, version } = definition;
  const given = jsonOf(object).metadata;
  if (!isObject(given)) return object;
  const definitions = builtInSchemas();
  checkDecodable(given, { kind, version, schema: OBJECT_META, definitions });
  const metadata = normalize(given, OBJECT_META, definitions);
  return metadata === given ? object : ({ ...object, metadata } as JsonObject as KubeObject);
}

/** apiVersion and kind are filled in for built-in kinds, demanded of custom ones, and must fit the path for both. */
function withEnvelope(definition: ResourceDefinition, body: JsonObject): KubeObject {
  const expected = apiVersionOf(definition);
  if (definition.custom && (typeof body.kind !== "string" || body.kind === "")) {
    throw badRequest(`Object 'Kind' is missing in the ${definition.kind} provided`);
  }
  if (definition.custom && (typeof body.apiVersion !== "string" || body.apiVersion === "")) {
    throw badRequest(`Object 'apiVersion' is missing in the ${definition.kind} provided`);
  }
  const kind = textOf(body, "kind") || definition.kind;
  const apiVersion = textOf(body, "apiVersion") || expected;
  if (definition.custom && apiVersion === expected && kind !== definition.kind) throw wrongKind(definition, body);
  if (kind !== definition.kind || apiVersion !== expected) {
    const version = apiVersion.split("/").at(-1);
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${definition.kind}: this path serves ${definition.kind} of ${expected}`,
    );
  }
  const { metadata } = body;
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw badRequest(
      `${kind} in version "${definition.version}" cannot be handled as a ${kind}: metadata is not an object`,
    );
  }
  return { ...body, apiVersion, kind, metadata: metadata ?? {} } as JsonObject as KubeObject;
}

function textOf(body: JsonObject, field: "kind" | "apiVersion"): string {
  const value = body[field] ?? "";
  if (typeof value === "string") return value;
  const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  throw badRequest(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go struct field .${field} of type string`,
  );
}

/** Custom objects all have one type to the server's decoder, so that this is found out by validation. */
function wrongKind({ group, kind }: ResourceDefinition, body: JsonObject): StatusError {
  const name = isObject(body.metadata) && typeof body.metadata.name === "string" ? body.metadata.name : "";
  const given = String(body.kind);
  return invalid({ group, kind: given }, name, [invalidValue("kind", given, `must be ${kind}`)]);
}

function strictness(definition: ResourceDefinition, object: KubeObject, context: WriteContext): readonly string[] {
  const mode = context.fieldValidation ?? "Warn";
  if (mode === "Ignore") return [];
  const body = jsonOf(object);
  const unknown = definition.custom
    ? unknownCustomFields(body, definition.schema)
    : unknownBuiltInFields(body, definition.schema, definition.definitions);
  const findings = [...(context.decodeWarnings ?? []), ...unknown];
  if (mode === "Warn" || findings.length === 0) return findings;
  throw cannotBeHandled(definition, strictDecodingError(findings));
}

/** A new object, complete and checked; its metadata is already the server's. */
export function prepareCreate(definition: ResourceDefinition, decoded: Decoded, step: WriteStep): KubeObject {
  const { strategy } = definition;
  const defaulted = strategy.applyDefaults?.(decoded.object) ?? decoded.object;
  const tracked = decoded.hasManagedFields ? defaulted : track(definition, undefined, defaulted, step);
  const given = definition.subresources.has("status") ? withStatus(tracked, undefined) : tracked;
  const object = strategy.prepareCreate?.(given) ?? given;
  const rules = {
    namespaced: definition.namespaced,
    ...(strategy.validateName && { validateName: strategy.validateName }),
  };
  refuse(definition, object, [
    ...validateMetadata(object.metadata, rules),
    ...(strategy.validateCreate?.(object) ?? []),
  ]);
  return object;
}

/** What an existing object becomes. Returns it complete and checked; the caller finds out whether anything changed. */
export function prepareUpdate(
  definition: ResourceDefinition,
  decoded: Decoded,
  step: WriteStep & { readonly old: KubeObject },
): KubeObject {
  const { strategy } = definition;
  const { old, context } = step;
  const defaulted = strategy.applyDefaults?.(decoded.object) ?? decoded.object;
  const tracked = decoded.hasManagedFields ? defaulted : track(definition, old, defaulted, step);
  const addressed = { ...tracked, metadata: metadataForUpdate(tracked.metadata, old.metadata) };
  const prepared = withinSubresource(definition, addressed, { old, subresource: context.subresource });
  refuse(definition, prepared, [
    ...validateMetadataUpdate(prepared.metadata, old.metadata),
    ...(strategy.validateUpdate?.(prepared, old) ?? []),
  ]);
  // A status is never a new generation, whatever else a kind lets it write.
  return context.subresource === "status" ? prepared : withGeneration(definition, prepared, old);
}

/** Keeps a write within what its path may change. */
function withinSubresource(
  definition: ResourceDefinition,
  object: KubeObject,
  { old, subresource }: { readonly old: KubeObject; readonly subresource: string | undefined },
): KubeObject {
  if (subresource === "status") {
    const metadata = metadataForStatus(definition, object.metadata, old.metadata);
    return withStatus({ ...old, metadata }, object.status);
  }
  const given = definition.subresources.has("status") ? withStatus(object, old.status) : object;
  return definition.strategy.prepareUpdate?.(given, old, subresource) ?? given;
}

/** Whoever writes the status of a built-in kind may change labels and the like along with it. */
function metadataForStatus({ custom, strategy }: ResourceDefinition, given: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const kept = strategy.statusKeepsMetadata ?? (custom ? "all" : []);
  if (kept === "all") {
    const { managedFields } = given;
    const { managedFields: _, ...rest } = old;
    return { ...rest, ...(managedFields !== undefined && { managedFields }) };
  }
  const isKept = ([field]: [string, unknown]): boolean => kept.some((one) => one === field);
  const taken = Object.entries(given).filter((entry) => !isKept(entry));
  return Object.fromEntries([...taken, ...Object.entries(old).filter(isKept)]) as object as ObjectMeta;
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  const { status: _, ...rest } = object;
  return (status === undefined ? rest : { ...rest, status }) as KubeObject;
}

function refuse(definition: ResourceDefinition, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? "", errors);
}

function track(
  definition: ResourceDefinition,
  live: KubeObject | undefined,
  updated: KubeObject,
  { context, nowAt }: WriteStep,
): KubeObject {
  return trackUpdate({
    live,
    updated,
    manager: context.fieldManager,
    apiVersion: apiVersionOf(definition),
    ...ownershipOf(definition, context),
    nowAt,
  });
}

/** What tracking fields needs to know of the kind and the path it is written through. */
export const ownershipOf = (
  definition: ResourceDefinition,
  { subresource }: WriteContext,
): Omit<OwnershipOptions, "nowAt"> => ({
  schema: definition.schema,
  definitions: definition.definitions,
  custom: definition.custom,
  ...(subresource !== undefined && { subresource }),
  resetFields: resetFieldsOf(definition, subresource),
});
