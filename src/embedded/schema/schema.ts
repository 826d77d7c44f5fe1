/**
 * An OpenAPI v3 schema as Kubernetes uses it: for CRDs (structural schemas) and for the built-in kinds (generated from
 * the API server's own OpenAPI document, where `$ref` points into `Definitions`). Must not: hold behaviour; validating,
 * defaulting, pruning, patching and applying each read it in a file of their own.
 */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
}

export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Named schemas that a `$ref` of the form `#/components/schemas/<name>` points at. */
export type Definitions = Readonly<Record<string, Schema>>;

const REF_PREFIX = "#/components/schemas/";

/**
 * The schema itself, with `$ref` followed and the single-element `allOf` that the API server wraps references in merged
 * (its siblings, such as `default` and `description`, win). Undefined where the schema says nothing.
 */
export function resolveSchema(schema: Schema | undefined, definitions: Definitions): Schema | undefined {
  if (!schema) return undefined;
  if (schema.$ref) return resolveSchema(definitions[schema.$ref.slice(REF_PREFIX.length)], definitions);
  const [only, ...others] = schema.allOf ?? [];
  if (only?.$ref && others.length === 0) {
    const { allOf: _, ...siblings } = schema;
    return { ...resolveSchema(only, definitions), ...siblings };
  }
  return schema;
}
