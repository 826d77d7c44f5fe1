import { isObject, type Json, type JsonObject } from "../json.ts";
import type { FieldError } from "../status-error.ts";
import { correlateList, sameValue } from "./correlate.ts";
import {
  goNumber,
  goQuote,
  invalidValue,
  NO_FIELD,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-errors.ts";
import type { Definitions, Schema } from "./schema.ts";
import { type Plan, planFor } from "./validation-plan.ts";

/**
 * Checks a value against a schema the way the API server checks custom resources: same keywords, same quirks, same
 * words. A schema is compiled once and kept, so that checking costs what the value costs. Must not: default, prune or
 * change anything; list-type uniqueness and embedded resources are in `validate-lists.ts` and `validate-embedded.ts`.
 */
export function validateValue(
  value: Json,
  schema: Schema,
  definitions: Definitions = {},
  path = "",
): readonly FieldError[] {
  const errors: FieldError[] = [];
  check({ plan: planFor(schema, definitions), value, path, old: undefined }, errors);
  return errors;
}

/**
 * As `validateValue`, but what was not changed is not held against the writer: a part that equals its old self passes,
 * even where the schema has become stricter since.
 */
export function validateUpdatedValue(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  definitions: Definitions = {},
): readonly FieldError[] {
  const plain = validateValue(value, schema, definitions);
  if (plain.length === 0 || old === undefined) return plain;
  const errors: FieldError[] = [];
  check({ plan: planFor(schema, definitions), value, path: "", old }, errors);
  return errors;
}

interface Visit {
  readonly plan: Plan;
  readonly value: Json;
  readonly path: string;
  /** The value before the update, where the two can be matched up. */
  readonly old: Json | undefined;
}

/** Appends what is wrong and returns how much was right: alternatives that fail are told apart by it. */
function check(visit: Visit, errors: FieldError[]): number {
  const { plan, value, path, old } = visit;
  if (old !== undefined && sameValue(value, old)) return 1;
  let matched = 1 + checkType(plan, value, path, errors);
  if (value === null) {
    checkEnum(plan, value, path, errors);
    return matched;
  }
  if (plan.hasJunctors) matched += checkJunctors(visit, errors);
  if (typeof value === "string") checkString(plan, value, path, errors);
  else if (typeof value === "number") checkNumber(plan, value, path, errors);
  else if (Array.isArray(value)) matched += checkArray(visit, value, errors);
  checkEnum(plan, value, path, errors);
  if (isObject(value)) matched += checkObject(visit, value, errors);
  return matched;
}

function typeNameOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkType(plan: Plan, value: Json, path: string, errors: FieldError[]): number {
  if (plan.types.length === 0) return 0;
  if (value === null && plan.nullable) return 1;
  const actual = typeNameOf(value);
  if (plan.types.includes(actual) || (actual === "integer" && plan.types.includes("number"))) return 1;
  // The server lets any array pass for a formatted string here, and any string for a formatted array.
  const expected = plan.types.join(",");
  errors.push(typeInvalid(path, actual, `${path} in body must be of type ${expected}: ${goQuote(actual)}`));
  return 0;
}

function checkEnum(plan: Plan, value: Json, path: string, errors: FieldError[]): void {
  if (!plan.enum) return;
  if (plan.enumScalars ? plan.enumScalars.has(value) : plan.enum.some((allowed) => sameValue(allowed, value))) return;
  const supported = plan.enum.map((allowed) => (typeof allowed === "string" ? allowed : JSON.stringify(allowed)));
  errors.push(notSupported(path, value, supported));
}

/** Beyond this a pattern is not tried: matching costs the length of the text times that of the pattern. */
const MAX_MATCHED_LENGTH = 64 * 1024;

function checkString(plan: Plan, value: string, path: string, errors: FieldError[]): void {
  const { maxLength, minLength, pattern, format } = plan;
  if (maxLength !== undefined && value.length > maxLength && characterCount(value) > maxLength) {
    errors.push(tooLong(path, maxLength));
  }
  if (minLength !== undefined && (value.length < minLength || characterCount(value) < minLength)) {
    errors.push(invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`));
  }
  if (pattern) {
    if (value.length > MAX_MATCHED_LENGTH) {
      errors.push(invalidValue(path, "", `${path} in body is too long to be matched against '${pattern.source}'`));
    } else if (!pattern.matches(value)) {
      errors.push(invalidValue(path, value, `${path} in body should match '${pattern.source}'`));
    }
  }
  if (format && !format.check(value)) {
    errors.push(typeInvalid(path, value, `${path} in body must be of type ${format.name}: ${goQuote(value)}`));
  }
}

function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function checkNumber(plan: Plan, value: number, path: string, errors: FieldError[]): void {
  if (plan.outOfRange?.(value)) {
    const format = plan.numberFormat ? `with format ${plan.numberFormat}` : "(default format)";
    const detail = `Checked value must be of type ${plan.types[0]} ${format} in ${path}`;
    errors.push(invalidValue(NO_FIELD, "", detail));
  }
  // The server compares whole numbers with the whole part of the bound.
  const bound = (limit: number): number => (Number.isInteger(value) ? Math.trunc(limit) : limit);
  const refuse = (detail: string): unknown =>
    errors.push(invalidValue(path, value, `${path} in body should be ${detail}`));
  if (plan.multipleOf !== undefined) {
    const factor = bound(plan.multipleOf);
    const ratio = factor < 1 ? (1 / factor) * value : value / factor;
    if (factor <= 0) {
      errors.push(invalidValue(path, factor, `factor MultipleOf declared for ${path} must be positive: 0`));
    } else if (!Number.isInteger(ratio)) refuse(`a multiple of ${goNumber(factor)}`);
  }
  if (plan.maximum !== undefined) {
    const limit = bound(plan.maximum);
    if (plan.exclusiveMaximum ? value >= limit : value > limit) {
      refuse(`less than ${plan.exclusiveMaximum ? "" : "or equal to "}${goNumber(limit)}`);
    }
  }
  if (plan.minimum !== undefined) {
    const limit = bound(plan.minimum);
    if (plan.exclusiveMinimum ? value <= limit : value < limit) {
      refuse(`greater than ${plan.exclusiveMinimum ? "" : "or equal to "}${goNumber(limit)}`);
    }
  }
}

function checkArray(visit: Visit, value: readonly Json[], errors: FieldError[]): number {
  const { plan, path, old } = visit;
  let matched = 1;
  if (plan.items) {
    const oldItem = old === undefined ? undefined : correlateList(plan.schema, old);
    for (let index = 0; index < value.length; index++) {
      const item = value[index] ?? null;
      matched += check({ plan: plan.items, value: item, path: `${path}[${index}]`, old: oldItem?.(item) }, errors);
    }
  }
  if (plan.minItems !== undefined && value.length < plan.minItems) {
    errors.push(invalidValue(path, value.length, `${path} in body should have at least ${plan.minItems} items`));
  }
  if (plan.maxItems !== undefined && value.length > plan.maxItems) {
    errors.push(tooMany(path, value.length, plan.maxItems));
  }
  if (plan.uniqueItems && value.some((item, index) => value.slice(0, index).some((seen) => sameValue(seen, item)))) {
    errors.push(invalidValue(path, "", `${path} in body shouldn't contain duplicates`));
  }
  return matched;
}

function checkObject(visit: Visit, value: JsonObject, errors: FieldError[]): number {
  const { plan, path, old } = visit;
  const oldObject = isObject(old) ? old : undefined;
  let matched = 0;
  if (plan.minProperties !== undefined || plan.maxProperties !== undefined) checkSize(plan, value, path, errors);
  if (plan.additional || plan.closed) {
    for (const [key, item] of Object.entries(value)) {
      if (plan.propertyNames.has(key)) continue;
      if (plan.closed) errors.push(invalidValue(path, key, `${path}.${key} in body is a forbidden property`));
      else if (plan.additional) {
        matched += check(
          { plan: plan.additional, value: item, path: child(path, key), old: own(oldObject, key) },
          errors,
        );
      }
    }
  }
  for (const [name, property] of plan.properties) {
    const item = own(value, name);
    if (item === undefined) continue;
    matched += check({ plan: property, value: item, path: child(path, name), old: own(oldObject, name) }, errors);
  }
  for (const name of plan.required) {
    if (!Object.hasOwn(value, name)) errors.push(required(child(path, name)));
  }
  return matched;
}

function checkSize(plan: Plan, value: JsonObject, path: string, errors: FieldError[]): void {
  const size = Object.keys(value).length;
  if (plan.minProperties !== undefined && size < plan.minProperties) {
    errors.push(invalidValue(path, size, `${path} in body should have at least ${plan.minProperties} properties`));
  }
  if (plan.maxProperties !== undefined && size > plan.maxProperties) {
    errors.push(tooMany(path, size, plan.maxProperties));
  }
}

const child = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

const own = (object: JsonObject | undefined, key: string): Json | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

/** anyOf, oneOf, allOf and not: no ratcheting below them, as on the server. */
function checkJunctors({ plan, value, path }: Visit, errors: FieldError[]): number {
  const tried = (alternatives: readonly Plan[]): readonly Attempt[] =>
    alternatives.map((alternative) => attempt(alternative, value, path));
  let matched = 1;
  if (plan.anyOf.length > 0) {
    const attempts = tried(plan.anyOf);
    const success = attempts.find((one) => one.errors.length === 0);
    if (!success)
      errors.push(composite(`${goQuote(path)} must validate at least one schema (anyOf)`), ...best(attempts));
    matched += success?.matched ?? 0;
  }
  if (plan.oneOf.length > 0) {
    const attempts = tried(plan.oneOf);
    const valid = attempts.filter((one) => one.errors.length === 0);
    if (valid.length !== 1) {
      const found = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
      errors.push(composite(`${goQuote(path)} must validate one and only one schema (oneOf). ${found}`));
      if (valid.length === 0) errors.push(...best(attempts));
    }
    matched += valid[0]?.matched ?? 0;
  }
  if (plan.allOf.length > 0) {
    const attempts = tried(plan.allOf);
    for (const one of attempts) errors.push(...one.errors);
    const failed = attempts.filter((one) => one.errors.length > 0).length;
    const none = failed === attempts.length ? ". None validated" : "";
    if (failed > 0) errors.push(composite(`${goQuote(path)} must validate all the schemas (allOf)${none}`));
    else matched += attempts.reduce((sum, one) => sum + one.matched, 0);
  }
  if (plan.not && attempt(plan.not, value, path).errors.length === 0) {
    errors.push(composite(`${goQuote(path)} must not validate the schema (not)`));
  }
  return matched;
}

interface Attempt {
  readonly errors: readonly FieldError[];
  readonly matched: number;
}

function attempt(plan: Plan, value: Json, path: string): Attempt {
  const errors: FieldError[] = [];
  const matched = check({ plan, value, path, old: undefined }, errors);
  return { errors, matched };
}

/** The alternative that came closest; the first of equals. */
const best = (attempts: readonly Attempt[]): readonly FieldError[] =>
  attempts.reduce((closest, one) => (one.matched > closest.matched ? one : closest)).errors;

const composite = (detail: string): FieldError => invalidValue(NO_FIELD, "", detail);
