import { isObject, type Json, type JsonObject } from "../json.ts";
import { badRequest } from "../status-error.ts";
import { type Draft, ownField, setOwnField } from "./own-fields.ts";

/**
 * JSON merge patch (RFC 7386) as the API server applies it. It parts from the RFC in one point: where a value is new or
 * replaces something that is not an object, nulls are also dropped from objects inside its lists. Must not: change its
 * arguments, or know about schemas.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (patch === null) throw badRequest("Invalid JSON Patch");
  if (!isObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeOf(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return isObject(target) ? mergeObjects(target, patch) : withoutNulls(patch);
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Draft = { ...target };
  for (const [name, change] of Object.entries(patch)) {
    const present = ownField(target, name) ?? null;
    if (change === null) delete merged[name];
    else setOwnField(merged, name, mergeValue(present, change));
  }
  return merged;
}

function mergeValue(present: Json, change: Json): Json {
  if (!isObject(present)) return withoutNulls(change);
  return isObject(change) ? mergeObjects(present, change) : change;
}

/** The value without any field that is null. Elements of lists stay, even null ones. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: Draft = {};
  for (const [name, field] of Object.entries(value)) {
    if (field !== null) setOwnField(kept, name, withoutNulls(field));
  }
  return kept;
}

/** What Go's JSON decoder calls a value it cannot use. */
export function jsonTypeOf(value: Json): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return value === null ? "null" : typeof value;
}
