import { isObject, type Json, type JsonObject } from "../json.ts";
import type { FieldError } from "../status-error.ts";
import { invalidValue, required } from "./field-errors.ts";
import { labelProblem } from "./names.ts";
import type { Schema } from "./schema.ts";

/**
 * Checks what `x-kubernetes-embedded-resource` promises: an apiVersion, a kind, and metadata that metadata could be.
 * Must not: check the root, whose apiVersion, kind and metadata are the server's.
 */
export function validateEmbedded(value: Json, schema: Schema, path = ""): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(value, schema, path, errors);
  return errors;
}

const embedding = new WeakMap<Schema, boolean>();

function holdsEmbedded(schema: Schema): boolean {
  const known = embedding.get(schema);
  if (known !== undefined) return known;
  const additional = schema.additionalProperties;
  const holds =
    schema["x-kubernetes-embedded-resource"] === true ||
    Object.values(schema.properties ?? {}).some(holdsEmbedded) ||
    (schema.items !== undefined && holdsEmbedded(schema.items)) ||
    (typeof additional === "object" && holdsEmbedded(additional));
  embedding.set(schema, holds);
  return holds;
}

function visit(value: Json, schema: Schema | undefined, path: string, errors: FieldError[]): void {
  if (schema === undefined || typeof value !== "object" || value === null || !holdsEmbedded(schema)) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, schema.items, `${path}[${index}]`, errors);
    return;
  }
  if (!isObject(value)) return;
  if (schema["x-kubernetes-embedded-resource"] === true) checkResource(value, path, errors);
  const { properties, additionalProperties } = schema;
  for (const [key, item] of Object.entries(value)) {
    if (properties && Object.hasOwn(properties, key)) {
      visit(item, properties[key], path === "" ? key : `${path}.${key}`, errors);
    } else if (typeof additionalProperties === "object") visit(item, additionalProperties, `${path}[${key}]`, errors);
  }
}

function checkResource(object: JsonObject, path: string, errors: FieldError[]): void {
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  for (const key of ["apiVersion", "kind"] as const) {
    if (!Object.hasOwn(object, key)) errors.push(required(at(key)));
  }
  const { apiVersion, kind, metadata } = object;
  if (apiVersion !== undefined) checkApiVersion(apiVersion, at("apiVersion"), errors);
  if (kind !== undefined) checkKind(kind, at("kind"), errors);
  if (metadata === undefined) return;
  if (!isObject(metadata)) errors.push(invalidValue(at("metadata"), metadata, "must be an object"));
  else checkMetadata(metadata, at("metadata"), errors);
}

function checkApiVersion(apiVersion: Json, path: string, errors: FieldError[]): void {
  if (typeof apiVersion !== "string") errors.push(invalidValue(path, apiVersion, "must be a string"));
  else if (apiVersion === "") errors.push(invalidValue(path, apiVersion, "must not be empty"));
  else if (apiVersion.split("/").length > 2) {
    errors.push(invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  }
}

function checkKind(kind: Json, path: string, errors: FieldError[]): void {
  if (typeof kind !== "string") errors.push(invalidValue(path, kind, "must be a string"));
  else if (kind === "") errors.push(invalidValue(path, kind, "must not be empty"));
  else {
    const problem = labelProblem(kind.toLowerCase());
    if (problem) errors.push(invalidValue(path, kind, `may have mixed case, but should otherwise match: ${problem}`));
  }
}

function checkMetadata(metadata: JsonObject, path: string, errors: FieldError[]): void {
  for (const key of ["name", "generateName", "namespace"] as const) {
    const value = metadata[key];
    if (value === undefined || value === "") continue;
    if (typeof value !== "string") errors.push(invalidValue(`${path}.${key}`, value, "must be a string"));
    else if (value.includes("/")) errors.push(invalidValue(`${path}.${key}`, value, "may not contain '/'"));
    else if (value.includes("%")) errors.push(invalidValue(`${path}.${key}`, value, "may not contain '%'"));
    else if (value === "." || value === "..")
      errors.push(invalidValue(`${path}.${key}`, value, `may not be '${value}'`));
  }
  for (const key of ["labels", "annotations"] as const) {
    const value = metadata[key];
    if (value === undefined || value === null) continue;
    const sound = isObject(value) && Object.values(value).every((item) => typeof item === "string");
    if (!sound) errors.push(invalidValue(`${path}.${key}`, value, "must be a map of strings"));
  }
}
