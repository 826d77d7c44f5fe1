import { Optional } from "@marcbachmann/cel-js";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import type { FieldError } from "../../status-error.ts";
import { correlateList, sameValue } from "../correlate.ts";
import {
  duplicate,
  duplicateWithoutValue,
  forbidden,
  invalidValue,
  invalidWithoutValue,
  required,
} from "../field-errors.ts";
import type { Schema, ValidationRule } from "../schema.ts";
import { type CompiledRule, type CompiledRules, compileRules } from "./compile-rule.ts";
import { isTooExpensive } from "./cost.ts";
import { describeEvaluationError, usableMessage } from "./evaluation-text.ts";
import { normalizeFieldPath } from "./field-path.ts";

/**
 * Evaluates `x-kubernetes-validations` at every level of a value that has already passed its schema. Rules are compiled
 * once per schema and kept. `old` is the value before an update: rules that mention `oldSelf` run only where it has a
 * counterpart, and a part that was not changed is not held against the writer. Must not: run on values that do not fit
 * their schema; the types of a rule would be lies.
 */
export function validateRules(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  isResourceRoot = true,
): readonly FieldError[] {
  if (!holdsRules(schema)) return [];
  const run: Run = { errors: [], stopped: false };
  visit({ value, old, schema, path: "", isResourceRoot, oldForRatchet: old }, run);
  return run.errors;
}

interface Run {
  readonly errors: FieldError[];
  /** Set when a rule got too expensive: no further ones are run. */
  stopped: boolean;
}

interface Visit {
  readonly value: Json;
  readonly old: Json | undefined;
  readonly schema: Schema;
  readonly path: string;
  readonly isResourceRoot: boolean;
  /** The nearest counterpart, kept below lists that cannot be matched up item by item. */
  readonly oldForRatchet: Json | undefined;
}

const ruleHolders = new WeakMap<Schema, boolean>();

export function holdsRules(schema: Schema): boolean {
  const known = ruleHolders.get(schema);
  if (known !== undefined) return known;
  const additional = schema.additionalProperties;
  const holds =
    (schema["x-kubernetes-validations"]?.length ?? 0) > 0 ||
    Object.values(schema.properties ?? {}).some(holdsRules) ||
    (schema.items !== undefined && holdsRules(schema.items)) ||
    (typeof additional === "object" && holdsRules(additional));
  ruleHolders.set(schema, holds);
  return holds;
}

const compiledRules = new WeakMap<
  Schema,
  { readonly root: CompiledRules | undefined } | { readonly node: CompiledRules | undefined }
>();

/** The rules of one node, compiled; a schema object is either a root or a node, never both. */
export function rulesOf(schema: Schema, isResourceRoot: boolean): CompiledRules | undefined {
  const known = compiledRules.get(schema);
  if (known && isResourceRoot && "root" in known) return known.root;
  if (known && !isResourceRoot && "node" in known) return known.node;
  const compiled = compileRules(schema, isResourceRoot);
  compiledRules.set(schema, isResourceRoot ? { root: compiled } : { node: compiled });
  return compiled;
}

function visit(at: Visit, run: Run): void {
  const { value, schema } = at;
  if (value === null || run.stopped || !holdsRules(schema)) return;
  if (schema["x-kubernetes-validations"]?.length) runRules(at, run);
  if (Array.isArray(value)) visitItems(at, value, run);
  else if (isObject(value)) visitFields(at, value, run);
}

function visitItems(at: Visit, list: readonly Json[], run: Run): void {
  const { schema, old, path, oldForRatchet } = at;
  if (!schema.items || !holdsRules(schema.items)) return;
  const oldItem = old === undefined ? undefined : correlateList(schema, old);
  const unchanged = sameValue(list, oldForRatchet);
  for (const [index, value] of list.entries()) {
    const before = oldItem?.(value);
    visit(
      {
        value,
        old: before,
        schema: schema.items,
        path: `${path}[${index}]`,
        isResourceRoot: false,
        oldForRatchet: unchanged ? value : before,
      },
      run,
    );
  }
}

