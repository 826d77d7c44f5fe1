import { isObject, type Json } from "../../json.ts";

/** JSON as CEL has it where no schema says more: whole numbers are ints. */
export function untyped(json: Json): unknown {
  if (Array.isArray(json)) return json.map(untyped);
  if (isObject(json)) return new Map(Object.entries(json).map(([key, item]) => [key, untyped(item)]));
  return typeof json === "number" && Number.isSafeInteger(json) ? BigInt(json) : json;
}
