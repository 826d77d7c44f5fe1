import type { Environment } from "@marcbachmann/cel-js";
import type { Json } from "../json.ts";
import { typeName } from "../schema/cel/compile-error.ts";
import { type CompiledExpression, compileExpression } from "../schema/cel/compile-expression.ts";
import { isTooExpensive } from "../schema/cel/cost.ts";
import { describeEvaluationError } from "../schema/cel/evaluation-text.ts";
import { baseEnvironment } from "../schema/cel/library.ts";
import { type Bindings, declareBindings } from "./policy-values.ts";

export type Program =
  | { readonly ok: true; readonly evaluate: (run: PolicyRun) => unknown }
  | { readonly ok: false; readonly error: string };

/** One evaluation of a policy: what its expressions see, and what its variables came to. */
export interface PolicyRun {
  readonly bindings: Bindings;
  readonly variables: Variables;
  /** What loops may go over. */
  readonly weighed: Json;
}

/** Evaluated when they are first read, and once. */
class Variables extends Map<string, unknown> {
  readonly #evaluate: (name: string) => unknown;

  constructor(evaluate: (name: string) => unknown) {
    super();
    this.#evaluate = evaluate;
  }

  override get(name: string): unknown {
    if (!this.has(name)) this.set(name, this.#evaluate(name));
    return super.get(name);
  }
}

const TYPES = { isObjectType: (name: string): boolean => name.startsWith("kubernetes.") };

let declared: Environment | undefined;

/** Compiles the expressions of one policy; each variable is known to what is compiled after it. */
export class PolicyCompiler {
  readonly #variables = new Map<string, { readonly type: string; readonly program: Program }>();

  addVariable(name: string, source: string): Program {
    const compiled = compileExpression(source, this.#environment(), TYPES);
    const program = programOf(source, compiled);
    this.#variables.set(name, { type: compiled.ok ? compiled.type : "dyn", program });
    return program;
  }

  compile(source: string, wanted: "bool" | "string"): Program {
    const compiled = compileExpression(source, this.#environment(), TYPES);
    if (compiled.ok && compiled.type !== wanted) {
      return { ok: false, error: `must evaluate to ${wanted} but got ${typeName(compiled.type)}` };
    }
    return programOf(source, compiled);
  }

  /** Begins an evaluation; variables see what all other expressions see. */
  begin(bindings: Bindings, weighed: Json): PolicyRun {
    const run: PolicyRun = { bindings, weighed, variables: new Variables((name) => this.#evaluate(name, run)) };
    return run;
  }

  #evaluate(name: string, run: PolicyRun): unknown {
    const program = this.#variables.get(name)?.program;
    if (!program?.ok) throw new Error(`composited variable "${name}" fails to compile: ${program?.error}`);
    try {
      return program.evaluate(run);
    } catch (error) {
      throw new Error(`composited variable "${name}" fails to evaluate: ${describeEvaluationError(error)}`);
    }
  }

  #environment(): Environment {
    declared ??= declareBindings(baseEnvironment().clone());
    if (this.#variables.size === 0) return declared;
    const fields = Object.fromEntries([...this.#variables].map(([name, { type }]) => [name, type]));
    return declared
      .clone()
      .registerType("kubernetes.variables", { ctor: Variables, fields })
      .registerVariable("variables", "kubernetes.variables");
  }
}

function programOf(source: string, compiled: CompiledExpression): Program {
  if (!compiled.ok) return { ok: false, error: `compilation failed: ${compiled.error}` };
  const { evaluate, loopDepth } = compiled;
  return {
    ok: true,
    evaluate: ({ bindings, variables, weighed }) => {
      if (isTooExpensive(loopDepth, weighed)) {
        throw new Error(`'${source}' goes over too much: operation cancelled: actual cost limit exceeded`);
      }
      return evaluate({ ...bindings, variables });
    },
  };
}
