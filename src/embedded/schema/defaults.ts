import { isObject, type Json, type JsonObject } from "../json.ts";
import { DROPPED, rewriteList, rewriteObject } from "./rewrite.ts";
import { type Definitions, resolveSchema, type Schema } from "./schema.ts";

/**
 * Fills in what a schema's `default`s say, the way the API server does for custom resources: first nulls where null is
 * not allowed go (unless there is a default to take their place), then absent fields get their default, then the same
 * inside, defaults included. Returns the same value when nothing changed. Must not: create an object only to put a
 * default into it.
 */
export function applyDefaults(value: Json, schema: Schema, definitions: Definitions = {}): Json {
  const context: Context = { definitions, followed: new Map() };
  return fill(value, schema, context);
}

interface Context {
  readonly definitions: Definitions;
  /** References already followed. */
  readonly followed: Map<Schema, Schema>;
}

function resolved(schema: Schema | undefined, { definitions, followed }: Context): Schema | undefined {
  if (!schema || (schema.$ref === undefined && schema.allOf === undefined)) return schema;
  const known = followed.get(schema);
  if (known) return known;
  const result = resolveSchema(schema, definitions);
  if (result) followed.set(schema, result);
  return result;
}

function fill(value: Json, source: Schema | undefined, context: Context): Json {
  const schema = resolved(source, context);
  if (!schema) return value;
  if (Array.isArray(value)) return fillList(value, schema, context);
  return isObject(value) ? fillObject(value, schema, context) : value;
}

function fillObject(object: JsonObject, schema: Schema, context: Context): JsonObject {
  const rewritten = rewriteObject(object, (value, key) => {
    const field = fieldSchema(schema, key, context);
    if (value !== null || field === undefined || field.nullable === true) return fill(value, field, context);
    return field.default === undefined ? DROPPED : fill(field.default as Json, field, context);
  });
  let added: [string, Json][] | undefined;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(rewritten, key)) continue;
    const field = resolved(property, context);
    if (field?.default === undefined) continue;
    added ??= [];
    added.push([key, fill(field.default as Json, field, context)]);
  }
  return added ? Object.fromEntries([...Object.entries(rewritten), ...added]) : rewritten;
}

/** In a list a null keeps its place: only a default can replace it. */
function fillList(list: readonly Json[], schema: Schema, context: Context): Json {
  const items = resolved(schema.items, context);
  if (!items) return list;
  return rewriteList(list, (item) => {
    const replaced = item === null && items.nullable !== true && items.default !== undefined;
    return fill(replaced ? (items.default as Json) : item, items, context);
  });
}

function fieldSchema(schema: Schema, key: string, context: Context): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, key)) return resolved(schema.properties[key], context);
  return typeof schema.additionalProperties === "object" ? resolved(schema.additionalProperties, context) : undefined;
}
