import type { Environment } from "@marcbachmann/cel-js";
import type { Schema, ValidationRule } from "../schema.ts";
import { type CompiledExpression, compileExpression, type Evaluate } from "./compile-expression.ts";
import { baseEnvironment } from "./library.ts";
import { type CelType, CelTypes } from "./types.ts";

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Why the rule cannot be used; a CRD with such a rule is refused. */
  readonly error: string | undefined;
  readonly messageError: string | undefined;
  readonly evaluate: Evaluate | undefined;
  readonly evaluateMessage: Evaluate | undefined;
  readonly usesOldSelf: boolean;
  /** How deep loops are nested: what the cost grows with. */
  readonly loopDepth: number;
}

export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  readonly type: CelType;
}

/**
 * Compiles the rules of one schema node against the types of its schema. Everything that a rule may not do is found
 * here, so that evaluating can only fail on values. Undefined where the node cannot be seen by rules at all.
 */
export function compileRules(schema: Schema, isResourceRoot: boolean): CompiledRules | undefined {
  const environment = baseEnvironment().clone();
  const types = new CelTypes(environment);
  const type = types.of({ ...schema, nullable: false }, isResourceRoot);
  if (!type) return undefined;
  const plain = withSelf(environment, type, type.name);
  const optional = withSelf(environment, type, `optional<${type.name}>`);
  const rules = (schema["x-kubernetes-validations"] ?? []).map((rule) =>
    compileRule(rule, rule.optionalOldSelf === true ? optional : plain, types),
  );
  return { rules, type };
}

const withSelf = (environment: Environment, type: CelType, oldSelf: string): Environment =>
  environment.clone().registerVariable("self", type.name).registerVariable("oldSelf", oldSelf);

function compileRule(rule: ValidationRule, environment: Environment, types: CelTypes): CompiledRule {
  const program = typed(compileExpression(rule.rule, environment, types), "bool");
  const message =
    rule.messageExpression !== undefined && program.ok
      ? typed(compileExpression(rule.messageExpression, environment, types), "string")
      : undefined;
  return {
    rule,
    error: errorOf(program, { what: "compilation", wrongType: "cel expression must evaluate to a bool" }),
    messageError: errorOf(message, {
      what: "messageExpression compilation",
      wrongType: "messageExpression must evaluate to a string",
    }),
    evaluate: program.ok ? program.evaluate : undefined,
    evaluateMessage: message?.ok ? message.evaluate : undefined,
    usesOldSelf: program.ok && program.usesOldSelf,
    loopDepth: Math.max(program.ok ? program.loopDepth : 0, message?.ok ? message.loopDepth : 0),
  };
}

const WRONG_TYPE = "wrong type";

const typed = (compiled: CompiledExpression, type: string): CompiledExpression =>
  compiled.ok && compiled.type !== type ? { ok: false, error: WRONG_TYPE } : compiled;

function errorOf(
  compiled: CompiledExpression | undefined,
  { what, wrongType }: { readonly what: string; readonly wrongType: string },
): string | undefined {
  if (compiled === undefined || compiled.ok) return undefined;
  return compiled.error === WRONG_TYPE ? wrongType : `${what} failed: ${compiled.error}`;
}
