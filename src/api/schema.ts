import { MAX_DURATION_MS } from "../base/duration.ts";
import { MAX_NAME_LENGTH, MAX_NAMESPACE_LENGTH, NAME_PATTERN, NAMESPACE_PATTERN } from "../base/object-names.ts";
import { type DurationRange, durationRules, MAX_DURATION_LENGTH, type Rule } from "./duration-rules.ts";

/**
 * The few words the kinds' schemas are written in: plain OpenAPI values, so that a CRD reads like its documentation.
 * Must not: know a kind.
 */
export type SchemaNode = Readonly<Record<string, unknown>>;

interface ObjectOptions {
  readonly required?: readonly string[];
  readonly description?: string;
  readonly rules?: readonly Rule[];
  readonly default?: unknown;
}

export const object = (properties: Readonly<Record<string, SchemaNode>>, options: ObjectOptions = {}): SchemaNode => ({
  type: "object",
  ...(options.description && { description: options.description }),
  ...(options.default !== undefined && { default: options.default }),
  properties,
  ...(options.required && { required: options.required }),
  ...(options.rules && { "x-kubernetes-validations": options.rules }),
});

export const text = (description: string, more: SchemaNode = {}): SchemaNode => ({
  type: "string",
  description,
  ...more,
});

export const integer = (description: string, more: SchemaNode = {}): SchemaNode => ({
  type: "integer",
  format: "int64",
  description,
  ...more,
});

export const instant = (description: string): SchemaNode => text(description, { format: "date-time" });

export const oneOf = (description: string, values: readonly string[], more: SchemaNode = {}): SchemaNode =>
  text(description, { enum: values, ...more });

export const list = (items: SchemaNode, description: string, more: SchemaNode = {}): SchemaNode => ({
  type: "array",
  description,
  items,
  ...more,
});

export const textMap = (description: string): SchemaNode => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});

/** Anything at all, kept as it was written. */
export const anything = (description: string): SchemaNode => ({
  type: "object",
  description,
  "x-kubernetes-preserve-unknown-fields": true,
});

/** A name of an object, as Kubernetes allows it. */
export const objectName = (description: string): SchemaNode =>
  text(description, { minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: NAME_PATTERN });

/** A name of a namespace, which is a part of a host name. */
export const namespaceName = (description: string): SchemaNode =>
  text(description, { minLength: 1, maxLength: MAX_NAMESPACE_LENGTH, pattern: NAMESPACE_PATTERN });

/** A Go duration, with days and weeks: `336h`, `14d`, `1h30m`. */
export const duration = (description: string, range: DurationRange = ANY_LENGTH): SchemaNode =>
  text(description, { maxLength: MAX_DURATION_LENGTH, "x-kubernetes-validations": durationRules(range) });

const ANY_LENGTH: DurationRange = {
  minMs: 1,
  maxMs: MAX_DURATION_MS,
  message: "must be at least a microsecond (1us) and at most 100 years (36525d)",
};
