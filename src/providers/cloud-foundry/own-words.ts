import type { Redacted } from "../../base/redacted.ts";
import { isRecord, type UnknownRecord } from "../rest/wire.ts";

const MAX_CHARS = 180;
const SHORT_WORD = 4;

/**
 * What Cloud Foundry says is wrong with a request, as long as it is Cloud Foundry's own words: a service broker may say
 * anything, and parameters are quoted by neither. Whatever looks like a piece of one, whole or cut short, takes all of it
 * away. Undefined: nothing can be shown.
 */
export function ownWords(detail: string, parameters: Redacted<UnknownRecord>): string | undefined {
  const line = detail.replace(/[\s\p{C}]+/gu, " ").trim();
  if (line === "" || /broker/i.test(line)) return undefined;
  const told = wordsOf(line);
  const values = leavesOf(parameters.reveal()).map((value) => value.toLowerCase());
  const isQuoted = values.some(
    (value) =>
      wordsOf(value).some((word) => told.includes(word)) ||
      told.some((word) => word.length >= SHORT_WORD && value.includes(word)),
  );
  if (isQuoted) return undefined;
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line;
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Every value, however deep, as text. */
function leavesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (isRecord(value)) return Object.values(value).flatMap(leavesOf);
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}
