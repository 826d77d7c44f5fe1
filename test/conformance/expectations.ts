import assert from "node:assert/strict";
import { KubeError } from "../../src/kube/errors.ts";
import { eventually } from "../support/eventually.ts";
import type { Answer } from "./wire.ts";

/** A walk into a value whose shape the test knows: `at(deployment, "spec", "replicas")`, undefined where it ends. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

export interface Refusal {
  readonly status: number;
  /** The code of the typed error. */
  readonly code: string;
  readonly message?: RegExp | string;
  /** The fields named as causes, in any order; the server may have several complaints about one. */
  readonly fields?: readonly string[];
}

/** The call must be refused in exactly this way. */
export async function refused(call: Promise<unknown>, expected: Refusal): Promise<KubeError> {
  const error = await call.then(
    (result) => assert.fail(`was accepted, should be ${expected.status}: ${JSON.stringify(result)?.slice(0, 300)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof KubeError)) throw error;
  const seen = { status: error.status, code: error.code };
  assert.deepEqual(seen, { status: expected.status, code: expected.code }, error.message);
  if (expected.message !== undefined) matches(error.message, expected.message);
  if (expected.fields) {
    const named = new Set(error.causes.map((cause) => cause.field));
    assert.deepEqual([...named].sort(), [...expected.fields].sort(), error.message);
  }
  return error;
}

/** The answer must be a Status of this kind. */
export function assertStatus(
  answer: Answer,
  expected: { readonly status: number; readonly reason: string; readonly message?: RegExp | string },
): void {
  assert.equal(answer.status, expected.status, answer.text.slice(0, 500));
  const shape = { kind: at(answer.body, "kind"), code: at(answer.body, "code"), reason: at(answer.body, "reason") };
  assert.deepEqual(shape, { kind: "Status", code: expected.status, reason: expected.reason }, answer.text);
  if (expected.message !== undefined) matches(String(at(answer.body, "message")), expected.message);
}

function matches(text: string, expected: RegExp | string): void {
  if (typeof expected === "string") assert.equal(text, expected);
  else assert.match(text, expected);
}

/** Asks until nothing is thrown, and then fails with what was thrown last. */
export async function settles(check: () => Promise<void>): Promise<void> {
  let last: unknown;
  await eventually("the check to hold", async () => {
    try {
      await check();
      return true;
    } catch (error) {
      last = error;
      return undefined;
    }
  }).catch(() => {
    throw last;
  });
}
