import { isObject, type Json, type JsonObject } from "../json.ts";
import { OBJECT_META_FIELDS } from "./object-meta.ts";
import { prune } from "./prune.ts";
import { type Definitions, resolveSchema, type Schema } from "./schema.ts";

/**
 * Finds the fields of a written object that its kind does not know, worded as the API server words them in warnings
 * (fieldValidation Warn) and in the error of Strict. Must not: refuse; the caller decides what a finding means.
 */
export function unknownCustomFields(object: JsonObject, schema: Schema | undefined): readonly string[] {
  const found: string[] = [];
  const metadata = object.metadata;
  if (isObject(metadata)) {
    for (const key of Object.keys(metadata)) if (!OBJECT_META_FIELDS.has(key)) found.push(`metadata.${key}`);
  }
  const inside: string[] = [];
  prune(object, schema, { isResourceRoot: true, onDropped: (path) => inside.push(path) });
  return [...found, ...inside.sort()].map(describe);
}

/** For kinds whose schema comes from the server's OpenAPI document; objects that list no fields may hold any. */
export function unknownBuiltInFields(
  object: JsonObject,
  schema: Schema | undefined,
  definitions: Definitions,
): readonly string[] {
  const found: string[] = [];
  visit(object, schema, "", { definitions, found });
  return found.map(describe);
}

/** The message of the 400 that Strict gives; findings may come from decoding (duplicates) and from the schema. */
export const strictDecodingError = (findings: readonly string[]): string =>
  `strict decoding error: ${findings.join(", ")}`;

const describe = (path: string): string => `unknown field "${path}"`;

interface Search {
  readonly definitions: Definitions;
  readonly found: string[];
}

function visit(value: Json, source: Schema | undefined, path: string, search: Search): void {
  if (typeof value !== "object" || value === null) return;
  const schema = resolveSchema(source, search.definitions);
  if (!schema) return;
  if (Array.isArray(value)) {
    if (!schema.items) return;
    for (const [index, item] of value.entries()) visit(item, schema.items, `${path}[${index}]`, search);
    return;
  }
  if (isObject(value)) visitFields(value, schema, path, search);
}

function visitFields(object: JsonObject, schema: Schema, path: string, search: Search): void {
  const { properties, additionalProperties } = schema;
  const each = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const isOpen = properties === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true;
  for (const [key, value] of Object.entries(object)) {
    const at = path === "" ? key : `${path}.${key}`;
    if (properties && Object.hasOwn(properties, key)) visit(value, properties[key], at, search);
    else if (each) visit(value, each, at, search);
    else if (!isOpen && additionalProperties !== true) search.found.push(at);
  }
}
