import { isObject, type Json } from "../json.ts";
import { goJson } from "./field-errors.ts";
import type { Schema } from "./schema.ts";

/** Values nested deeper than this are taken as different: safe, since it only means that they are looked at. */
const MAX_DEPTH = 500;

/** Structural equality that cannot exhaust the stack. */
export function sameValue(a: Json | undefined, b: Json | undefined, depth = 0): boolean {
  if (a === b) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index], depth + 1));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key], depth + 1))
  );
}

/**
 * Finds, for an item of a list after an update, the same item before it. Only lists of type `map` can be matched up
 * (by their keys); items of all others have no past.
 */
export function correlateList(schema: Schema, old: Json): ((item: Json) => Json | undefined) | undefined {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (schema["x-kubernetes-list-type"] !== "map" || !keys || !Array.isArray(old)) return undefined;
  const byKey = new Map<string, Json>();
  for (const item of old) {
    const key = listMapKey(item, keys);
    if (key !== undefined) byKey.set(key, item);
  }
  return (item) => {
    const key = listMapKey(item, keys);
    return key === undefined ? undefined : byKey.get(key);
  };
}

function listMapKey(item: Json, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  return goJson(keys.map((key) => (Object.hasOwn(item, key) ? [item[key]] : [])));
}
