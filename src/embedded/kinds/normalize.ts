import { isObject, type Json, type JsonObject } from "../json.ts";
import { type Definitions, resolveSchema, type Schema } from "../schema/schema.ts";

/**
 * What decoding into the server's own types and encoding again does to an object: fields that the type does not have
 * go, nulls go, and so do optional lists and maps that are empty. Returns the same reference when nothing changed.
 */
export function normalize(object: JsonObject, schema: Schema | undefined, definitions: Definitions): JsonObject {
  const resolved = resolve(schema, definitions);
  if (!resolved) return object;
  if (resolved.properties) return normalizeFields(object, resolved, definitions);
  const values = resolved.additionalProperties;
  return isObject(values) ? normalizeEntries(object, values as Schema, definitions) : object;
}

function normalizeFields(object: JsonObject, schema: Schema, definitions: Definitions): JsonObject {
  const kept: Record<string, Json> = {};
  let changed = false;
  for (const [key, value] of Object.entries(object)) {
    const inner = resolve(schema.properties?.[key], definitions);
    const normal = inner && value !== null ? normalizeValue(value, inner, definitions) : undefined;
    const isKept = normal !== undefined && (isAlwaysKept(key, schema) || !isEmptyCollection(normal, inner));
    if (isKept) kept[key] = normal;
    if (!isKept || normal !== value) changed = true;
  }
  return changed ? kept : object;
}

/** An empty list of managedFields is a wish to forget them, which must still be heard. */
const isAlwaysKept = (key: string, schema: Schema): boolean =>
  key === "managedFields" || schema.required?.includes(key) === true;

/** Values of a map: a null becomes the empty value of its type, which for the maps in use is the empty string. */
function normalizeEntries(object: JsonObject, values: Schema, definitions: Definitions): JsonObject {
  const schema = resolve(values, definitions);
  if (!schema) return object;
  const entries = Object.entries(object).map(([key, value]): [string, Json] => {
    if (value === null && schema.type === "string") return [key, ""];
    return [key, normalizeValue(value, schema, definitions)];
  });
  return entries.some(([key, value]) => object[key] !== value) ? Object.fromEntries(entries) : object;
}

function normalizeValue(value: Json, schema: Schema, definitions: Definitions): Json {
  if (isObject(value)) return normalize(value, schema, definitions);
  if (typeof value === "string" && schema.format === "date-time") return universalTime(value);
  if (!Array.isArray(value) || !schema.items) return value;
  const items = value.map((item: Json) => {
    const resolved = resolve(schema.items, definitions);
    if (!resolved) return item;
    return normalizeValue(item === null && resolved.properties ? {} : item, resolved, definitions);
  });
  return items.some((item, index) => item !== value[index]) ? items : value;
}

/** Times are kept in UTC, to the second or, where they came with six digits, to the microsecond. */
function universalTime(text: string): string {
  const match = /^(.{19})(\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.exec(text);
  const at = Date.parse(text);
  if (!match || Number.isNaN(at)) return text;
  const fraction = match[2]?.length === 7 ? match[2] : "";
  return `${new Date(at).toISOString().slice(0, 19)}${fraction}Z`;
}

function isEmptyCollection(value: Json, schema: Schema | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  const isMap = schema?.additionalProperties !== undefined && schema.properties === undefined;
  return isMap && isObject(value) && Object.keys(value).length === 0;
}

const cache = new WeakMap<Schema, Schema>();

function resolve(schema: Schema | undefined, definitions: Definitions): Schema | undefined {
  if (!schema) return undefined;
  const known = cache.get(schema);
  if (known) return known;
  const resolved = resolveSchema(schema, definitions);
  if (resolved) cache.set(schema, resolved);
  return resolved;
}
