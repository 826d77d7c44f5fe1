import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { validateRules } from "../embedded/schema/cel/validate-rules.ts";
import type { Schema } from "../embedded/schema/schema.ts";
import { rotationPolicy } from "../reconcile/managed/rotation-policy.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import { rotation } from "./rotation.ts";

const isAdmitted = (value: Readonly<Record<string, string>>): boolean =>
  validateRules(value, undefined, rotation as Schema, false).length === 0;

const isFollowed = (value: Readonly<Record<string, string>>): boolean => {
  try {
    rotationPolicy(value, { field: "spec.rotation", publishes: true, limits: { minFrequencyMs: 1 } });
    return true;
  } catch (error) {
    assert.ok(error instanceof SpecProblem);
    return false;
  }
};

test("the API server admits the lengths that the operator follows, and no others", () => {
  const length = fc.constantFrom(
    "12d",
    "288h",
    "2w",
    "14d",
    "1h30m",
    "90m",
    "0s",
    "-1h",
    "soon",
    "",
    "36525d",
    "36526d",
  );
  const value = fc.record({ ttl: length, frequency: length }, { requiredKeys: [] });
  fc.assert(
    fc.property(value, (candidate) => {
      assert.equal(isAdmitted(candidate), isFollowed(candidate), JSON.stringify(candidate));
    }),
    { numRuns: 400 },
  );
});