function visitFields(at: Visit, object: JsonObject, run: Run): void {
  const { schema, path } = at;
  const { properties, additionalProperties } = schema;
  const old = isObject(at.old) ? at.old : undefined;
  const ratchet = isObject(at.oldForRatchet) ? at.oldForRatchet : undefined;
  for (const [key, value] of Object.entries(object)) {
    const known = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const each = typeof additionalProperties === "object" ? additionalProperties : undefined;
    const next = known ?? each;
    if (!next) continue;
    const childPath = known ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`;
    const before = old && Object.hasOwn(old, key) ? old[key] : undefined;
    const oldForRatchet = ratchet && Object.hasOwn(ratchet, key) ? ratchet[key] : undefined;
    visit({ value, old: before, schema: next, path: childPath, isResourceRoot: false, oldForRatchet }, run);
  }
}

function runRules(at: Visit, run: Run): void {
  const compiled = rulesOf(at.schema, at.isResourceRoot);
  if (!compiled) {
    run.errors.push(
      invalidWithoutValue(at.path, "rule compiler initialization error: the schema cannot be seen by rules"),
    );
    return;
  }
  const self = once(() => compiled.type.toCel(at.value));
  const oldSelf = once(() => (at.old === undefined || at.old === null ? undefined : compiled.type.toCel(at.old)));
  const unchanged = once(() => at.oldForRatchet !== undefined && sameValue(at.value, at.oldForRatchet));
  for (const rule of compiled.rules) {
    if (run.stopped) return;
    const isOptional = rule.rule.optionalOldSelf === true;
    if (rule.usesOldSelf && !isOptional && (at.old === undefined || at.old === null)) continue;
    // What it says about a value that stays as it is does not count; only one that costs too much still stops the others.
    if (!rule.usesOldSelf && rule.loopDepth <= 1 && unchanged()) continue;
    const error = runRule(rule, at, run, () => contextOf(self(), oldSelf(), isOptional));
    if (error && (rule.usesOldSelf || !unchanged())) run.errors.push(error);
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function contextOf(self: unknown, oldSelf: unknown, isOptional: boolean): Record<string, unknown> {
  if (isOptional) return { self, oldSelf: oldSelf === undefined ? Optional.none() : Optional.of(oldSelf) };
  return oldSelf === undefined ? { self } : { self, oldSelf };
}

function runRule(
  rule: CompiledRule,
  at: Visit,
  run: Run,
  context: () => Record<string, unknown>,
): FieldError | undefined {
  if (rule.error !== undefined || !rule.evaluate) return refused(at, `rule compile error: ${rule.error}`);
  if (isTooExpensive(rule.loopDepth, at.value)) {
    run.stopped = true;
    const limit = "operation cancelled: actual cost limit exceeded";
    return refused(
      at,
      `'${limit}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule.rule)}`,
    );
  }
  let passed: unknown;
  try {
    passed = rule.evaluate(context());
  } catch (error) {
    return refused(at, describeFailure(error, rule.rule));
  }
  if (passed === true) return undefined;
  const detail =
    messageFrom(rule, context) ??
    (rule.rule.message === undefined ? `failed rule: ${ruleText(rule.rule)}` : rule.rule.message.trim());
  return errorFor(rule.rule, at, detail);
}

const refused = (at: Visit, detail: string): FieldError => invalidValue(at.path, at.schema.type ?? "", detail);

const ruleText = (rule: ValidationRule): string => (rule.message || rule.rule).trim();

function describeFailure(error: unknown, rule: ValidationRule): string {
  const text = describeEvaluationError(error);
  if (/^(?:no such overload|found no matching overload)/.test(text)) {
    return `'no such overload': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`;
  }
  return `${text} evaluating rule: ${ruleText(rule)}`;
}

/** A message expression that fails or gives nothing usable is passed over: the rule's plain message stands in. */
function messageFrom(rule: CompiledRule, context: () => Record<string, unknown>): string | undefined {
  if (!rule.evaluateMessage) return undefined;
  try {
    return usableMessage(rule.evaluateMessage(context()));
  } catch {
    return undefined;
  }
}

function errorFor(rule: ValidationRule, at: Visit, detail: string): FieldError {
  const relative = rule.fieldPath === undefined ? undefined : normalizeFieldPath(rule.fieldPath, at.schema);
  const path = relative === undefined ? at.path : at.path === "" ? relative : `${at.path}.${relative}`;
  const showsValue = at.schema.type !== "object" && at.schema.type !== "array";
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(path, detail);
    case "FieldValueRequired":
      return required(path, detail);
    case "FieldValueDuplicate":
      return showsValue ? duplicate(path, at.value) : duplicateWithoutValue(path);
    default:
      return showsValue ? invalidValue(path, at.value, detail) : invalidWithoutValue(path, detail);
  }
}
