import { isObject, type Json, type JsonObject } from "../json.ts";
import type { FieldError } from "../status-error.ts";
import { duplicate, goJson, invalidValue } from "./field-errors.ts";
import type { Schema } from "./schema.ts";

/**
 * Checks that lists of type `set` hold no item twice and lists of type `map` no key twice, as the API server does beside
 * the OpenAPI keywords. Schemas without such lists are known and cost nothing. Must not: check anything else of a list.
 */
export function validateListTypes(value: Json, schema: Schema, path = ""): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(value, schema, path, errors);
  return errors;
}

const keyedLists = new WeakMap<Schema, boolean>();

/** Whether anything below a schema is a set or a map; structural schemas do not contain themselves. */
function holdsKeyedLists(schema: Schema): boolean {
  const known = keyedLists.get(schema);
  if (known !== undefined) return known;
  const additional = schema.additionalProperties;
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(typeof additional === "object" ? [additional] : []),
  ];
  const type = schema["x-kubernetes-list-type"];
  const holds = type === "set" || type === "map" || children.some(holdsKeyedLists);
  keyedLists.set(schema, holds);
  return holds;
}

function visit(value: Json, schema: Schema | undefined, path: string, errors: FieldError[]): void {
  if (schema === undefined || typeof value !== "object" || value === null || !holdsKeyedLists(schema)) return;
  if (Array.isArray(value)) visitList(value, schema, path, errors);
  else if (isObject(value)) visitObject(value, schema, path, errors);
}

function visitObject(object: JsonObject, schema: Schema, path: string, errors: FieldError[]): void {
  const { properties, additionalProperties } = schema;
  for (const [key, value] of Object.entries(object)) {
    if (properties && Object.hasOwn(properties, key)) {
      visit(value, properties[key], path === "" ? key : `${path}.${key}`, errors);
    } else if (typeof additionalProperties === "object") visit(value, additionalProperties, `${path}[${key}]`, errors);
  }
}

function visitList(list: readonly Json[], schema: Schema, path: string, errors: FieldError[]): void {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") reportRepeated(list, path, errors);
  else if (type === "map") checkKeys(list, schema["x-kubernetes-list-map-keys"] ?? [], path, errors);
  if (!schema.items) return;
  for (const [index, item] of list.entries()) visit(item, schema.items, `${path}[${index}]`, errors);
}

function checkKeys(list: readonly Json[], keys: readonly string[], path: string, errors: FieldError[]): void {
  const wrong = list.findIndex((item) => item !== null && !isObject(item));
  if (wrong >= 0) {
    errors.push(invalidValue(`${path}[${wrong}]`, list[wrong], "must be an object for an array of list-type map"));
    return;
  }
  const picked = list.map((item) => {
    const present = isObject(item) ? keys.filter((key) => Object.hasOwn(item, key)) : [];
    return Object.fromEntries(present.map((key) => [key, isObject(item) ? (item[key] ?? null) : null]));
  });
  reportRepeated(picked, path, errors);
}

/** Each value that occurs again is reported once, where it occurs for the second time. */
function reportRepeated(list: readonly Json[], path: string, errors: FieldError[]): void {
  const times = new Map<unknown, number>();
  for (const [index, item] of list.entries()) {
    const identity = typeof item === "object" && item !== null ? `json:${goJson(item)}` : (item ?? "null:");
    const key = typeof item === "string" ? `text:${item}` : identity;
    const count = (times.get(key) ?? 0) + 1;
    times.set(key, count);
    if (count === 2) errors.push(duplicate(`${path}[${index}]`, item));
  }
}
