import type { ASTNode, Environment, ParseResult } from "@marcbachmann/cel-js";
import { strictGoDurationNanos } from "../go-duration.ts";
import { compilePattern } from "../pattern.ts";
import { anchorOf, describeCompileError, located } from "./compile-error.ts";
import { HAS_ALIAS, withHasAlias } from "./has-macro.ts";
import { KNOWN_FUNCTIONS, OVERRIDDEN, UNSUPPORTED_FUNCTIONS } from "./library.ts";
import { OVERRIDE_PREFIX } from "./override-prefix.ts";
import type { CelTypes } from "./types.ts";

/** Longer expressions are refused: nobody writes them, and checking costs time. */
const MAX_LENGTH = 16 * 1024;

export type Evaluate = (context: Record<string, unknown>) => unknown;

/** An expression that may be evaluated, or what the API server would have against it. */
export type CompiledExpression =
  | {
      readonly ok: true;
      readonly evaluate: Evaluate;
      /** Of the result, as the engine names it. */
      readonly type: string;
      readonly usesOldSelf: boolean;
      /** How deep loops are nested: what the cost grows with. */
      readonly loopDepth: number;
      /** The functions and methods that it calls. */
      readonly calls: ReadonlySet<string>;
    }
  | { readonly ok: false; readonly error: string };

/**
 * Compiles one CEL expression in an environment that knows its variables. Everything that the API server does not let an
 * expression do is found here, so that evaluating can only fail on values. Must not: know what the expression is for.
 */
export function compileExpression(
  source: string,
  environment: Environment,
  types: Pick<CelTypes, "isObjectType">,
): CompiledExpression {
  const failed = (error: string): CompiledExpression => ({ ok: false, error });
  if (source.length > MAX_LENGTH) return failed(`ERROR: expression is longer than ${MAX_LENGTH} characters`);
  let parsed: ParseResult;
  try {
    parsed = environment.parse(withHasAlias(source));
  } catch (error) {
    return failed(describeCompileError(source, error));
  }
  const survey = new Survey(source);
  survey.visit(parsed.ast, 0);
  if (survey.problem) return failed(survey.problem);
  const result = parsed.check();
  if (!result.valid) return failed(describeCompileError(source, result.error));
  const typed = findTypedProblem(parsed.ast, source, types);
  if (typed) return failed(typed);
  const { usesOldSelf, loopDepth, calls } = survey;
  return { ok: true, evaluate: parsed, type: result.type ?? "dyn", usesOldSelf, loopDepth, calls };
}

/** Calls that look at each item once. */
const LINEAR: ReadonlySet<string> = new Set(
  "all exists exists_one map filter indexOf lastIndexOf isSorted sum min max sort reverse".split(" "),
);

/** How many loops a node amounts to. */
function loopsOf(node: ASTNode): number {
  if (node.op === "in") return 1;
  if (node.op !== "rcall") return 0;
  const [name, receiver] = node.args;
  if (name === "distinct" || (receiver.op === "id" && receiver.args === "sets")) return 2;
  return LINEAR.has(name) ? 1 : 0;
}

/** One walk over the parsed rule, before types are known: names, loops, literals; and the engine's methods exchanged. */
class Survey {
  problem: string | undefined;
  usesOldSelf = false;
  loopDepth = 0;
  readonly calls = new Set<string>();
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  visit(node: ASTNode, depth: number): void {
    if (this.problem) return;
    if (node.op === "id" && node.args === "oldSelf") this.usesOldSelf = true;
    if (node.op === "id" && node.args === "cel") this.#refuse(node, "undeclared reference to 'cel' (in container '')");
    const inner = depth + loopsOf(node);
    this.loopDepth = Math.max(this.loopDepth, inner);
    if (node.op === "call") this.#call(node, node.args[0], node.args[1]);
    if (node.op === "rcall") {
      this.#call(node, node.args[0], node.args[2]);
      // The nodes of a macro's arguments are shared with its expansion, so a change here is seen there, too.
      if (OVERRIDDEN.has(node.args[0])) node.args[0] = `${OVERRIDE_PREFIX}${node.args[0]}`;
    }
    for (const child of childrenOf(node)) this.visit(child, inner);
  }

  #call(node: ASTNode, name: string, args: readonly ASTNode[]): void {
    const isHas = name === HAS_ALIAS && this.#source.startsWith("has", node.start);
    if (isHas) return;
    this.calls.add(name);
    if (UNSUPPORTED_FUNCTIONS.has(name)) {
      this.#refuse(node, `the function '${name}' is not supported by the embedded API server`);
    } else if (!KNOWN_FUNCTIONS.has(name)) {
      this.#refuse(node, `undeclared reference to '${name}' (in container '')`);
    } else if (args.length === 3 && ["all", "exists", "exists_one"].includes(name)) {
      this.#refuse(node, `'${name}' with two variables is not supported by the embedded API server`);
    } else this.#checkLiteral(name, args[0]);
  }

  #checkLiteral(name: string, argument: ASTNode | undefined): void {
    if (argument?.op !== "value" || typeof argument.args !== "string") return;
    const text = argument.args;
    const isPattern = name === "matches" || name === "find" || name === "findAll";
    const wrong =
      (isPattern && !compilePattern(text).ok) ||
      (name === "duration" && strictGoDurationNanos(text) === undefined) ||
      (name === "timestamp" && Number.isNaN(Date.parse(text)));
    if (wrong) this.#refuse(argument, `invalid ${name} argument`);
  }

  #refuse(node: ASTNode, problem: string): void {
    this.problem ??= located(this.#source, anchorOf(node, this.#source), problem);
  }
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args;
  }
}

/** The engine writes what it inferred onto the nodes. */
const typeOf = (node: ASTNode): string | undefined =>
  (node as ASTNode & { readonly checkedType?: { readonly name: string } }).checkedType?.name;

/** What the engine's checker lets pass and the API server's does not: indexed objects, mixed lists. */
function findTypedProblem(node: ASTNode, source: string, types: Pick<CelTypes, "isObjectType">): string | undefined {
  if (node.op === "[]") {
    const container = typeOf(node.args[0]);
    if (container && types.isObjectType(container)) {
      return located(
        source,
        anchorOf(node, source),
        `found no matching overload for '_[_]' applied to '(${container}, ${typeOf(node.args[1])})'`,
      );
    }
  }
  if (node.op === "list") {
    const [first, other] = new Set(
      node.args.map(typeOf).filter((name) => name !== undefined && !name.includes("dyn") && !/<[A-Z]/.test(name)),
    );
    if (first !== undefined && other !== undefined)
      return located(source, node.pos, `expected type '${first}' but found '${other}'`);
  }
  const children =
    node.op === "rcall" && node.args[0] === "format" ? formatChildren(node.args[1], node.args[2]) : childrenOf(node);
  for (const child of children) {
    const problem = findTypedProblem(child, source, types);
    if (problem) return problem;
  }
  return undefined;
}

/** The list that `format` takes may be mixed. */
const formatChildren = (receiver: ASTNode, args: readonly ASTNode[]): readonly ASTNode[] => [
  receiver,
  ...args.flatMap((argument) => (argument.op === "list" ? argument.args : [argument])),
];
