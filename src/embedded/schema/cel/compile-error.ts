import { type ASTNode, TypeError as CelTypeError, ParseError } from "@marcbachmann/cel-js";
import { messageOf } from "../../../base/errors.ts";
import { OVERRIDE_PREFIX } from "./override-prefix.ts";

/** A problem with its place in the source, drawn as the API server draws it. */
export function located(source: string, position: number, problem: string): string {
  const before = source.slice(0, position).split("\n");
  const column = before.at(-1)?.length ?? 0;
  const line = source.split("\n")[before.length - 1] ?? "";
  return `ERROR: <input>:${before.length}:${column + 1}: ${problem}\n | ${line}\n | ${".".repeat(column)}^`;
}

/** Where the API server points at: the operator, the dot of a field, the parenthesis of a call. */
export function anchorOf(node: ASTNode, source: string): number {
  switch (node.op) {
    case "call":
      return find(source, "(", node.start);
    case "rcall":
      return find(source, "(", find(source, ".", node.args[1].end));
    case ".":
    case ".?":
      return find(source, ".", node.args[0].end);
    case "[]":
      return find(source, "[", node.args[0].end);
    case "?:":
      return find(source, "?", node.args[0].end);
    case "==":
    case "!=":
    case "in":
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return find(source, node.op, node.args[0].end);
    default:
      return node.start;
  }
}

const find = (source: string, text: string, from: number): number => Math.max(0, source.indexOf(text, from));

/** What the CEL engine says of a rule it cannot take, in the API server's words where there are such. */
export function describeCompileError(source: string, error: unknown): string {
  if (error instanceof ParseError) {
    const isMacro = error.code === "invalid_macro_argument";
    return located(source, error.range?.start ?? 0, isMacro ? error.summary : `Syntax error: ${error.summary}`);
  }
  if (!(error instanceof CelTypeError)) return located(source, 0, messageOf(error).split("\n", 1)[0] ?? "");
  const text = error.summary.replaceAll(OVERRIDE_PREFIX, "");
  const position = error.node ? anchorOf(error.node, source) : (error.range?.start ?? 0);
  if (error.code === "no_such_key") {
    return located(source, position, `undefined field '${text.replace(/^No such key: /, "")}'`);
  }
  return located(source, position, translate(error.code, text));
}

function translate(code: string, summary: string): string {
  if (code === "unknown_variable") {
    return `undeclared reference to '${summary.replace(/^Unknown variable: /, "")}' (in container '')`;
  }
  if (code === "no_such_overload") {
    const binary = /^no such overload: (.+) (==|!=|<=|>=|<|>|in|[-+*/%]) (.+)$/.exec(summary);
    if (binary) {
      const operator = binary[2] === "in" ? "@in" : `_${binary[2]}_`;
      return noOverload(operator, `(${typeName(binary[1])}, ${typeName(binary[3])})`);
    }
    const unary = /^no such overload: ([!-])(.+)$/.exec(summary);
    if (unary) return noOverload(`${unary[1]}_`, `(${typeName(unary[2])})`);
  }
  if (code === "no_matching_overload") {
    const call = /for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(summary);
    if (call) return noOverload(call[2] ?? "", `${call[1] ? `${typeName(call[1])}.` : ""}(${typeName(call[3])})`);
  }
  const branches = /^Ternary branches must have the same type, got '(.+)' and '(.+)'$/.exec(summary);
  if (branches) return noOverload("_?_:_", `(bool, ${typeName(branches[1])}, ${typeName(branches[2])})`);
  return summary;
}

const noOverload = (name: string, types: string): string =>
  `found no matching overload for '${name}' applied to '${types}'`;

/** `list<string>` → `list(string)`, and the names people know for timestamps and durations. */
export const typeName = (name = ""): string =>
  name
    .replaceAll("<", "(")
    .replaceAll(">", ")")
    .replace(/google\.protobuf\.(Timestamp|Duration)/g, (_, kind: string) => kind.toLowerCase());
