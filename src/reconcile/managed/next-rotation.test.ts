import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActiveKey, State } from "../../engine/model.ts";
import { parseWindow } from "../../engine/windows.ts";
import { policyWith, stateWith } from "./managed-kind.fixture.ts";
import { nextRotation } from "./next-rotation.ts";

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
