import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant } from "../../../base/instant.ts";
import { fc } from "../../../base/properties.fixture.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { SpecProblem } from "../../managed/spec-problem.ts";
import type { ChildHealth } from "../child-plan.ts";
import { readinessOf, readReadiness } from "./readiness.ts";

const NOW = Date.UTC(2026, 0, 2);
const HOUR_MS = 3_600_000;
const SINCE = NOW - HOUR_MS;
const around = { now: NOW, illSince: () => NOW - 5 };

const childOf = (status: unknown, ageMs = 24 * HOUR_MS): KubeObject => ({
  apiVersion: "x.dev/v1",
  kind: "X",
  metadata: { name: "x", uid: "u", generation: 2, creationTimestamp: formatInstant(NOW - ageMs) },
  status,
});
const condition = (type: string, status: string, more: object = {}) => ({
  type,
  status,
  lastTransitionTime: formatInstant(SINCE),
  ...more,
});
const ill = (complaint: string, since = SINCE): ChildHealth => ({ kind: "ill", since, complaint });
const ready = condition("Ready", "True");

test("by a condition", () => {
  const table: readonly (readonly [unknown, ChildHealth, string])[] = [
    [undefined, ill("it has no condition Ready", NOW - 5), "no status, for a day"],
    [{ conditions: [] }, ill("it has no condition Ready", NOW - 5), "no condition, for a day"],
    [{ conditions: [ready] }, { kind: "well" }, "ready"],
    [{ conditions: [condition("Ready", "Unknown")] }, { kind: "coming" }, "nobody knows"],
    [{ conditions: [{ ...ready, observedGeneration: 1 }] }, { kind: "coming" }, "said of an earlier generation"],
    [{ conditions: [{ ...ready, observedGeneration: 2 }] }, { kind: "well" }, "said of this one"],
    [
      { conditions: [condition("Ready", "False", { reason: "Pending", message: "waits\nfor  an issuer" })] },
      ill("Ready is False: Pending: waits for an issuer"),
      "what is wrong is said in its own words",
    ],
    [{ conditions: [ready, condition("Synced", "False")] }, ill("Synced is False"), "ready with what it had before"],
    [{ conditions: [ready, condition("Synced", "True")] }, { kind: "well" }, "and synced"],
    [{ conditions: [condition("Other", "True")] }, ill("it has no condition Ready", NOW - 5), "another condition"],
    [{ conditions: "all well" }, ill("it has no condition Ready", NOW - 5), "damaged"],
    [
      { conditions: [condition("Ready", "False", { lastTransitionTime: "yesterday" })] },
      ill("Ready is False", NOW - 5),
      "a date that is none",
    ],
  ];
  for (const [status, expected, reason] of table) {
    assert.deepEqual(readinessOf(childOf(status), readReadiness({}), around), expected, reason);
  }
});

test("what was just made is given a moment", () => {
  const status = { conditions: [condition("Ready", "False")] };
  assert.deepEqual(readinessOf(childOf(status, 30_000), readReadiness({}), around), { kind: "coming" });
  assert.deepEqual(readinessOf(childOf(undefined, 30_000), readReadiness({}), around), { kind: "coming" });
  assert.deepEqual(readinessOf(childOf({}, 30_000), readReadiness({ cel: "self.status.ok" }), around), {
    kind: "coming",
  });
});

test("by an expression", () => {
  const readiness = readReadiness({ cel: "self.status.phase == 'Sealed' && self.metadata.name == 'x'" });
  assert.deepEqual(readinessOf(childOf({ phase: "Sealed" }), readiness, around), { kind: "well" });
  assert.deepEqual(
    readinessOf(childOf({ phase: "Open" }), readiness, around),
    ill("spec.readiness.cel does not hold", NOW - 5),
  );
  assert.deepEqual(readinessOf(childOf({}), readiness, around), ill("spec.readiness.cel: no such key: phase", NOW - 5));
});

test("an expression sees the child, but not who wrote which field of it", () => {
  const child = childOf({});
  const written = { ...child, metadata: { ...child.metadata, managedFields: [{}] } };
  assert.deepEqual(readinessOf(written, readReadiness({ cel: "!has(self.metadata.managedFields)" }), around), {
    kind: "well",
  });
});

test("a broken expression is a mistake in the spec", () => {
  for (const [fields, expected] of [
    [{ cel: "self.status." }, /spec\.readiness\.cel: ERROR/],
    [{ cel: "self.a.matches('x')" }, /spec\.readiness\.cel: may not call matches/],
    [{ cel: "true", condition: "Ready" }, /keep one of them/],
  ] as const) {
    assert.throws(
      () => readReadiness(fields),
      (error) => error instanceof SpecProblem && expected.test(error.message),
    );
  }
});

test("whatever a status holds, there is an answer", () => {
  const readings = [readReadiness({}), readReadiness({ cel: "self.status.conditions.all(c, c.status == 'True')" })];
  fc.assert(
    fc.property(fc.anything({ withBigInt: false }), fc.constantFrom(...readings), (status, readiness) => {
      const json = JSON.parse(JSON.stringify({ status })) as { readonly status?: unknown };
      const { kind } = readinessOf(childOf(json.status), readiness, around);
      assert.ok(["well", "coming", "ill"].includes(kind));
    }),
  );
});
