import type { KubeObject } from "../kube/objects.ts";

/** JSON as values. Stored objects are shared between readers and must never be changed in place. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Structural equality; the order of an object's keys does not matter. */
export function jsonEquals(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => jsonEquals(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && jsonEquals(a[key], b[key]));
}

/** An object as plain JSON, which every object is that came over the wire or out of the store. */
export const jsonOf = (object: KubeObject): JsonObject => object as JsonObject;
