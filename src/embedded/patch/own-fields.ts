import type { Json, JsonObject } from "../json.ts";

/** An object under construction, before it is handed out as a `JsonObject`. */
export type Draft = Record<string, Json>;

/** A field of the object itself: names such as `constructor` or `__proto__` are data here, never inherited members. */
export const ownField = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Assigns a field of a draft; plain assignment to `__proto__` would change the draft's prototype instead. */
export function setOwnField(draft: Draft, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(draft, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    draft[name] = value;
  }
}
