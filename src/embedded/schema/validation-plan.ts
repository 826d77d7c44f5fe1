import type { Json } from "../json.ts";
import { formatCheck } from "./formats.ts";
import { compilePattern } from "./pattern.ts";
import { type Definitions, resolveSchema, type Schema } from "./schema.ts";

/**
 * A schema made ready for checking: references followed, patterns compiled, formats looked up, properties as a list.
 * Made once per schema object and kept as long as that object lives. Must not: look at values.
 */
export interface Plan {
  readonly schema: Schema;
  /** Empty: any type. */
  readonly types: readonly string[];
  readonly nullable: boolean;
  readonly enum: readonly Json[] | undefined;
  /** Set when all allowed values are scalars: then membership is a look-up. */
  readonly enumScalars: ReadonlySet<unknown> | undefined;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: { readonly source: string; readonly matches: (text: string) => boolean } | undefined;
  readonly format: { readonly name: string; readonly check: (text: string) => boolean } | undefined;
  readonly numberFormat: string | undefined;
  readonly outOfRange: ((value: number) => boolean) | undefined;
  readonly multipleOf: number | undefined;
  readonly maximum: number | undefined;
  readonly minimum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly exclusiveMinimum: boolean;
  readonly items: Plan | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly properties: readonly (readonly [string, Plan])[];
  readonly propertyNames: ReadonlySet<string>;
  readonly additional: Plan | undefined;
  /** additionalProperties: false. */
  readonly closed: boolean;
  readonly required: readonly string[];
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly hasJunctors: boolean;
  readonly anyOf: readonly Plan[];
  readonly oneOf: readonly Plan[];
  readonly allOf: readonly Plan[];
  readonly not: Plan | undefined;
}

type Plans = WeakMap<Schema, Plan>;

const plansByDefinitions = new WeakMap<Definitions, Plans>();
const NO_DEFINITIONS: Definitions = {};

export function planFor(schema: Schema, definitions: Definitions): Plan {
  const plans = plansByDefinitions.get(definitions) ?? plansIn(definitions);
  return plans.get(schema) ?? compile(schema, definitions, plans);
}

/** All empty sets of definitions are one: a caller may well pass a new one each time. */
function plansIn(definitions: Definitions): Plans {
  const scope = Object.keys(definitions).length === 0 ? NO_DEFINITIONS : definitions;
  const plans = plansByDefinitions.get(scope) ?? new WeakMap<Schema, Plan>();
  plansByDefinitions.set(scope, plans);
  return plans;
}

/** The plan is known before its children are compiled, so that schemas that contain themselves end. */
function compile(source: Schema, definitions: Definitions, plans: Plans): Plan {
  const schema = resolveSchema(source, definitions) ?? {};
  const plan: { -readonly [K in keyof Plan]: Plan[K] } = { ...scalarPlan(schema), ...EMPTY_CHILDREN, schema };
  plans.set(source, plan);
  const sub = (one: Schema): Plan => plans.get(one) ?? compile(one, definitions, plans);
  const all = (some: readonly Schema[] | undefined): readonly Plan[] => (some ?? []).map(sub);
  const additional = schema.additionalProperties;
  plan.items = schema.items && sub(schema.items);
  plan.properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [name, sub(property)] as const);
  plan.propertyNames = new Set(Object.keys(schema.properties ?? {}));
  plan.additional = typeof additional === "object" ? sub(additional) : undefined;
  plan.closed = additional === false;
  plan.anyOf = all(schema.anyOf);
  plan.oneOf = all(schema.oneOf);
  plan.allOf = all(schema.allOf);
  plan.not = schema.not && sub(schema.not);
  plan.hasJunctors = plan.anyOf.length + plan.oneOf.length + plan.allOf.length > 0 || plan.not !== undefined;
  return plan;
}

type Children =
  | "items"
  | "properties"
  | "propertyNames"
  | "additional"
  | "closed"
  | "anyOf"
  | "oneOf"
  | "allOf"
  | "not";

const EMPTY_CHILDREN: Pick<Plan, Children | "hasJunctors"> = {
  items: undefined,
  properties: [],
  propertyNames: new Set(),
  additional: undefined,
  closed: false,
  anyOf: [],
  oneOf: [],
  allOf: [],
  not: undefined,
  hasJunctors: false,
};

function scalarPlan(schema: Schema): Omit<Plan, Children | "hasJunctors" | "schema"> {
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const allowed = schema.enum as readonly Json[] | undefined;
  const numberFormat = intOrString ? undefined : numberFormatOf(schema);
  return {
    types: intOrString ? ["integer", "string"] : schema.type ? [schema.type] : [],
    nullable: schema.nullable === true,
    enum: allowed,
    enumScalars: allowed?.every((value) => typeof value !== "object") ? new Set<unknown>(allowed) : undefined,
    maxLength: schema.maxLength,
    minLength: schema.minLength,
    pattern: schema.pattern ? compiledPattern(schema.pattern) : undefined,
    format: stringFormatOf(schema),
    numberFormat,
    outOfRange: intOrString ? undefined : rangeCheck(schema.type, numberFormat),
    multipleOf: schema.multipleOf,
    maximum: schema.maximum,
    minimum: schema.minimum,
    exclusiveMaximum: schema.exclusiveMaximum === true,
    exclusiveMinimum: schema.exclusiveMinimum === true,
    minItems: schema.minItems,
    maxItems: schema.maxItems,
    uniqueItems: schema.uniqueItems === true,
    required: schema.required ?? [],
    minProperties: schema.minProperties,
    maxProperties: schema.maxProperties,
  };
}

/** A pattern that cannot be compiled is refused when the CRD is made; if one is met anyway, nothing matches it. */
function compiledPattern(source: string): Plan["pattern"] {
  const compiled = compilePattern(source);
  return { source, matches: compiled.ok ? compiled.matches : () => false };
}

function stringFormatOf(schema: Schema): Plan["format"] {
  if (!schema.format || (schema.type !== undefined && schema.type !== "string")) return undefined;
  const check = formatCheck(schema.format);
  return check && { name: schema.format, check };
}

function numberFormatOf(schema: Schema): string | undefined {
  const known = schema.type === "integer" ? ["int32", "int64"] : schema.type === "number" ? ["float", "double"] : [];
  return schema.format && known.includes(schema.format) ? schema.format : undefined;
}

function rangeCheck(type: Schema["type"], format: string | undefined): Plan["outOfRange"] {
  if (type === "integer") {
    const bits = format === "int32" ? 31 : 63;
    return (value) => !Number.isInteger(value) || value >= 2 ** bits || value < -(2 ** bits);
  }
  if (type === "number" && format === "float") return (value) => Math.abs(value) > 3.4028234663852886e38;
  return undefined;
}
