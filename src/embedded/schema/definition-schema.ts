import type { Json, JsonObject } from "../json.ts";
import type { FieldError } from "../status-error.ts";
import { parseFieldPath } from "./cel/field-path.ts";
import { rulesOf, validateRules } from "./cel/validate-rules.ts";
import { sameValue } from "./correlate.ts";
import { forbidden, goQuote, invalidRendered, invalidValue, NO_FIELD, notSupported, required } from "./field-errors.ts";
import { META_FIELDS } from "./object-meta.ts";
import { prune } from "./prune.ts";
import type { Schema, ValidationRule } from "./schema.ts";
import { validateStructural } from "./structural.ts";
import { validateValue } from "./validate.ts";
import { validateEmbedded } from "./validate-embedded.ts";
import { validateListTypes } from "./validate-lists.ts";

/**
 * Checks the schema of one version of a CRD, as the API server does before it takes it: structure, keywords, defaults,
 * and rules, which must compile. Must not: look at anything of the CRD but the schema.
 */
export function validateDefinitionSchema(schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema.nullable) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  const structural = usesUnsupportedKeyword(schema) ? [] : validateStructural(schema, path);
  const defaults =
    structural.length === 0 ? defaultProblems(schema, path, { isResourceRoot: true, insideMeta: false }) : [];
  const keywords: FieldError[] = [];
  checkNode({ schema, path, isRoot: true, defaultsForbidden: undefined, insideMeta: false }, keywords);
  errors.push(...structural, ...defaults, ...keywords);
  if (errors.length > 0) return errors;
  checkRules({ schema, path, isResourceRoot: true, uncorrelatable: undefined }, errors);
  if (errors.length > 0) return errors;
  return defaultRuleProblems(schema, path, true);
}

/** Such a schema cannot be read as a structural one, and is only told so. */
const usesUnsupportedKeyword = (schema: Schema): boolean =>
  UNSUPPORTED_KEYWORDS.some((keyword) => keyword in schema) || subschemasOf(schema).some(usesUnsupportedKeyword);

function subschemasOf(schema: Schema): readonly Schema[] {
  const { items, not, additionalProperties, properties = {}, allOf = [], anyOf = [], oneOf = [] } = schema;
  const single = [items, not, typeof additionalProperties === "object" ? additionalProperties : undefined];
  return [...single.filter((one) => one !== undefined), ...Object.values(properties), ...allOf, ...anyOf, ...oneOf];
}

interface Node {
  readonly schema: Schema;
  readonly path: string;
  readonly isRoot: boolean;
  /** Why defaults may not be set here; empty text for no particular reason. */
  readonly defaultsForbidden: string | undefined;
  readonly insideMeta: boolean;
}

const TYPES: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

/** Keywords that OpenAPI has and structural schemas do not. */
const UNSUPPORTED_KEYWORDS: readonly string[] = [
  "id",
  "additionalItems",
  "patternProperties",
  "definitions",
  "dependencies",
  "$ref",
];

function checkNode(node: Node, errors: FieldError[]): void {
  const { schema, path } = node;
  checkKeywords(node, errors);
  if (schema.uniqueItems) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, detail));
  }
  const additional = schema.additionalProperties;
  if (additional !== undefined && additional !== true && Object.keys(schema.properties ?? {}).length > 0) {
    const detail = "additionalProperties and properties are mutual exclusive";
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  checkChildren(node, errors);
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  checkMapType(schema, path, errors);
  checkListType(schema, path, errors);
  schema["x-kubernetes-validations"]?.forEach((rule, index) => {
    checkRuleText(rule, schema, `${path}.x-kubernetes-validations[${index}]`, errors);
  });
}

