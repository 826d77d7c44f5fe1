import type { KubeObject } from "../../kube/objects.ts";
import { jsonOf } from "../json.ts";
import { asObject, asObjects, asText } from "../kinds/json-fields.ts";
import { describeEvaluationError, usableMessage } from "../schema/cel/evaluation-text.ts";
import type { AdmissionRequest } from "./admission.ts";
import { matchesResources } from "./match-resources.ts";
import { PolicyCompiler, type PolicyRun, type Program } from "./policy-compiler.ts";
import { bindingsFor } from "./policy-values.ts";

/** Why a policy is against a write. */
export interface Objection {
  readonly message: string;
  readonly reason: string;
}

interface Validation {
  readonly expression: string;
  readonly program: Program;
  readonly message: string;
  readonly messageProgram: Program | undefined;
  readonly reason: string;
}

const DEFAULT_REASON = "Invalid";

/**
 * A ValidatingAdmissionPolicy, ready to judge. An expression that cannot be evaluated is an objection where the policy
 * says `failurePolicy: Fail`, and none where it says Ignore. Must not: know bindings, or what becomes of an objection.
 */
export class CompiledPolicy {
  readonly name: string;
  readonly #compiler = new PolicyCompiler();
  readonly #match: ReturnType<typeof asObject>;
  readonly #conditions: readonly { readonly expression: string; readonly program: Program }[];
  readonly #validations: readonly Validation[];
  readonly #failsClosed: boolean;

  constructor(policy: KubeObject) {
    const spec = asObject(policy.spec);
    this.name = policy.metadata.name;
    this.#match = asObject(spec.matchConstraints);
    this.#failsClosed = spec.failurePolicy !== "Ignore";
    for (const { name, expression } of asObjects(spec.variables)) {
      this.#compiler.addVariable(asText(name), asText(expression));
    }
    this.#conditions = asObjects(spec.matchConditions).map((condition) => {
      const expression = asText(condition.expression);
      return { expression, program: this.#compiler.compile(expression, "bool") };
    });
    this.#validations = asObjects(spec.validations).map((validation) => {
      const expression = asText(validation.expression);
      const messageExpression = asText(validation.messageExpression);
      return {
        expression,
        program: this.#compiler.compile(expression, "bool"),
        message: asText(validation.message).trim(),
        messageProgram: messageExpression === "" ? undefined : this.#compiler.compile(messageExpression, "string"),
        reason: asText(validation.reason) || DEFAULT_REASON,
      };
    });
  }

  matches(request: AdmissionRequest, namespace: KubeObject | undefined): boolean {
    return matchesResources(this.#match, request, namespace);
  }

  judge(request: AdmissionRequest, namespace: KubeObject | undefined): readonly Objection[] {
    const seen = request.object ?? request.oldObject;
    const run = this.#compiler.begin(bindingsFor(request, namespace), seen ? jsonOf(seen) : null);
    const conditions = this.#conditions.map((condition) => evaluate(condition, run));
    if (conditions.some(({ value }) => value === false)) return [];
    const failed = conditions.flatMap(({ error }) => error ?? []);
    if (failed.length > 0) return this.#failures(failed.length === 1 ? failed.join() : `[${failed.join(", ")}]`);
    return this.#validations.flatMap((validation) => {
      const { value, error } = evaluate(validation, run);
      if (error !== undefined) return this.#failures(error);
      return value === true ? [] : [{ message: messageFor(validation, run), reason: validation.reason }];
    });
  }

  #failures(message: string): readonly Objection[] {
    return this.#failsClosed ? [{ message, reason: DEFAULT_REASON }] : [];
  }
}

function evaluate(
  { expression, program }: { readonly expression: string; readonly program: Program },
  run: PolicyRun,
): { readonly value?: unknown; readonly error?: string } {
  if (!program.ok) return { error: `compilation error: ${program.error}` };
  try {
    return { value: program.evaluate(run) };
  } catch (error) {
    return { error: `expression '${expression}' resulted in error: ${describeEvaluationError(error)}` };
  }
}

/** The computed message where there is a usable one, then the plain one, then the expression itself. */
function messageFor({ expression, message, messageProgram }: Validation, run: PolicyRun): string {
  const computed = messageProgram && evaluate({ expression: "", program: messageProgram }, run).value;
  return usableMessage(computed) ?? (message || `failed expression: ${expression.trim()}`);
}
