import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { validateRules } from "../embedded/schema/cel/validate-rules.ts";
import type { Schema } from "../embedded/schema/schema.ts";
import { rotationPolicy } from "../reconcile/managed/rotation-policy.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import { rotation, rotationOrInterval } from "./rotation.ts";
import type { SchemaNode } from "./schema.ts";

const isAdmitted = (schema: SchemaNode, value: Readonly<Record<string, string>>): boolean =>
  validateRules(value, undefined, schema as Schema, false).length === 0;

const isFollowed = (value: Readonly<Record<string, string>>): boolean => {
  try {
    rotationPolicy(value, { field: "spec.rotation", publishes: true, limits: { minFrequencyMs: 1 } });
    return true;
  } catch (error) {
    assert.ok(error instanceof SpecProblem);
    return false;
  }
};

const length = fc.constantFrom("12d", "288h", "2w", "14d", "1h30m", "90m", "0s", "-1h", "soon", "", "36525d", "36526d");

test("the API server admits the lengths that the operator follows, and no others", () => {
  const value = fc.record({ ttl: length, frequency: length, maxHold: length }, { requiredKeys: [] });
  fc.assert(
    fc.property(value, (candidate) => {
      assert.equal(isAdmitted(rotation, candidate), isFollowed(candidate), JSON.stringify(candidate));
    }),
    { numRuns: 400 },
  );
});

test("the API server and the operator know the same words for when a retired key goes", () => {
  for (const schema of [rotation, rotationOrInterval]) {
    const { revoke } = schema.properties as Readonly<Record<string, { readonly enum: readonly string[] }>>;
    assert.deepEqual(revoke?.enum, ["AtDeletionDate", "AfterConsumers"]);
  }
  const valid = { ttl: "14d", frequency: "12d" };
  assert.ok(["AtDeletionDate", "AfterConsumers"].every((revoke) => isFollowed({ ...valid, revoke })));
  assert.ok(!isFollowed({ ...valid, revoke: "Later" }));
});

test("where the frequency may be called an interval, the two agree as well, and both at once are refused", () => {
  const value = fc.record({ ttl: length, frequency: length, interval: length }, { requiredKeys: [] });
  fc.assert(
    fc.property(value, (candidate) => {
      assert.equal(isAdmitted(rotationOrInterval, candidate), isFollowed(candidate), JSON.stringify(candidate));
    }),
    { numRuns: 400 },
  );
  assert.ok(isFollowed({ ttl: "14d", interval: "12d" }));
  assert.ok(!isAdmitted(rotationOrInterval, { ttl: "14d", interval: "12d", frequency: "12d" }));
});