function checkKeywords({ schema, path, defaultsForbidden, insideMeta }: Node, errors: FieldError[]): void {
  if (schema.type !== undefined && !TYPES.includes(schema.type)) {
    errors.push(notSupported(`${path}.type`, schema.type, TYPES));
  }
  if (schema.default !== undefined && defaultsForbidden !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${defaultsForbidden}`.trim()));
  }
  for (const keyword of UNSUPPORTED_KEYWORDS) {
    if (keyword in schema) errors.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
  }
  if (insideMeta && schema["x-kubernetes-embedded-resource"]) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  }
}

function checkChildren(node: Node, errors: FieldError[]): void {
  const { schema, path } = node;
  const inner: Node = { ...node, isRoot: false };
  if (typeof schema.additionalProperties === "object") {
    const defaultsForbidden = node.insideMeta
      ? "inside additionalProperties applying to object metadata"
      : node.defaultsForbidden;
    checkNode(
      { ...inner, schema: schema.additionalProperties, path: `${path}.additionalProperties`, defaultsForbidden },
      errors,
    );
  }
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = (node.isRoot || schema["x-kubernetes-embedded-resource"] === true) && META_FIELDS.has(key);
    checkNode(
      {
        ...inner,
        schema: property,
        path: `${path}.properties[${key}]`,
        insideMeta: node.insideMeta || isMeta,
        defaultsForbidden: isMeta && node.isRoot ? `in top-level ${key}` : node.defaultsForbidden,
      },
      errors,
    );
  }
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const) {
    schema[junctor]?.forEach((one, index) => {
      checkNode({ ...inner, schema: one, path: `${path}.${junctor}[${index}]` }, errors);
    });
  }
  if (schema.not) checkNode({ ...inner, schema: schema.not, path: `${path}.not` }, errors);
  if (schema.items) checkNode({ ...inner, schema: schema.items, path: `${path}.items` }, errors);
}

function checkMapType(schema: Schema, path: string, errors: FieldError[]): void {
  const mapType: string | undefined = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return;
  if (schema.type !== "object") {
    errors.push(wrongType(schema, path, "must be object if x-kubernetes-map-type is specified"));
  }
  if (mapType !== "atomic" && mapType !== "granular") {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
}

const wrongType = (schema: Schema, path: string, detail: string): FieldError =>
  schema.type === undefined ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, schema.type, detail);

function checkListType(schema: Schema, path: string, errors: FieldError[]): void {
  const listType: string | undefined = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const at = `${path}.x-kubernetes-list-type`;
  if (listType !== undefined && schema.type !== "array") {
    errors.push(wrongType(schema, path, "must be array if x-kubernetes-list-type is specified"));
  } else if (listType === "set" && schema.items) checkSetItems(schema.items, `${path}.items`, errors);
  if (listType !== undefined && !["atomic", "set", "map"].includes(listType)) {
    errors.push(notSupported(at, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.push(listType === undefined ? required(at, detail) : invalidValue(at, listType, detail));
  }
  if (listType === "map") checkMapKeys(schema, keys, path, errors);
  if ((listType === "map" || listType === "set") && schema.items?.nullable) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
}

function checkSetItems(items: Schema, path: string, errors: FieldError[]): void {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    errors.push(invalidValue(`${path}.x-kubernetes-list-type`, listType, detail));
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    errors.push(invalidValue(`${path}.x-kubernetes-map-type`, null, detail));
  }
}

function checkMapKeys(schema: Schema, keys: readonly string[], path: string, errors: FieldError[]): void {
  const at = `${path}.x-kubernetes-list-map-keys`;
  const { items } = schema;
  if (keys.length === 0) errors.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
  if (!items) {
    errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
    return;
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalidValue(`${path}.items.type`, items.type ?? "", detail));
    return;
  }
  const properties = items.properties ?? {};
  for (const [index, key] of keys.entries()) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) errors.push(invalidValue(at, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidValue(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (keys.indexOf(key) < index) errors.push(invalidValue(at, keys, "must not contain duplicate entries"));
  }
  checkKeysPresent(items, keys, `${path}.items.properties`, errors);
}

function checkKeysPresent(items: Schema, keys: readonly string[], path: string, errors: FieldError[]): void {
  for (const key of keys) {
    const property = items.properties?.[key];
    if (!property) continue;
    if (!items.required?.includes(key) && property.default === undefined) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      errors.push(required(`${path}[${key}].default`, detail));
    }
    if (property.nullable) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      errors.push(forbidden(`${path}[${key}].nullable`, detail));
    }
  }
}

const REASONS: readonly string[] = [
  "FieldValueDuplicate",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueRequired",
];
const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

function checkRuleText(rule: ValidationRule, schema: Schema, path: string, errors: FieldError[]): void {
  const { message, messageExpression, reason, fieldPath } = rule;
  const text = (rule.rule ?? "").trim();
  if (text === "") errors.push(required(`${path}.rule`, "rule is not specified"));
  else if (message && message.trim() === "") {
    errors.push(invalidValue(`${path}.message`, message, "must be non-empty if specified"));
  } else if (message && hasLineBreak(message.trim())) {
    errors.push(invalidValue(`${path}.message`, message, "must not contain line breaks"));
  } else if (hasLineBreak(text) && !message) {
    errors.push(required(`${path}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression && messageExpression.trim() === "") {
    errors.push(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, REASONS));
  if (!fieldPath) return;
  if (fieldPath.trim() === "")
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must be non-empty if specified"));
  if (hasLineBreak(fieldPath))
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must not contain line breaks"));
  if (!parseFieldPath(fieldPath, schema, { allowBrackets: true }).ok) {
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must be a valid path"));
  }
}

interface RuleNode {
  readonly schema: Schema;
  readonly path: string;
  readonly isResourceRoot: boolean;
  /** Where the first ancestor stands whose parts have no past; rules below cannot use oldSelf. */
  readonly uncorrelatable: string | undefined;
}

