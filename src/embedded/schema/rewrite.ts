import type { Json, JsonObject } from "../json.ts";

/** What a rewriting step leaves out of an object. */
export const DROPPED = Symbol("dropped");

/**
 * An object with each field rewritten; the same object when nothing changed. A field for which `DROPPED` comes back is
 * left out. Own fields only, so that a field named `__proto__` is a field like any other.
 */
export function rewriteObject(
  object: JsonObject,
  rewrite: (value: Json, key: string) => Json | typeof DROPPED,
): JsonObject {
  let changed: [string, Json][] | undefined;
  const entries = Object.entries(object);
  for (const [index, [key, value]] of entries.entries()) {
    const next = rewrite(value, key);
    if (next === value) changed?.push([key, value]);
    else {
      changed ??= entries.slice(0, index);
      if (next !== DROPPED) changed.push([key, next]);
    }
  }
  return changed ? Object.fromEntries(changed) : object;
}

/** A list with each item rewritten; the same list when nothing changed. */
export function rewriteList(list: readonly Json[], rewrite: (value: Json) => Json): readonly Json[] {
  let changed: Json[] | undefined;
  for (const [index, value] of list.entries()) {
    const next = rewrite(value);
    if (next !== value) changed ??= list.slice(0, index);
    changed?.push(next);
  }
  return changed ?? list;
}
