import { isObject, type Json, type JsonObject } from "../json.ts";
import { badRequest } from "../status-error.ts";
import { goJson, goQuote } from "./field-errors.ts";
import { type Definitions, resolveSchema, type Schema } from "./schema.ts";

export interface DecodedKind {
  readonly kind: string;
  readonly version: string;
  readonly schema: Schema | undefined;
  readonly definitions: Definitions;
}

/**
 * Checks that a written object has the types its built-in kind asks for, and refuses it as the API server's decoder
 * does: 400 BadRequest, the first mismatch only, with its path and the type that was expected. Null is nothing, anywhere.
 * Must not: check values beyond what decoding does; unknown fields are in `unknown-fields.ts`.
 */
export function checkDecodable(object: JsonObject, kind: DecodedKind): void {
  const problem = visit({
    value: object,
    schema: kind.schema,
    struct: kind.kind,
    path: "",
    definitions: kind.definitions,
  });
  if (problem) throw cannotBeHandled(kind, problem);
}

/** The frame that all decoding errors of a kind share. */
export const cannotBeHandled = (kind: Pick<DecodedKind, "kind" | "version">, problem: string): Error =>
  badRequest(`${kind.kind} in version ${goQuote(kind.version)} cannot be handled as a ${kind.kind}: ${problem}`);

interface Visit {
  readonly value: Json;
  readonly schema: Schema | undefined;
  /** The Go struct that the path ends in. */
  readonly struct: string;
  /** Without indices and map keys, as the decoder writes it. */
  readonly path: string;
  readonly definitions: Definitions;
}

const QUANTITY = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

function visit(at: Visit): string | undefined {
  const { value, definitions } = at;
  const schema = resolveSchema(at.schema, definitions);
  if (value === null || schema === undefined) return undefined;
  const named = refName(at.schema);
  if (named?.endsWith(".resource.Quantity")) return checkQuantity(value);
  if (isIntOrString(schema)) {
    const sound = typeof value === "string" || fitsInteger(value, "int32");
    return sound ? undefined : mismatch(at, "int32");
  }
  switch (schema.type) {
    case "object":
      return isObject(value) ? visitObject(value, schema, at, named) : mismatch(at, goType(at.schema, definitions));
    case "array":
      return Array.isArray(value) ? visitList(value, schema, at) : mismatch(at, goType(at.schema, definitions));
    case "string":
      return checkString(value, schema, at);
    case "boolean":
      return typeof value === "boolean" ? undefined : mismatch(at, "bool");
    case "integer":
      return fitsInteger(value, schema.format) ? undefined : mismatch(at, goType(at.schema, definitions));
    case "number":
      return typeof value === "number" ? undefined : mismatch(at, "float64");
    default:
      return undefined;
  }
}

function visitObject(object: JsonObject, schema: Schema, at: Visit, named: string | undefined): string | undefined {
  const { properties, additionalProperties } = schema;
  const struct = named ? shortName(named) : at.struct;
  const each = typeof additionalProperties === "object" ? additionalProperties : undefined;
  for (const [key, value] of Object.entries(object)) {
    const known = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const path = at.path === "" ? key : `${at.path}.${key}`;
    const next: Visit = known
      ? { ...at, value, schema: known, struct, path }
      : { ...at, value, schema: each, path: at.path };
    const problem = visit(next);
    if (problem) return problem;
  }
  return undefined;
}

function visitList(list: readonly Json[], schema: Schema, at: Visit): string | undefined {
  for (const value of list) {
    const problem = visit({ ...at, value, schema: schema.items });
    if (problem) return problem;
  }
  return undefined;
}

function checkString(value: Json, schema: Schema, at: Visit): string | undefined {
  if (typeof value !== "string")
    return mismatch(at, schema.format === "byte" ? "[]uint8" : goType(at.schema, at.definitions));
  if (schema.format === "byte") return base64Problem(value);
  if (refName(at.schema)?.endsWith(".MicroTime")) return microTimeProblem(value);
  if (schema.format === "date-time") return timeProblem(value);
  return undefined;
}

function checkQuantity(value: Json): string | undefined {
  if (typeof value === "number") return undefined;
  if (typeof value === "string" && QUANTITY.test(value)) return undefined;
  return `quantities must match the regular expression '${QUANTITY.source}'`;
}

/** Says where, never what: the value may be a secret. */
function base64Problem(text: string): string | undefined {
  const body = text.replace(/[\r\n]/g, "");
  const match = /^[A-Za-z0-9+/]*={0,2}/.exec(body);
  const sound = match?.[0].length ?? 0;
  if (sound === body.length && body.length % 4 === 0) return undefined;
  return `illegal base64 data at input byte ${sound < body.length ? sound : body.length - (body.length % 4)}`;
}

function timeProblem(text: string): string | undefined {
  if (text === "") return undefined;
  const shape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
  if (shape.test(text) && !Number.isNaN(Date.parse(text))) return undefined;
  const rest = /^\d{4}/.test(text) ? [goQuote(text.slice(4)), '"-"'] : [goQuote(text), '"2006"'];
  return `parsing time ${goQuote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${rest.join(" as ")}`;
}

/** Leases and Events carry microseconds: exactly six digits. */
function microTimeProblem(text: string): string | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(.*)$/.exec(text);
  const rest = match?.[2] ?? "";
  if (!match || /^\.\d{6}(?:Z|[+-]\d{2}:\d{2})$/.test(rest)) return timeProblem(text);
  return `parsing time ${goQuote(text)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${goQuote(rest)} as ".000000"`;
}

function fitsInteger(value: Json, format: string | undefined): boolean {
  const bits = format === "int32" ? 31 : 63;
  return typeof value === "number" && Number.isInteger(value) && value < 2 ** bits && value >= -(2 ** bits);
}

const isIntOrString = (schema: Schema): boolean =>
  schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string";

function mismatch(at: Visit, expected: string): string {
  const isNumberToNumber = typeof at.value === "number" && /^(?:u?int|float)/.test(expected);
  const actual = Array.isArray(at.value) ? "array" : typeof at.value === "boolean" ? "bool" : typeof at.value;
  const shown = isNumberToNumber ? `number ${goJson(at.value)}` : actual;
  const where =
    at.path === "" ? `Go value of type ${expected}` : `Go struct field ${at.struct}.${at.path} of type ${expected}`;
  return `json: cannot unmarshal ${shown} into ${where}`;
}

/** The Go type behind a schema: `int32`, `[]v1.Container`, `map[string]string`. */
function goType(source: Schema | undefined, definitions: Definitions): string {
  const named = refName(source);
  if (named) return qualifiedName(named);
  const schema = resolveSchema(source, definitions);
  switch (schema?.type) {
    case "array":
      return `[]${goType(schema.items, definitions)}`;
    case "object":
      return typeof schema.additionalProperties === "object"
        ? `map[string]${goType(schema.additionalProperties, definitions)}`
        : "map[string]interface {}";
    case "integer":
      return schema.format ?? "int";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    case "string":
      return schema.format === "byte" ? "[]uint8" : "string";
    default:
      return "interface {}";
  }
}

function refName(schema: Schema | undefined): string | undefined {
  const ref = schema?.$ref ?? (schema?.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  return ref?.slice(ref.lastIndexOf("/") + 1);
}

const shortName = (definition: string): string => definition.slice(definition.lastIndexOf(".") + 1);

const qualifiedName = (definition: string): string => definition.split(".").slice(-2).join(".");
