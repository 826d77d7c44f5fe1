import { isObject, type JsonObject } from "../http/exchange.ts";

/** How often something strikes: so many times more, or until it is switched off. */
export type Count = number | "always";

/** One less, where it counts down. */
export const spend = (count: Count): Count => (count === "always" ? count : Math.max(0, count - 1));
export const strikes = (count: Count): boolean => count === "always" || count > 0;

type Check = (value: unknown) => boolean;

/** One check for every setting of its type. */
export type Checks<T> = Readonly<Record<keyof T & string, Check>>;

export const isWhole: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
export const isWholeOrNull: Check = (value) => value === null || isWhole(value);
export const isCount: Check = (value) => value === "always" || isWhole(value);
export const isText: Check = (value) => typeof value === "string" && value !== "" && value.length <= 255;
export const isFlag: Check = (value) => typeof value === "boolean";
export const oneOf =
  (...allowed: readonly (string | number)[]): Check =>
  (value) =>
    allowed.some((each) => each === value);

/** The names of values that are unknown or do not fit; empty when all is well. */
function misfits(value: JsonObject, checks: Readonly<Record<string, Check>>): string[] {
  return Object.entries(value).flatMap(([key, each]) => {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    return check?.(each) ? [] : [key];
  });
}

/** Every property was checked against its type's table by the caller, which TypeScript cannot see. */
const checked = <T>(value: JsonObject): Partial<T> => value as Partial<T>;

export type Parsed<T> =
  | { readonly kind: "fits"; readonly value: Partial<T> }
  | { readonly kind: "misfit"; readonly keys: readonly string[] };

/** Settings as somebody sent them: all of them known and of their kind, or none. */
export function parseSettings<T>(value: unknown, checks: Checks<T>): Parsed<T> {
  if (!isObject(value)) return { kind: "misfit", keys: ["(body)"] };
  const keys = misfits(value, checks);
  return keys.length === 0 ? { kind: "fits", value: checked<T>(value) } : { kind: "misfit", keys };
}
