import { isObject, type Json, type JsonObject } from "../json.ts";
import type { FieldError } from "../status-error.ts";
import { invalidValue } from "./field-errors.ts";
import type { Schema } from "./schema.ts";

type Shape =
  | "text"
  | "number"
  | "boolean"
  | "texts"
  | "list"
  | "schema"
  | "schemas"
  | "schemaMap"
  | "schemaOrBoolean"
  | "rules";

/** What each keyword must hold for the rest of the code to read it as a `Schema`. */
const SHAPES: Readonly<Record<string, Shape>> = {
  $ref: "text",
  id: "text",
  type: "text",
  format: "text",
  title: "text",
  description: "text",
  pattern: "text",
  "x-kubernetes-list-type": "text",
  "x-kubernetes-map-type": "text",
  nullable: "boolean",
  exclusiveMinimum: "boolean",
  exclusiveMaximum: "boolean",
  uniqueItems: "boolean",
  "x-kubernetes-preserve-unknown-fields": "boolean",
  "x-kubernetes-embedded-resource": "boolean",
  "x-kubernetes-int-or-string": "boolean",
  minimum: "number",
  maximum: "number",
  multipleOf: "number",
  minLength: "number",
  maxLength: "number",
  minItems: "number",
  maxItems: "number",
  minProperties: "number",
  maxProperties: "number",
  required: "texts",
  "x-kubernetes-list-map-keys": "texts",
  enum: "list",
  items: "schema",
  not: "schema",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  properties: "schemaMap",
  additionalProperties: "schemaOrBoolean",
  "x-kubernetes-validations": "rules",
};

/** A schema nested deeper than this is nobody's, and would only wear out the stack. */
const MAX_SCHEMA_DEPTH = 100;

/**
 * Checks that a value can be read as a schema at all; the errors of what cannot. A null keyword is as good as absent.
 * Must not: judge what the schema says.
 */
export function schemaShapeProblems(value: Json, path: string, depth = 0): readonly FieldError[] {
  if (!isObject(value)) return [invalidValue(path, value, "must be a schema")];
  if (depth > MAX_SCHEMA_DEPTH)
    return [invalidValue(path, "", `must not be nested deeper than ${MAX_SCHEMA_DEPTH} levels`)];
  return Object.entries(value).flatMap(([keyword, held]) => {
    const shape = Object.hasOwn(SHAPES, keyword) ? SHAPES[keyword] : undefined;
    return shape === undefined || held === null ? [] : keywordProblems(shape, held, `${path}.${keyword}`, depth);
  });
}

function keywordProblems(shape: Shape, value: Json, path: string, depth: number): readonly FieldError[] {
  const unless = (sound: boolean, wanted: string): readonly FieldError[] =>
    sound ? [] : [invalidValue(path, value, `must be ${wanted}`)];
  switch (shape) {
    case "text":
      return unless(typeof value === "string", "a string");
    case "boolean":
      return unless(typeof value === "boolean", "a boolean");
    case "number":
      return unless(typeof value === "number", "a number");
    case "texts":
      return unless(Array.isArray(value) && value.every((item) => typeof item === "string"), "a list of strings");
    case "list":
      return unless(Array.isArray(value), "a list");
    case "schema":
      return schemaShapeProblems(value, path, depth + 1);
    case "schemaOrBoolean":
      return typeof value === "boolean" ? [] : schemaShapeProblems(value, path, depth + 1);
    case "schemas":
      if (!Array.isArray(value)) return unless(false, "a list of schemas");
      return value.flatMap((item: Json, index) => schemaShapeProblems(item, `${path}[${index}]`, depth + 1));
    case "schemaMap":
      if (!isObject(value)) return unless(false, "an object of schemas");
      return Object.entries(value).flatMap(([key, item]) => schemaShapeProblems(item, `${path}[${key}]`, depth + 1));
    case "rules":
      return unless(Array.isArray(value) && value.every(isRule), "a list of rules");
  }
}

const isRule = (value: Json): boolean =>
  isObject(value) &&
  (value.rule === undefined || typeof value.rule === "string") &&
  ["message", "messageExpression", "reason", "fieldPath"].every((key) =>
    ["undefined", "string"].includes(typeof (value[key] ?? undefined)),
  ) &&
  ["undefined", "boolean"].includes(typeof (value.optionalOldSelf ?? undefined));

/** The same schema without null keywords. Only for values that `schemaShapeProblems` has found sound. */
export function schemaFrom(value: Json): Schema {
  if (!isObject(value)) return {};
  const known = schemas.get(value);
  if (known) return known;
  const schema = stripNulls(value, "") as Schema;
  schemas.set(value, schema);
  return schema;
}

/** One schema object for one definition: what is compiled from it is kept by its identity. */
const schemas = new WeakMap<JsonObject, Schema>();

/** `default`, `enum` and `example` are values, not schema: their nulls mean null. */
const VALUE_KEYWORDS: ReadonlySet<string> = new Set(["default", "example", "enum"]);

function stripNulls(value: Json, keyword: string): Json {
  if (VALUE_KEYWORDS.has(keyword)) return value;
  if (Array.isArray(value)) return value.map((item: Json) => stripNulls(item, ""));
  if (!isObject(value)) return value;
  const isNames = keyword === "properties";
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([key, item]) => [key, stripNulls(item, isNames ? "" : key)]));
}
