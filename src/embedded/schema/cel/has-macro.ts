import { type ASTNode, type Environment, Optional } from "@marcbachmann/cel-js";

/**
 * `has()` as the API server has it. The engine's own takes only a chain of fields and does not check that they exist;
 * since it cannot be replaced, rules are compiled with this name in its place, of the same length, so that every position
 * in the source stays what it was.
 */
export const HAS_ALIAS = "hAs";

const TOKENS = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*|(?<![\w.])has(?=\s*\()/g;

export const withHasAlias = (source: string): string =>
  source.replace(TOKENS, (token) => (token === "has" ? HAS_ALIAS : token));

/** What the engine hands to a macro; it has no types for it. */
interface CelTypeDeclaration {
  readonly kind: string;
  readonly name: string;
  fieldLazy(object: unknown, field: string, node: ASTNode, evaluator: Evaluator): unknown;
}

interface Checker {
  readonly objectTypes: ReadonlyMap<string, { readonly fields?: Readonly<Record<string, unknown>> }>;
  check(node: ASTNode, context: unknown): CelTypeDeclaration;
  getType(name: string): CelTypeDeclaration;
  createError(code: string, message: string, node: ASTNode): Error;
}

interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
  debugType(value: unknown): CelTypeDeclaration;
}

interface Macro {
  readonly call: ASTNode;
  readonly argument: ASTNode | undefined;
}

export function registerHas(environment: Environment): void {
  environment.registerFunction(
    `${HAS_ALIAS}(ast): bool`,
    ({ ast, args }: { ast: ASTNode; args: readonly ASTNode[] }) => ({
      call: ast,
      argument: args[0],
      async: false,
      typeCheck,
      evaluate,
    }),
  );
}

function typeCheck(checker: Checker, { call, argument }: Macro, context: unknown): CelTypeDeclaration {
  if (argument?.op !== "." && argument?.op !== ".?") {
    throw checker.createError("invalid_macro_argument", "invalid argument to has() macro", call);
  }
  const [operand, field] = argument.args;
  const type = checker.check(operand, context);
  const fields = type.kind === "message" ? checker.objectTypes.get(type.name)?.fields : undefined;
  if (fields && !(field in fields)) throw checker.createError("no_such_key", `No such key: ${field}`, call);
  if (!fields && !["map", "dyn", "optional"].includes(type.kind)) {
    throw checker.createError("no_field_selection", `type '${type.name}' does not support field selection`, call);
  }
  return checker.getType("bool");
}

function evaluate(evaluator: Evaluator, { argument }: Macro, context: unknown): boolean {
  if (argument?.op !== "." && argument?.op !== ".?") return false;
  const [operand, field] = argument.args;
  const object = evaluator.run(operand, context);
  const value = evaluator.debugType(object).fieldLazy(object, field, argument, evaluator);
  return value instanceof Optional ? value.hasValue() : value !== undefined;
}
