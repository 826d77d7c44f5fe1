import { isObject, type Json, type JsonObject } from "../json.ts";

/**
 * Reading fields whose presence is not certain: what is absent, null or of another type reads as empty. Types were
 * checked against the schema when the request was decoded, so nothing is hidden here.
 */
const NOTHING: JsonObject = {};

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : NOTHING);

export const asArray = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);

export const asObjects = (value: unknown): readonly JsonObject[] => asArray(value).map(asObject);

export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

export const asNumber = (value: unknown): number => (typeof value === "number" ? value : 0);

export const asTexts = (value: unknown): readonly string[] => asArray(value).filter((item) => typeof item === "string");

export function asTextMap(value: unknown): Readonly<Record<string, string>> {
  const texts = Object.entries(asObject(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}

/** Fills in what is absent, null or the empty string, as defaulting of Go values does. */
export function fill(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(([key]) => (object[key] ?? "") === "");
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** Replaces the object in `key` where there is one. */
export function mapObject(object: JsonObject, key: string, change: (inner: JsonObject) => JsonObject): JsonObject {
  const inner = object[key];
  if (!isObject(inner)) return object;
  const changed = change(inner);
  return changed === inner ? object : { ...object, [key]: changed };
}

/** Replaces every object of the list in `key` where there is one. */
export function mapObjects(object: JsonObject, key: string, change: (inner: JsonObject) => JsonObject): JsonObject {
  const list = object[key];
  if (!Array.isArray(list)) return object;
  const changed = list.map((item: Json) => (isObject(item) ? change(item) : item));
  return changed.every((item, index) => item === list[index]) ? object : { ...object, [key]: changed };
}

export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  if (!keys.some((key) => key in object)) return object;
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
