import { isObject, type Json, type JsonObject } from "../json.ts";

/**
 * One step of a field path, in the spelling of FieldsV1: `f:<name>` a field, `k:{…}` an item of a list by its keys,
 * `v:<json>` an item of a set by its value, `i:<n>` an item by its index. The spelling is canonical (keys sorted, JSON
 * without spaces), so that equal steps are equal strings.
 */
export type PathElement = string;

export type KeyFields = readonly (readonly [name: string, value: Json])[];

export const fieldElement = (name: string): PathElement => `f:${name}`;

export const valueElement = (value: Json): PathElement => `v:${canonicalJson(value)}`;

export function keyElement(fields: KeyFields): PathElement {
  const sorted = fields.toSorted(([a], [b]) => compareText(a, b));
  return `k:{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${canonicalJson(value)}`).join(",")}}`;
}

/** The canonical spelling, or undefined for a kind of step that this version does not know. Throws on nonsense. */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2 || text[1] !== ":") throw new SyntaxError("not a path element");
  const rest = text.slice(2);
  switch (text[0]) {
    case "f":
      return text;
    case "v":
      return valueElement(JSON.parse(rest));
    case "k": {
      const fields: unknown = JSON.parse(rest);
      if (!isObject(fields)) throw new SyntaxError("not a path element");
      return keyElement(Object.entries(fields));
    }
    case "i":
      if (!/^[+-]?\d+$/.test(rest)) throw new SyntaxError("not a path element");
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

/** JSON as Go writes it: keys sorted, no spaces, and the characters that matter in HTML escaped. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (isObject(value)) {
    const fields = Object.keys(value).sort(compareText);
    return `{${fields.map((name) => `${quote(name)}:${canonicalJson(value[name] ?? null)}`).join(",")}}`;
  }
  return typeof value === "string" ? quote(value) : JSON.stringify(value);
}

const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Order by code points, which is the order of UTF-8 bytes that Go compares by. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above everything else. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

const KINDS = "fkvi";

/** The order in which FieldsV1 lists its keys. */
export function compareElements(a: PathElement, b: PathElement): number {
  const kind = a.charAt(0);
  if (kind !== b.charAt(0)) return KINDS.indexOf(kind) - KINDS.indexOf(b.charAt(0));
  if (kind === "f" || a === b) return compareText(a, b);
  if (kind === "i") return Number(a.slice(2)) - Number(b.slice(2));
  const [left, right] = [JSON.parse(a.slice(2)), JSON.parse(b.slice(2))];
  return kind === "k" ? compareFields(left, right) : compareValues(left, right);
}

function compareFields(a: JsonObject, b: JsonObject): number {
  const right = Object.entries(b).sort(([x], [y]) => compareText(x, y));
  const left = Object.entries(a).sort(([x], [y]) => compareText(x, y));
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index];
    if (!other) return 1;
    const order = compareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers, then strings, booleans, lists, objects, null. */
function compareValues(a: Json, b: Json): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (isObject(a) && isObject(b)) return compareFields(a, b);
  const byType = typeRank(a) - typeRank(b);
  return byType !== 0 ? byType : compareText(canonicalJson(a), canonicalJson(b));
}

function typeRank(value: Json): number {
  if (value === null) return 5;
  if (Array.isArray(value)) return 3;
  return { number: 0, string: 1, boolean: 2, object: 4 }[typeof value as "number" | "string" | "boolean" | "object"];
}

/** A path as messages show it: `.spec.containers[name="web"].image`. */
export const describePath = (path: readonly PathElement[]): string => path.map(describeElement).join("");

export function describeElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case "f":
      return `.${rest}`;
    case "k": {
      const fields: JsonObject = JSON.parse(rest);
      return `[${Object.entries(fields)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(",")}]`;
    }
    case "v":
      return `[=${JSON.stringify(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}
