import type { Json } from "../json.ts";
import { goJson } from "../schema/field-errors.ts";

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** A short name for a pod template: equal templates give equal names, and `collisions` gives another try. */
export function templateHash(template: Json, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${goJson(template)}${collisions || ""}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return [...String(hash)].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join("");
}
