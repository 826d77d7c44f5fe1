import { Duration } from "@marcbachmann/cel-js/evaluator";
import { goQuote } from "../field-errors.ts";

/** CEL's `format`: `%s`, `%d`, `%f` and `%e` with a precision, `%b`, `%o`, `%x`, `%X` and `%%`. */
export function formatString(template: string, values: readonly unknown[]): string {
  let next = 0;
  const text = template.replace(
    /%(?:\.(\d{1,3}))?(.)|%$/gs,
    (whole, precision: string | undefined, verb: string | undefined) => {
      if (verb === "%") return "%";
      if (verb === undefined) throw new Error("unexpected end of format string");
      if (next >= values.length) throw new Error(`index ${next} out of range`);
      return formatOne(verb, precision === undefined ? undefined : Number(precision), values[next++], whole);
    },
  );
  return text;
}

export const quoteString = (text: string): string => goQuote(text);

function formatOne(verb: string, precision: number | undefined, value: unknown, whole: string): string {
  switch (verb) {
    case "s":
      return display(value);
    case "d":
      if (typeof value !== "bigint" && typeof value !== "number") break;
      return String(value);
    case "f":
      return Number(value).toFixed(Math.min(precision ?? 6, 100));
    case "e":
      return Number(value)
        .toExponential(Math.min(precision ?? 6, 100))
        .replace(/e([+-])(\d)$/, "e$10$2");
    case "b":
      return typeof value === "boolean" ? String(Number(value)) : wholeNumber(value).toString(2);
    case "o":
      return wholeNumber(value).toString(8);
    case "x":
    case "X": {
      const hex = typeof value === "string" ? Buffer.from(value).toString("hex") : hexOf(value);
      return verb === "X" ? hex.toUpperCase() : hex;
    }
  }
  throw new Error(`could not parse formatting clause: unrecognized formatting clause "${whole}"`);
}

const hexOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString("hex") : wholeNumber(value).toString(16);

function wholeNumber(value: unknown): bigint {
  if (typeof value !== "bigint") throw new Error("only integers can be formatted so");
  return value;
}

/** A value as `%s` shows it: lists and maps in CEL's own notation. */
function display(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, "Z");
  if (value instanceof Duration) return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (Array.isArray(value)) return `[${value.map(display).join(", ")}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${display(key)}: ${display(item)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  return String(value);
}
