import type { Environment } from "@marcbachmann/cel-js";
import type { JsonObject } from "../../json.ts";
import { compileExpression } from "./compile-expression.ts";
import { weigh } from "./cost.ts";
import { describeEvaluationError } from "./evaluation-text.ts";
import { baseEnvironment } from "./library.ts";
import { untyped } from "./untyped.ts";

/** An expression that says of an object whether it is as it should be, or what is wrong with the expression. */
export type Judgement =
  | {
      readonly ok: true;
      /** Of plain JSON. Throws an Error with a message for people where the expression does not fit the object. */
      judge(object: Readonly<Record<string, unknown>>): boolean;
    }
  | { readonly ok: false; readonly error: string };

const MAX_SOURCE_LENGTH = 1024;
const MAX_OBJECT_LENGTH = 256 * 1024;
/** What loops, and whatever is compared within them, may look at. */
const MAX_STEPS = 20_000_000;

/**
 * What such an expression may call: nothing whose time or result grows faster than what it is given. Patterns are among
 * what is missing, and so is everything that makes long lists out of short texts.
 */
const CALLS: ReadonlySet<string> = new Set(
  "has all exists exists_one map filter size contains startsWith endsWith bool int double string timestamp".split(" "),
);

let environment: Environment | undefined;

/**
 * Compiles an expression over one untyped object, `self`, that somebody wrote who may cost others no time: it is short,
 * calls little, and what its loops may look at is bounded before they begin. Must not: see anything but the object.
 */
export function compileJudgement(source: string): Judgement {
  if (source.length > MAX_SOURCE_LENGTH) return refusal(`is longer than ${MAX_SOURCE_LENGTH} characters`);
  environment ??= baseEnvironment().clone().registerVariable("self", "dyn");
  const compiled = compileExpression(source, environment, { isObjectType: () => false });
  if (!compiled.ok) return refusal(compiled.error);
  if (compiled.type !== "bool" && compiled.type !== "dyn")
    return refusal(`must be true or false, not a ${compiled.type}`);
  const excess = [...compiled.calls].filter((name) => !CALLS.has(name)).sort();
  if (excess.length > 0) return refusal(`may not call ${excess.join(", ")}`);
  const { evaluate, loopDepth } = compiled;
  return { ok: true, judge: (object) => judge(object as JsonObject, evaluate, loopDepth) };
}

const refusal = (error: string): Judgement => ({ ok: false, error });

function judge(
  object: JsonObject,
  evaluate: (context: Record<string, unknown>) => unknown,
  loopDepth: number,
): boolean {
  if (JSON.stringify(object).length > MAX_OBJECT_LENGTH || weigh(object) ** (loopDepth + 1) > MAX_STEPS) {
    throw new Error("the object is too large to be judged by this expression");
  }
  let result: unknown;
  try {
    result = evaluate({ self: untyped(object) });
  } catch (error) {
    throw new Error(describeEvaluationError(error));
  }
  if (typeof result !== "boolean") throw new Error("is neither true nor false");
  return result;
}
