import { isObject, type Json } from "../json.ts";

/**
 * The JSONPath that printer columns and selectable fields use: fields, escaped dots, indices, slices' `[*]`, quoted keys
 * and filters such as `[?(@.type=="Ready")]`. A path is parsed once; a missing field is no error but nothing. Must not:
 * grow into a general JSONPath: what it does not know is refused when the CRD is made.
 */
export function evaluateJsonPath(path: string, object: unknown): readonly unknown[] {
  const parsed = parseJsonPath(path);
  if (!parsed.ok) return [];
  let values: readonly Json[] = [object as Json];
  for (const step of parsed.steps) values = values.flatMap((value) => [...take(step, value)]);
  return values;
}

/** The reason why a path is not understood; undefined when it is. */
export function jsonPathProblem(path: string): string | undefined {
  const parsed = parseJsonPath(path);
  return parsed.ok ? undefined : parsed.reason;
}

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "slice"; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: "all" }
  | { readonly kind: "descend" }
  | { readonly kind: "filter"; readonly path: readonly Step[]; readonly test: FilterTest | undefined };

interface FilterTest {
  readonly operator: "==" | "!=" | "<" | "<=" | ">" | ">=";
  readonly literal: Json;
}

type Parsed = { readonly ok: true; readonly steps: readonly Step[] } | { readonly ok: false; readonly reason: string };

const CACHE_LIMIT = 1_000;
const cache = new Map<string, Parsed>();

function parseJsonPath(path: string): Parsed {
  const known = cache.get(path);
  if (known) return known;
  const parsed = parse(path);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(path, parsed);
  return parsed;
}

class PathProblem extends Error {}

function parse(path: string): Parsed {
  try {
    const inner = path.startsWith("{") && path.endsWith("}") ? path.slice(1, -1) : path;
    const body = inner.startsWith("$") ? inner.slice(1) : inner;
    return { ok: true, steps: parseSteps(body) };
  } catch (error) {
    if (error instanceof PathProblem) return { ok: false, reason: error.message };
    throw error;
  }
}

function parseSteps(text: string): readonly Step[] {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== "" && rest !== ".") {
    const [step, length] = nextStep(rest);
    steps.push(...step);
    rest = rest.slice(length);
  }
  return steps;
}

function nextStep(rest: string): readonly [readonly Step[], number] {
  if (rest.startsWith("..")) {
    const [inner, length] = nextStep(rest.slice(1));
    return [[{ kind: "descend" }, ...inner], length + 1];
  }
  if (rest.startsWith("[")) {
    const end = closingBracket(rest);
    return [[bracketStep(rest.slice(1, end).trim())], end + 1];
  }
  const field = /^\.((?:\\.|[^.[\]\\])*)/.exec(rest);
  if (!field) throw new PathProblem(`unexpected ${JSON.stringify(rest.slice(0, 10))}`);
  const name = (field[1] ?? "").replace(/\\(.)/g, "$1");
  if (name === "" && rest[field[0].length] !== "[") throw new PathProblem("a field name is missing");
  if (name === "") return [[], field[0].length];
  return [[name === "*" ? { kind: "all" } : { kind: "field", name }], field[0].length];
}

function closingBracket(text: string): number {
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote !== "") {
      if (character === "\\") at++;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return at;
  }
  throw new PathProblem("a closing ] is missing");
}

function bracketStep(text: string): Step {
  if (text === "*") return { kind: "all" };
  if (/^-?\d{1,9}$/.test(text)) return { kind: "index", index: Number(text) };
  const slice = /^(-?\d{1,9})?:(-?\d{1,9})?$/.exec(text);
  if (slice) return { kind: "slice", from: optionalNumber(slice[1]), to: optionalNumber(slice[2]) };
  const quoted = /^'((?:\\.|[^'\\])*)'$|^"((?:\\.|[^"\\])*)"$/.exec(text);
  if (quoted) return { kind: "field", name: (quoted[1] ?? quoted[2] ?? "").replace(/\\(.)/g, "$1") };
  const filter = /^\?\((.*)\)$/s.exec(text);
  if (filter) return filterStep((filter[1] ?? "").trim());
  throw new PathProblem(`[${text}] is not supported`);
}

const optionalNumber = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

function filterStep(text: string): Step {
  const match = /^@((?:\\.|[^=!<>\s\\])*)\s*(?:(==|!=|<=|>=|<|>)\s*(.+))?$/s.exec(text);
  if (!match) throw new PathProblem(`the filter ${text} is not supported`);
  const path = parseSteps(match[1] ?? "");
  if (match[2] === undefined) return { kind: "filter", path, test: undefined };
  const operator = match[2] as FilterTest["operator"];
  return { kind: "filter", path, test: { operator, literal: parseLiteral((match[3] ?? "").trim()) } };
}

function parseLiteral(text: string): Json {
  const quoted = /^'((?:\\.|[^'\\])*)'$|^"((?:\\.|[^"\\])*)"$/.exec(text);
  if (quoted) return (quoted[1] ?? quoted[2] ?? "").replace(/\\(.)/g, "$1");
  if (text === "true" || text === "false") return text === "true";
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  throw new PathProblem(`the literal ${text} is not supported`);
}

const MAX_DESCENT = 200;

function* take(step: Step, value: Json): Generator<Json> {
  switch (step.kind) {
    case "field":
      if (isObject(value) && Object.hasOwn(value, step.name)) yield value[step.name] ?? null;
      return;
    case "index": {
      const item = Array.isArray(value) ? value.at(step.index) : undefined;
      if (item !== undefined) yield item;
      return;
    }
    case "slice":
      if (Array.isArray(value)) yield* value.slice(step.from, step.to);
      return;
    case "all":
      yield* children(value);
      return;
    case "descend":
      yield* descend(value, 0);
      return;
    case "filter":
      for (const item of children(value)) if (passes(step.path, step.test, item)) yield item;
      return;
  }
}

function children(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function* descend(value: Json, depth: number): Generator<Json> {
  yield value;
  if (depth < MAX_DESCENT) for (const item of children(value)) yield* descend(item, depth + 1);
}

function passes(path: readonly Step[], test: FilterTest | undefined, item: Json): boolean {
  let values: readonly Json[] = [item];
  for (const step of path) values = values.flatMap((value) => [...take(step, value)]);
  const actual = values[0];
  if (actual === undefined || test === undefined) return actual !== undefined;
  return compare(actual, test);
}

function compare(actual: Json, { operator, literal }: FilterTest): boolean {
  if (operator === "==") return actual === literal;
  if (operator === "!=") return actual !== literal;
  if (typeof actual !== typeof literal || (typeof actual !== "number" && typeof actual !== "string")) return false;
  const order = actual < (literal ?? "") ? -1 : actual === literal ? 0 : 1;
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order >= 0;
}
