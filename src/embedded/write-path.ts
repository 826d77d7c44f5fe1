import { apiVersionOf, type KubeObject } from "../kube/objects.ts";
import { trackUpdate } from "./apply/managed-fields.ts";
import type { OwnershipOptions } from "./apply/ownership.ts";
import { resetFieldsOf } from "./apply/reset-fields.ts";
import { isObject, type Json, type JsonObject, jsonOf } from "./json.ts";
import { validateMetadata, validateMetadataUpdate } from "./kinds/metadata-validation.ts";
import { metadataForUpdate, withGeneration } from "./metadata.ts";
import type { WriteContext } from "./object-api.ts";
import type { ResourceDefinition } from "./registry.ts";
import { cannotBeHandled, checkDecodable } from "./schema/decode.ts";
import { strictDecodingError, unknownBuiltInFields, unknownCustomFields } from "./schema/unknown-fields.ts";
import { badRequest, type FieldError, invalid } from "./status-error.ts";

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
  if (!definition.custom) checkDecodable(jsonOf(object), definition);
  const warnings = strictness(definition, object, context);
  return { object, warnings };
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
  const { kind = definition.kind, apiVersion = expected } = body;
  if (kind !== definition.kind || apiVersion !== expected) {
    const version = String(apiVersion).split("/").at(-1);
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
    const { managedFields } = object.metadata;
    const { managedFields: _, ...meta } = old.metadata;
    const metadata = { ...meta, ...(managedFields !== undefined && { managedFields }) };
    const kept = withStatus({ ...old, metadata }, object.status);
    return definition.strategy.prepareStatusUpdate?.(kept, object) ?? kept;
  }
  const given = definition.subresources.has("status") ? withStatus(object, old.status) : object;
  return definition.strategy.prepareUpdate?.(given, old, subresource) ?? given;
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
