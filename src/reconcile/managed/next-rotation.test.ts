import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActiveKey, RetiredKey, State } from "../../engine/model.ts";
import { parseWindow } from "../../engine/windows.ts";
import { policyWith, stateWith } from "./managed-kind.fixture.ts";
import { nextDate, nextRotation } from "./next-rotation.ts";

/** A Thursday. */
const BEGIN = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const active: ActiveKey = { id: "k-1", name: "orders-1", createdAt: BEGIN, sequence: 1, madeFrom: "x" };
const pending = {
  name: "orders-2",
  sequence: 2,
  since: BEGIN,
  id: undefined,
  madeFrom: "x",
  reason: undefined,
  fulfils: undefined,
};
const sundays = parseWindow({ schedule: "0 3 * * 0", duration: "2h" });
const never = parseWindow({ schedule: "0 0 30 2 *", duration: "2h" });
const policy = policyWith({ frequencyMs: 12 * DAY_MS });

test("the next rotation is when the key is due and a window is open", () => {
  type Rule = Parameters<typeof nextRotation>[1];
  const table: readonly (readonly [reason: string, state: Partial<State>, rule: Rule, at: number])[] = [
    ["it is due by its age", { active }, { policy, windows: [] }, Date.UTC(2026, 0, 13)],
    ["it waits for its window", { active }, { policy, windows: [sundays] }, Date.UTC(2026, 0, 18, 3)],
    ["no window ever opens", { active }, { policy, windows: [never] }, Infinity],
    ["it was put off", { active, postponedUntil: BEGIN + 20 * DAY_MS }, { policy, windows: [] }, BEGIN + 20 * DAY_MS],
    ["there is no policy", { active }, { policy: policyWith({ frequencyMs: Infinity }), windows: [] }, Infinity],
    ["there is no key yet", {}, { policy, windows: [] }, Infinity],
    ["the next one is being made", { active, pending }, { policy, windows: [] }, Infinity],
  ];
  for (const [reason, state, rule, at] of table) assert.equal(nextRotation(stateWith(state), rule), at, reason);
});

test("the next date is the first that is still to come, of rotations and of retired keys", () => {
  type Rule = Parameters<typeof nextDate>[1];
  const retiredUntil = (deletionAt: number): RetiredKey => ({
    id: `k-${deletionAt}`,
    name: "orders-0",
    createdAt: BEGIN - 20 * DAY_MS,
    retiredAt: BEGIN,
    replacedAt: BEGIN,
    overlapMs: deletionAt - BEGIN,
    deletionAt,
    cause: "rotated",
  });
  const [gone, third] = [retiredUntil(BEGIN + DAY_MS), retiredUntil(BEGIN + 3 * DAY_MS)];
  const now = BEGIN + 2 * DAY_MS;
  const late = BEGIN + 20 * DAY_MS;
  const whole = { policy: policyWith({ frequencyMs: 12 * DAY_MS, ttlMs: undefined }), windows: [] };
  type Row = readonly [reason: string, state: Partial<State>, rule: Rule, now: number, at: number];
  const table: readonly Row[] = [
    ["nothing but the rotation", { active }, whole, now, BEGIN + 12 * DAY_MS],
    ["a retired key goes before it", { active, retired: [gone, third] }, whole, now, BEGIN + 3 * DAY_MS],
    ["what is over is not to come", { active, retired: [gone] }, whole, late, Infinity],
    ["a window was missed: the next one", { active }, { ...whole, windows: [sundays] }, late, Date.UTC(2026, 0, 25, 3)],
  ];
  for (const [reason, state, rule, from, at] of table) assert.equal(nextDate(stateWith(state), rule, from), at, reason);
});
