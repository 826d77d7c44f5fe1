import type { Environment } from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { sameValue } from "../correlate.ts";
import { goDurationNanos } from "../go-duration.ts";
import type { Schema } from "../schema.ts";
import { escapeProperty } from "./escape.ts";

/** How a schema looks to a rule: the name of its CEL type, and how values get there. */
export interface CelType {
  readonly name: string;
  readonly toCel: (value: Json) => unknown;
}

/**
 * Gives each schema node its CEL type in one environment, as the API server does: integers are int, numbers double,
 * date-times timestamps, objects with properties message types whose unknown fields the checker refuses. Undefined for
 * what rules cannot see (unknown fields that are merely preserved).
 */
export class CelTypes {
  readonly #environment: Environment;
  readonly #objectTypes = new Set<string>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  isObjectType(type: string): boolean {
    return this.#objectTypes.has(type);
  }

  of(schema: Schema, isResourceRoot: boolean): CelType | undefined {
    const type = this.#plain(schema, isResourceRoot || schema["x-kubernetes-embedded-resource"] === true);
    if (!type || schema.nullable !== true) return type;
    // Null has no place in a typed field of the engine, so a nullable one is checked when it is evaluated.
    return { name: "dyn", toCel: (value) => (value === null ? null : type.toCel(value)) };
  }

  #plain(schema: Schema, isResource: boolean): CelType | undefined {
    if (schema["x-kubernetes-int-or-string"] === true) return INT_OR_STRING;
    switch (schema.type) {
      case "boolean":
        return { name: "bool", toCel: (value) => value };
      case "integer":
        return { name: "int", toCel: toInteger };
      case "number":
        return { name: "double", toCel: Number };
      case "string":
        return stringType(schema.format);
      case "array":
        return this.#list(schema);
      case "object":
        return this.#object(schema, isResource);
      default:
        return undefined;
    }
  }

  #list(schema: Schema): CelType | undefined {
    const items = schema.items && this.of(schema.items, false);
    if (!items) return undefined;
    return {
      name: `list<${items.name}>`,
      toCel: (value) => (Array.isArray(value) ? value.map((item: Json) => items.toCel(item)) : []),
    };
  }

  #object(schema: Schema, isResource: boolean): CelType | undefined {
    const { additionalProperties } = schema;
    if (typeof additionalProperties === "object") {
      const values = this.of(additionalProperties, false);
      return values && { name: `map<string, ${values.name}>`, toCel: (value) => toMap(value, values) };
    }
    return this.#message(isResource ? { ...META_PROPERTIES, ...schema.properties } : (schema.properties ?? {}));
  }

  #message(properties: Readonly<Record<string, Schema>>): CelType {
    const fields = new Map<string, Field>();
    for (const [key, property] of Object.entries(properties)) {
      const name = escapeProperty(key);
      const type = name === undefined ? undefined : this.of(metadataAware(key, property), false);
      if (name !== undefined && type) fields.set(name, { key, type });
    }
    const name = `object${this.#objectTypes.size + 1}`;
    this.#objectTypes.add(name);
    const Message = messageClass(fields);
    this.#environment.registerType(name, {
      ctor: Message,
      fields: Object.fromEntries([...fields].map(([field, { type }]) => [field, type.name])),
    });
    this.#environment.registerOperator(`${name} == ${name}`, (a: CelObject, b: CelObject) => sameValue(a.raw, b.raw));
    return { name, toCel: (value) => new Message(isObject(value) ? value : {}) };
  }
}

interface Field {
  readonly key: string;
  readonly type: CelType;
}

/** Fields are converted when a rule reads them. It is a Map because that is how the engine reads fields safely. */
class CelObject extends Map<string, unknown> {
  readonly raw: JsonObject;

  constructor(raw: JsonObject) {
    super();
    this.raw = raw;
  }
}

/** A class for each object type: the engine tells types apart by their constructors. */
function messageClass(fields: ReadonlyMap<string, Field>): new (raw: JsonObject) => CelObject {
  return class extends CelObject {
    override get(name: string): unknown {
      const field = fields.get(name);
      if (!field || !Object.hasOwn(this.raw, field.key)) return undefined;
      if (!this.has(name)) this.set(name, field.type.toCel(this.raw[field.key] ?? null));
      return super.get(name);
    }
  };
}

const STRING: Schema = { type: "string" };

/** What rules can read of every resource, whatever its schema says. */
const META_PROPERTIES: Readonly<Record<string, Schema>> = {
  apiVersion: STRING,
  kind: STRING,
  metadata: { type: "object", properties: { name: STRING, generateName: STRING } },
};

/** A schema may restrict metadata without listing it in full; name and generateName are always there. */
function metadataAware(key: string, property: Schema): Schema {
  if (key !== "metadata" || property.type !== "object" || property.additionalProperties !== undefined) return property;
  return { ...property, properties: { name: STRING, generateName: STRING, ...property.properties } };
}

const INT_OR_STRING: CelType = {
  name: "dyn",
  toCel: (value) => (typeof value === "number" ? toInteger(value) : value),
};

function toInteger(value: Json): bigint {
  if (typeof value !== "number" || !Number.isInteger(value)) throw new Error("invalid data, expected int");
  return BigInt(value);
}

function toMap(value: Json, values: CelType): Map<string, unknown> {
  const map = new Map<string, unknown>();
  if (isObject(value)) for (const [key, item] of Object.entries(value)) map.set(key, values.toCel(item));
  return map;
}

function stringType(format: string | undefined): CelType {
  switch (format) {
    case "byte":
      return { name: "bytes", toCel: (value) => Buffer.from(String(value), "base64") };
    case "duration":
      return { name: "google.protobuf.Duration", toCel: (value) => toDuration(String(value)) };
    case "date":
    case "date-time":
      return { name: "google.protobuf.Timestamp", toCel: (value) => toTimestamp(String(value)) };
    default:
      return { name: "string", toCel: (value) => value };
  }
}

const BILLION = 1_000_000_000n;

function toDuration(text: string): Duration {
  const nanos = goDurationNanos(text);
  if (nanos === undefined) throw new Error("invalid data, expected a duration");
  return new Duration(nanos / BILLION, Number(nanos % BILLION));
}

function toTimestamp(text: string): Date {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new Error("invalid data, expected a date");
  return new Date(at);
}
