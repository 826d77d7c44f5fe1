import { isObject, type Json } from "../json.ts";
import { type Definitions, resolveSchema, type Schema } from "../schema/schema.ts";
import { OBJECT_META } from "./object-meta-schema.ts";

/**
 * What ownership needs to know of a schema: which values are leaves, owned as a whole, and which are owned field by
 * field or item by item. Built lazily from the OpenAPI schema (types may be recursive) and kept for as long as the schema
 * lives. Must not: validate, default or prune.
 */
export interface FieldType {
  /** Undefined where a scalar is not allowed. */
  readonly scalar: ScalarKind | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
}

export type ScalarKind = "numeric" | "string" | "boolean" | "any";

export interface ListType {
  /** Atomic lists are leaves; sets own by value, maps by the key fields of their items. */
  readonly relation: "atomic" | "set" | "map";
  readonly keys: readonly string[];
  readonly element: FieldType;
  /** What the schema puts in place of an absent key field. */
  keyDefault(name: string): Json | undefined;
}

export interface MapType {
  readonly isAtomic: boolean;
  /** True for a map from names to values of one type, as opposed to a struct. */
  readonly isDictionary: boolean;
  /** The type of a field that the schema names. */
  declared(name: string): FieldType | undefined;
  readonly declaredNames: readonly string[];
  readonly required: ReadonlySet<string>;
  /** The default of a declared field. */
  defaultOf(name: string): Json | undefined;
  /** The type of fields that the schema does not name; undefined where there must be none. */
  readonly element: FieldType | undefined;
}

/** The type of a field, named or not. Where the schema allows none, a stray field is owned by what it looks like. */
export const typeOfField = (map: MapType, name: string): FieldType => map.declared(name) ?? map.element ?? DEDUCED;

type Shape = "map" | "scalar" | "list";

/** As what a value is to be read, where its type allows more than one thing. */
export function shapeOf(type: FieldType, value: Json | undefined): Shape {
  if (value !== undefined && value !== null) {
    if (Array.isArray(value) ? type.list : isObject(value) ? type.map : type.scalar) {
      return Array.isArray(value) ? "list" : isObject(value) ? "map" : "scalar";
    }
  }
  return type.map ? "map" : type.scalar ? "scalar" : "list";
}

const NOTHING: ReadonlySet<string> = new Set();

/** Anything; nothing below it is told apart. */
const ATOMIC: FieldType = {
  scalar: "any",
  get list(): ListType {
    return ATOMIC_LIST;
  },
  get map(): MapType {
    return ATOMIC_MAP;
  },
};

/** A type that is read off the value: objects field by field, lists as a whole. */
const DEDUCED: FieldType = {
  scalar: "any",
  get list(): ListType {
    return ATOMIC_LIST;
  },
  get map(): MapType {
    return DEDUCED_MAP;
  },
};

const ATOMIC_LIST: ListType = { relation: "atomic", keys: [], element: ATOMIC, keyDefault: () => undefined };
const freeMap = (isAtomic: boolean, element: FieldType): MapType => ({
  isAtomic,
  isDictionary: false,
  declared: () => undefined,
  declaredNames: [],
  required: NOTHING,
  defaultOf: () => undefined,
  element,
});
const ATOMIC_MAP = freeMap(true, ATOMIC);
const DEDUCED_MAP = freeMap(false, DEDUCED);

const RAW_EXTENSION = "#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension";

interface Scope {
  readonly definitions: Definitions;
  /** True below `x-kubernetes-preserve-unknown-fields`. */
  readonly preserves: boolean;
}

type Cache = WeakMap<Schema, FieldType>;
const caches = new WeakMap<Definitions, { plain: Cache; preserving: Cache; root: Cache }>();

function cachesOf(definitions: Definitions): { plain: Cache; preserving: Cache; root: Cache } {
  let found = caches.get(definitions);
  if (!found) {
    found = { plain: new WeakMap(), preserving: new WeakMap(), root: new WeakMap() };
    caches.set(definitions, found);
  }
  return found;
}

/** The type of whole objects of a kind: `metadata` is the same for all, whatever a CRD says of it. */
export function objectTypeOf(schema: Schema | undefined, definitions: Definitions): FieldType {
  if (!schema) return DEDUCED;
  const cache = cachesOf(definitions).root;
  let type = cache.get(schema);
  if (!type) {
    const root = resolveSchema(schema, definitions) ?? schema;
    type = build({ ...root, "x-kubernetes-embedded-resource": true }, { definitions, preserves: false });
    cache.set(schema, type);
  }
  return type;
}

