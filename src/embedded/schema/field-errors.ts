import type { FieldError } from "../status-error.ts";

/**
 * Field errors in the API server's own words, and values rendered the way it prints them: what `kubectl` users know, and
 * what the conformance suite compares. Must not: decide what is wrong; the callers do.
 */
export const required = (field: string, detail = ""): FieldError =>
  fieldError("FieldValueRequired", field, join("Required value", detail));

export const forbidden = (field: string, detail: string): FieldError =>
  fieldError("FieldValueForbidden", field, join("Forbidden", detail));

export const invalidValue = (field: string, value: unknown, detail: string): FieldError =>
  fieldError("FieldValueInvalid", field, join(`Invalid value: ${renderValue(value)}`, detail));

/** For values that the server shows in a form of its own. */
export const invalidRendered = (field: string, rendered: string, detail: string): FieldError =>
  fieldError("FieldValueInvalid", field, join(`Invalid value: ${rendered}`, detail));

/** For objects and arrays refused by a rule: the server leaves the value out. */
export const invalidWithoutValue = (field: string, detail: string): FieldError =>
  fieldError("FieldValueInvalid", field, join("Invalid value", detail));

export const typeInvalid = (field: string, value: unknown, detail: string): FieldError =>
  fieldError("FieldValueTypeInvalid", field, join(`Invalid value: ${renderValue(value)}`, detail));

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  fieldError(
    "FieldValueNotSupported",
    field,
    `Unsupported value: ${renderValue(value)}: supported values: ${supported.map(goQuote).join(", ")}`,
  );

export const duplicate = (field: string, value: unknown): FieldError =>
  fieldError("FieldValueDuplicate", field, `Duplicate value: ${renderValue(value)}`);

export const duplicateWithoutValue = (field: string): FieldError =>
  fieldError("FieldValueDuplicate", field, "Duplicate value");

export const tooLong = (field: string, maxLength: number): FieldError =>
  fieldError(
    "FieldValueTooLong",
    field,
    `Too long: may not be more than ${maxLength} ${maxLength === 1 ? "byte" : "bytes"}`,
  );

export const tooMany = (field: string, actual: number, max: number): FieldError =>
  fieldError(
    "FieldValueTooMany",
    field,
    `Too many: ${actual}: must have at most ${max} ${max === 1 ? "item" : "items"}`,
  );

/** Where the server has no path to show, it prints Go's nil path. */
export const NO_FIELD = "<nil>";

function fieldError(reason: string, field: string, message: string): FieldError {
  return { reason, message, field: field === "" ? NO_FIELD : field };
}

const join = (head: string, detail: string): string => (detail === "" ? head : `${head}: ${detail}`);

/** A value as Go's `field.Error` prints it: `%v` for numbers and booleans, quoted strings, JSON for the rest. */
function renderValue(value: unknown): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumber(value);
  if (typeof value === "boolean") return String(value);
  return goJson(value);
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** Go's `strconv.Quote`: printable characters stay, everything else is escaped. */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) {
    const named = NAMED_ESCAPES[character];
    if (named !== undefined) quoted += named;
    else if (character === " " || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character)) quoted += character;
    else quoted += escapeCodePoint(character.codePointAt(0) ?? 0);
  }
  return `${quoted}"`;
}

function escapeCodePoint(codePoint: number): string {
  const hex = codePoint.toString(16);
  if (codePoint < 0x80) return `\\x${hex.padStart(2, "0")}`;
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return "\\ufffd";
  return codePoint > 0xffff ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
}

/** Go's `%v` of a float64: shortest form, an exponent below 1e-4 and from 1e21 on. */
export function goNumber(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && magnitude < 1e-4) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return String(value);
}

/** Deeper values are cut off: no message needs them, and the stack is finite. */
const MAX_RENDER_DEPTH = 64;

/** Go's `json.Marshal`: keys in order, `<`, `>` and `&` escaped, so that equal values give equal text. */
export function goJson(value: unknown, depth = 0): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "string") return goJsonString(value);
  if (typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (depth > MAX_RENDER_DEPTH) return "…";
  if (Array.isArray(value)) return `[${value.map((item) => goJson(item, depth + 1)).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, item]) => `${goJsonString(key)}:${goJson(item, depth + 1)}`).join(",")}}`;
}

function goJsonString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
