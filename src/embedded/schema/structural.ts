import type { FieldError } from "../status-error.ts";
import { forbidden, invalidValue, required } from "./field-errors.ts";
import { compilePattern } from "./pattern.ts";
import type { Schema } from "./schema.ts";

type Level = "root" | "item" | "field";

/**
 * Checks that a schema is structural, as a CRD's must be: a type at every node, and below allOf, anyOf, oneOf and not
 * only what checks values. Worded and sorted as the API server does. Must not: check keywords one by one; that is
 * `definition-schema.ts`.
 */
export function validateStructural(schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  checkNode(schema, "root", path, errors);
  const text = (error: FieldError): string => `${error.field}: ${error.message}`;
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkNode(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  if (schema.type === "array" && schema.items === undefined)
    errors.push(required(`${path}.items`, "must be specified"));
  if (schema.items) checkNode(schema.items, "item", `${path}.items`, errors);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    checkNode(property, "field", `${path}.properties[${key}]`, errors);
  }
  if (schema.additionalProperties !== undefined) checkAdditional(schema, level, path, errors);
  checkExtensions(schema, path, errors);
  checkType(schema, level, path, errors);
  checkMetaFields(schema, level, path, errors);
  const isIntOrString = isIntOrStringPair(schema.anyOf);
  checkValidation(schema, path, errors, {
    skipAnyOf: isIntOrString,
    skipFirstAllOf: isIntOrStringPair(schema.allOf?.[0]?.anyOf),
  });
}

function checkAdditional(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const at = `${path}.additionalProperties`;
  if (level === "root") errors.push(forbidden(at, "must not be used at the root"));
  if (schema["x-kubernetes-embedded-resource"]) {
    errors.push(forbidden(at, "must not be used if x-kubernetes-embedded-resource is set"));
  }
  if (typeof schema.additionalProperties === "object") checkNode(schema.additionalProperties, "field", at, errors);
}

function checkExtensions(schema: Schema, path: string, errors: FieldError[]): void {
  if (!schema["x-kubernetes-int-or-string"]) return;
  for (const key of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
    if (schema[key])
      errors.push(invalidValue(`${path}.${key}`, true, "must be false if x-kubernetes-int-or-string is true"));
  }
}

function checkType(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { type = "" } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  if (isEmbedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail));
  } else if (type === "" && !schema["x-kubernetes-int-or-string"] && !schema["x-kubernetes-preserve-unknown-fields"]) {
    errors.push(required(`${path}.type`, EMPTY_TYPE[level]));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalidValue(`${path}.type`, type, "must be object at the root"));
  }
  const isEmpty = Object.keys(schema.properties ?? {}).length === 0;
  if (isEmbedded && !schema["x-kubernetes-preserve-unknown-fields"] && isEmpty) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, detail));
  }
}

/** apiVersion, kind and metadata are the server's: a schema may restrict names and nothing else. */
function checkMetaFields(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  const properties = schema.properties ?? {};
  for (const key of ["kind", "apiVersion"] as const) {
    const property = properties[key];
    if (isResource && property && property.type !== "string") {
      errors.push(invalidValue(`${path}.properties[${key}].type`, property.type ?? "", "must be string"));
    }
  }
  const metadata = properties.metadata;
  if (!metadata) return;
  const at = `${path}.properties[metadata]`;
  if (isResource && metadata.type !== "object") {
    errors.push(invalidValue(`${at}.type`, metadata.type ?? "", "must be object"));
  }
  if (level === "root" && !restrictsNamesOnly(metadata)) {
    const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    errors.push(forbidden(at, detail));
  }
}

function restrictsNamesOnly(metadata: Schema): boolean {
  const { type: _type, properties = {}, default: _default, ...rest } = metadata;
  const isNamesOnly = Object.keys(properties).every((key) => key === "name" || key === "generateName");
  return isNamesOnly && Object.keys(rest).length === 0;
}

const isIntOrStringPair = (alternatives: readonly Schema[] | undefined): boolean =>
  alternatives?.length === 2 &&
  ["integer", "string"].every((type, index) => {
    const one = alternatives[index];
    return one?.type === type && Object.keys(one).length === 1;
  });

interface Skips {
  readonly skipAnyOf?: boolean;
  readonly skipFirstAllOf?: boolean;
}

function checkValidation(schema: Schema, path: string, errors: FieldError[], skips: Skips = {}): void {
  if (!skips.skipAnyOf) each(schema.anyOf, (one, index) => checkNested(one, `${path}.anyOf[${index}]`, errors));
  each(schema.allOf, (one, index) => {
    checkNested(one, `${path}.allOf[${index}]`, errors, { skipAnyOf: index === 0 && skips.skipFirstAllOf === true });
  });
  each(schema.oneOf, (one, index) => checkNested(one, `${path}.oneOf[${index}]`, errors));
  if (schema.not) checkNested(schema.not, `${path}.not`, errors);
  if (schema.pattern) {
    const compiled = compilePattern(schema.pattern);
    if (!compiled.ok) {
      const detail = `must be a valid regular expression, but isn't: ${compiled.reason}`;
      errors.push(invalidValue(`${path}.pattern`, schema.pattern, detail));
    }
  }
}

const each = (some: readonly Schema[] | undefined, visit: (one: Schema, index: number) => void): void =>
  (some ?? []).forEach(visit);

/** What may not stand below a junctor, and how the server says so. */
const FORBIDDEN_BELOW: readonly (readonly [keyof Schema, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function checkNested(schema: Schema, path: string, errors: FieldError[], skips: Skips = {}): void {
  checkValidation(schema, path, errors, skips);
  if (schema.items) checkNested(schema.items, `${path}.items`, errors);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    checkNested(property, `${path}.properties[${key}]`, errors);
    if (key === "metadata") {
      errors.push(forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"));
    }
  }
  for (const [keyword, detail] of FORBIDDEN_BELOW) {
    const held = schema[keyword];
    const isEmpty = held === undefined || held === false || held === "" || (Array.isArray(held) && held.length === 0);
    if (!isEmpty) errors.push(forbidden(`${path}.${keyword}`, detail));
  }
}
