import assert from "node:assert/strict";
import { test } from "node:test";
import { type Condition, mergeConditions, type StoredCondition } from "./conditions.ts";

const THEN = "2026-01-01T00:00:00Z";
const NOW = "2026-01-02T00:00:00Z";
const options = { nowAt: Date.parse(NOW), generation: 3, ours: ["Ready", "Synced"] };
const stored = (type: string, status: "True" | "False", reason = "Before"): StoredCondition => ({
  type,
  status,
  reason,
  lastTransitionTime: THEN,
});

test("times move when a status does, and only then", () => {
  const table: readonly (readonly [
    before: readonly StoredCondition[],
    wanted: Condition,
    at: string,
    reason: string,
  ])[] = [
    [[], { type: "Ready", status: "True", reason: "Available" }, NOW, "new"],
    [[stored("Ready", "True")], { type: "Ready", status: "True", reason: "Available" }, THEN, "another reason"],
    [[stored("Ready", "False")], { type: "Ready", status: "True", reason: "Available" }, NOW, "another status"],
    [[stored("Synced", "True")], { type: "Ready", status: "True", reason: "Available" }, NOW, "another type's time"],
  ];
  for (const [before, wanted, lastTransitionTime, reason] of table) {
    const [first] = mergeConditions(before, [wanted], options);
    assert.deepEqual(first, { ...wanted, lastTransitionTime, observedGeneration: 3 }, reason);
  }
});

test("other people's conditions stay as they are, ours go when they are not wanted any more", () => {
  const before = [stored("Audited", "True"), stored("Synced", "False"), stored("Ready", "True")];
  const merged = mergeConditions(before, [{ type: "Ready", status: "True", reason: "Available" }], options);
  assert.deepEqual(
    merged.map(({ type }) => type),
    ["Ready", "Audited"],
  );
  assert.deepEqual(merged[1], before[0]);
});
