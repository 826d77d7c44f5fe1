import { isDeepStrictEqual } from "node:util";
import { recordOf } from "../../kube/record.ts";

/**
 * How a Secret of somebody else's differs from the one that Keyturn would write: names of keys, never a value. Pure.
 */
export interface Differences {
  /** Keys that come. */
  readonly added: readonly string[];
  /** Keys that go. */
  readonly removed: readonly string[];
  /** Keys that say something else, or say it in another form. */
  readonly changed: readonly string[];
}

export const NO_DIFFERENCES: Differences = { added: [], removed: [], changed: [] };

export type Texts = Readonly<Record<string, string>>;

/** What the data of a Secret says, which the API has in base64. */
export const textsIn = (data: unknown): Texts =>
  Object.fromEntries(
    Object.entries(recordOf(data)).map(([key, value]) => [key, Buffer.from(String(value), "base64").toString()]),
  );

/** `exact`: what says the same in other words counts as changed, because it would be written at once. */
export function differencesOf(present: Texts, expected: Texts, how: "meaning" | "exact" = "meaning"): Differences {
  const isKept = (key: string): boolean =>
    how === "exact" ? present[key] === expected[key] : isSame(present[key] ?? "", expected[key] ?? "");
  const [now, then] = [Object.keys(present).sort(), Object.keys(expected).sort()];
  return {
    added: then.filter((key) => present[key] === undefined),
    removed: now.filter((key) => expected[key] === undefined),
    changed: now.filter((key) => expected[key] !== undefined && !isKept(key)),
  };
}

/** JSON that says the same is the same, however it is written, and whatever the order of what it lists of properties. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [parsed(one), parsed(other)];
  return left !== undefined && right !== undefined && isDeepStrictEqual(sorted(left), sorted(right));
}

/** Undefined for anything but an object or a list: `1` and `1.0` are different passwords. */
function parsed(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Lists of properties, which `.metadata` has, are sets by their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(sorted);
    const isOfProperties = items.every((item) => typeof item === "object" && item !== null && "name" in item);
    return isOfProperties ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/**
 * Whether a Secret holds these credentials, in whatever layout: every text of theirs is found in it, by itself or inside of
 * JSON. One that holds another key has another password.
 */
export function holdsCredentials(present: Texts, credentials: Readonly<Record<string, unknown>>): boolean {
  const found = new Set(Object.values(present).flatMap((text) => nestedTexts(text, 0)));
  const whole = [...found];
  return leavesOf(credentials).every((leaf) => found.has(leaf) || whole.some((text) => text.includes(leaf)));
}

/** JSON inside of JSON inside of JSON: nobody writes more. */
const MAX_DEPTH = 3;

function nestedTexts(text: string, depth: number): readonly string[] {
  const value = depth < MAX_DEPTH ? parsed(text) : undefined;
  return value === undefined ? [text] : [text, ...leavesOf(value).flatMap((leaf) => nestedTexts(leaf, depth + 1))];
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}
