import { Refusal } from "./exchange.ts";

/**
 * The language of `fieldQuery` and `labelQuery`: criteria joined by ` and `, each `key op value` with single spaces.
 * Strict as the service's own grammar: strings stand in single quotes (doubled to mean themselves), keys consist of
 * letters, digits, `-`, `_`, `/` and `\` (no dot), and what does not fit is a 400, never an empty result.
 */
export interface Criterion {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

const SINGLE = ["eq", "ne", "gt", "lt", "ge", "le", "en"] as const;
const MULTIPLE = ["in", "notin"] as const;
type Operator = (typeof SINGLE)[number] | (typeof MULTIPLE)[number];
const ORDERING: readonly Operator[] = ["gt", "lt", "ge", "le"];

const KEY = /[-_/a-zA-Z0-9\\]+/y;
const VALUE =
  /'(?:\\.|''|[^'\\])*'|\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})|[-+]?\d+(?:\.\d+)?|true|false/sy;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
const NUMBER = /^[-+]?\d+(\.\d+)?$/;

const unsupported = (description: string): Refusal => new Refusal(400, "BadRequest", description);

export function parseFieldQuery(text: string, keys: ReadonlySet<string>): readonly Criterion[] {
  const criteria = parseQuery("fieldQuery", text);
  const unknown = criteria.find(({ key }) => !keys.has(key));
  if (unknown) throw unsupported(`unsupported field query key: ${unknown.key}`);
  return criteria;
}

export function parseLabelQuery(text: string): readonly Criterion[] {
  const criteria = parseQuery("labelQuery", text);
  const seen = new Set<string>();
  for (const { key, operator } of criteria) {
    if (operator === "en") throw unsupported("nullable operations are supported only for field queries");
    if (seen.has(key)) throw unsupported(`duplicate label query key: ${key}`);
    seen.add(key);
  }
  return criteria;
}

function parseQuery(kind: string, text: string): readonly Criterion[] {
  if (text === "") return [];
  const reader = new Reader(kind, text);
  const criteria = [reader.criterion()];
  while (!reader.isAtEnd) {
    reader.literal(" and ");
    criteria.push(reader.criterion());
  }
  return criteria;
}

class Reader {
  readonly #kind: string;
  readonly #text: string;
  #at = 0;

  constructor(kind: string, text: string) {
    this.#kind = kind;
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  criterion(): Criterion {
    const key = this.#match(KEY, "a key");
    this.literal(" ");
    const word = this.#match(/[a-z]+/y, "an operator");
    const operator = [...SINGLE, ...MULTIPLE].find((each) => each === word);
    if (!operator) throw this.#error(`the operator ${word} is not supported`);
    this.literal(" ");
    const values = MULTIPLE.some((each) => each === operator) ? this.#values() : [this.#value()];
    this.#validate(key, operator, values);
    return { key, operator, values };
  }

  literal(text: string): void {
    if (!this.#text.startsWith(text, this.#at)) throw this.#error(`'${text}' is expected`);
    this.#at += text.length;
  }

  #values(): readonly string[] {
    this.literal("(");
    if (this.#takes(")")) return [""];
    const values = [this.#value()];
    while (this.#takes(", ") || this.#takes(",")) values.push(this.#value());
    this.literal(")");
    return values;
  }

  #value(): string {
    const text = this.#match(VALUE, "a quoted string, a number, a boolean or a time");
    return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text;
  }

  #takes(text: string): boolean {
    const isNext = this.#text.startsWith(text, this.#at);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  #match(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#error(`${what} is expected`);
    this.#at += found.length;
    return found;
  }

  #validate(key: string, operator: Operator, values: readonly string[]): void {
    if (key === "and") throw unsupported(`separator and is not allowed in ${this.#kind} as a key`);
    for (const value of values) {
      if (value.includes("\n")) throw unsupported(`${this.#kind} with key "${key}" has a value with a new line`);
      if (ORDERING.includes(operator) && !NUMBER.test(value) && !DATE_TIME.test(value)) {
        throw unsupported(`${operator} is numeric operator, but the right operand is not numeric or datetime`);
      }
    }
  }

  #error(message: string): Refusal {
    return unsupported(`error while parsing ${this.#kind} at column ${this.#at}: ${message}`);
  }
}

/** Whether a field's value meets the criterion. A value of a type the field cannot hold is a 400. */
export function meets(actual: string | boolean | Date, { operator, values }: Criterion): boolean {
  switch (operator) {
    case "eq":
    case "en":
    case "in":
      return values.some((value) => equals(actual, value));
    case "ne":
    case "notin":
      return !values.some((value) => equals(actual, value));
    default:
      return isOrdered(compare(actual, values[0] ?? ""), operator);
  }
}

function isOrdered(order: number, operator: "gt" | "lt" | "ge" | "le"): boolean {
  if (order === 0) return operator === "ge" || operator === "le";
  return order > 0 ? operator === "gt" || operator === "ge" : operator === "lt" || operator === "le";
}

/** Text is equal as text, even where it looks like a number. */
const equals = (actual: string | boolean | Date, value: string): boolean =>
  typeof actual === "string" ? actual === value : compare(actual, value) === 0;

function compare(actual: string | boolean | Date, value: string): number {
  if (typeof actual === "boolean") {
    if (value !== "true" && value !== "false") throw unsupported("storage err: invalid input syntax for type boolean");
    return Number(actual) - Number(value === "true");
  }
  if (actual instanceof Date) {
    const at = DATE_TIME.test(value) ? Date.parse(value.toUpperCase()) : Number.NaN;
    if (Number.isNaN(at)) throw unsupported("storage err: invalid input syntax for type timestamp");
    return actual.getTime() - at;
  }
  if (NUMBER.test(actual) && NUMBER.test(value)) return Number(actual) - Number(value);
  return actual === value ? 0 : actual < value ? -1 : 1;
}