function checkRules(node: RuleNode, errors: FieldError[]): void {
  const { schema, path, uncorrelatable } = node;
  const at = `${path}.x-kubernetes-validations`;
  const compiled = schema["x-kubernetes-validations"]?.length ? rulesOf(schema, node.isResourceRoot) : undefined;
  if (schema["x-kubernetes-validations"]?.length && !compiled) {
    errors.push(invalidValue(at, "", "rules cannot see fields whose type is not specified"));
  }
  for (const [index, rule] of (compiled?.rules ?? []).entries()) {
    const shown = renderRule(rule.rule);
    if (rule.error) errors.push(invalidRendered(`${at}[${index}].rule`, shown, rule.error));
    if (rule.messageError) errors.push(invalidRendered(`${at}[${index}].messageExpression`, shown, rule.messageError));
    if (rule.usesOldSelf && uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      errors.push(invalidValue(`${at}[${index}].rule`, rule.rule.rule, detail));
    } else if (!rule.usesOldSelf && !rule.error && rule.rule.optionalOldSelf !== undefined) {
      const detail = "may not be set if oldSelf is not used in rule";
      errors.push(invalidValue(`${at}[${index}].optionalOldSelf`, rule.rule.optionalOldSelf, detail));
    }
  }
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    checkRules({ schema: property, path: `${path}.properties[${key}]`, isResourceRoot: false, uncorrelatable }, errors);
  }
  if (typeof schema.additionalProperties === "object") {
    const next = { schema: schema.additionalProperties, path: `${path}.additionalProperties` };
    checkRules({ ...next, isResourceRoot: false, uncorrelatable }, errors);
  }
  if (schema.items) {
    const isCorrelatable = schema["x-kubernetes-list-type"] === "map";
    const next = { schema: schema.items, path: `${path}.items`, isResourceRoot: false };
    checkRules({ ...next, uncorrelatable: uncorrelatable ?? (isCorrelatable ? undefined : path) }, errors);
  }
}

/** The rule as the server prints it, with its own names and order. */
function renderRule(rule: ValidationRule): string {
  const { message = "", messageExpression = "", fieldPath = "", reason, optionalOldSelf } = rule;
  const texts = [
    ["Rule", rule.rule],
    ["Message", message],
    ["MessageExpression", messageExpression],
  ] as const;
  const head = texts.map(([name, text]) => `"${name}":${JSON.stringify(text)}`).join(",");
  const shownReason = reason === undefined ? "null" : goQuote(reason);
  return `{${head},"Reason":${shownReason},"FieldPath":${JSON.stringify(fieldPath)},"OptionalOldSelf":${optionalOldSelf ?? "null"}}`;
}

interface Place {
  readonly isResourceRoot: boolean;
  readonly insideMeta: boolean;
}

function defaultProblems(schema: Schema, path: string, place: Place): readonly FieldError[] {
  const errors: FieldError[] = [];
  const isResource = place.isResourceRoot || schema["x-kubernetes-embedded-resource"] === true;
  if (schema.default !== undefined)
    errors.push(...oneDefaultProblems(schema, `${path}.default`, { ...place, isResourceRoot: isResource }));
  if (schema.items) errors.push(...defaultProblems(schema.items, `${path}.items`, { ...place, isResourceRoot: false }));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const insideMeta = isResource ? META_FIELDS.has(key) : place.insideMeta;
    errors.push(...defaultProblems(property, `${path}.properties[${key}]`, { isResourceRoot: false, insideMeta }));
  }
  return errors;
}

function oneDefaultProblems(schema: Schema, path: string, place: Place): readonly FieldError[] {
  const value = schema.default as Json;
  const errors: FieldError[] = [];
  if (!place.insideMeta && !sameValue(prune(value, schema, { isResourceRoot: place.isResourceRoot }), value)) {
    errors.push(invalidValue(path, value, "must not have unknown fields"));
  }
  const resource: Schema = place.isResourceRoot ? { ...schema, "x-kubernetes-embedded-resource": true } : schema;
  const embedded = validateEmbedded(value, resource);
  const found = embedded.length > 0 ? embedded : [...validateValue(value, schema), ...validateListTypes(value, schema)];
  return [...errors, ...found.map((error) => below(error, path))];
}

/** Defaults must pass the rules of their own schema, too; run once all rules are known to compile. */
function defaultRuleProblems(schema: Schema, path: string, isResourceRoot: boolean): readonly FieldError[] {
  const own =
    schema.default === undefined
      ? []
      : validateRules(schema.default as JsonObject, undefined, schema, isResourceRoot).map((error) =>
          below(error, `${path}.default`),
        );
  const items = schema.items ? defaultRuleProblems(schema.items, `${path}.items`, false) : [];
  const properties = Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
    defaultRuleProblems(property, `${path}.properties[${key}]`, false),
  );
  return [...own, ...items, ...properties];
}

const below = (error: FieldError, path: string): FieldError => ({
  ...error,
  field: error.field === NO_FIELD ? path : `${path}.${error.field}`,
});