function typeOf(schema: Schema, scope: Scope): FieldType {
  const found = cachesOf(scope.definitions);
  const cache = scope.preserves ? found.preserving : found.plain;
  let type = cache.get(schema);
  if (!type) {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
    type = ref === RAW_EXTENSION ? ATOMIC : build(resolveSchema(schema, scope.definitions) ?? {}, scope);
    cache.set(schema, type);
  }
  return type;
}

function build(schema: Schema, outer: Scope): FieldType {
  const scope = schema["x-kubernetes-preserve-unknown-fields"] === true ? { ...outer, preserves: true } : outer;
  switch (schema.type) {
    case "object":
      return { scalar: undefined, list: undefined, map: new SchemaMap(schema, scope) };
    case "array":
      return { scalar: undefined, list: new SchemaList(schema, scope), map: undefined };
    case "integer":
    case "number":
      return { scalar: "numeric", list: undefined, map: undefined };
    case "boolean":
      return { scalar: "boolean", list: undefined, map: undefined };
    case "string": {
      const isText = schema.format === undefined || schema.format === "" || schema.format === "byte";
      return { scalar: isText ? "string" : "any", list: undefined, map: undefined };
    }
    default:
      return { scalar: "any", list: new SchemaList(schema, scope), map: new SchemaMap(schema, scope) };
  }
}

class SchemaMap implements MapType {
  readonly isAtomic: boolean;
  readonly isDictionary: boolean;
  readonly declaredNames: readonly string[];
  readonly required: ReadonlySet<string>;
  readonly #properties: Readonly<Record<string, Schema>>;
  readonly #additional: Schema | boolean | undefined;
  readonly #scope: Scope;
  readonly #types = new Map<string, FieldType>();

  constructor(schema: Schema, scope: Scope) {
    this.isAtomic = schema["x-kubernetes-map-type"] === "atomic";
    this.#properties = schema["x-kubernetes-embedded-resource"]
      ? { ...schema.properties, ...OBJECT_META.properties }
      : (schema.properties ?? {});
    this.declaredNames = Object.keys(this.#properties);
    this.required = new Set(schema.required);
    this.isDictionary = this.declaredNames.length === 0 && isObject(schema.additionalProperties);
    const isFree = scope.preserves || Object.keys(schema.properties ?? {}).length === 0;
    this.#additional = schema.additionalProperties ?? isFree;
    this.#scope = scope;
  }

  declared(name: string): FieldType | undefined {
    const known = this.#types.get(name);
    if (known) return known;
    const schema = Object.hasOwn(this.#properties, name) ? this.#properties[name] : undefined;
    if (!schema) return undefined;
    const type = typeOf(schema, this.#scope);
    this.#types.set(name, type);
    return type;
  }

  defaultOf(name: string): Json | undefined {
    const value = Object.hasOwn(this.#properties, name) ? this.#properties[name]?.default : undefined;
    return value as Json | undefined;
  }

  get element(): FieldType | undefined {
    if (isObject(this.#additional)) return typeOf(this.#additional as Schema, this.#scope);
    return this.#additional ? DEDUCED : undefined;
  }
}

class SchemaList implements ListType {
  readonly relation: "atomic" | "set" | "map";
  readonly keys: readonly string[];
  readonly #items: Schema | undefined;
  readonly #scope: Scope;

  constructor(schema: Schema, scope: Scope) {
    const mergeKey = schema["x-kubernetes-patch-merge-key"];
    const strategy = schema["x-kubernetes-patch-strategy"];
    const merges = strategy === "merge" || strategy === "merge,retainKeys";
    this.relation = schema["x-kubernetes-list-type"] ?? (merges ? (mergeKey ? "map" : "set") : "atomic");
    this.keys =
      this.relation !== "map"
        ? []
        : (schema["x-kubernetes-list-map-keys"] ?? (mergeKey === undefined ? [] : [mergeKey]));
    this.#items = schema.items;
    this.#scope = scope;
  }

  get element(): FieldType {
    return this.#items ? typeOf(this.#items, this.#scope) : ATOMIC;
  }

  keyDefault(name: string): Json | undefined {
    return this.element.map?.defaultOf(name);
  }
}
