import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { type Departure, type DepartureStep, decideDeletion } from "./decide-deletion.ts";
import { settledWorld } from "./engine-world.fixture.ts";
import type { SeenKey, State } from "./model.ts";

const NOW = Date.UTC(2025, 10, 5);
const { state } = settledWorld();

const seen = (id: string, sequence: number | undefined, keyState: SeenKey["state"] = "ready"): SeenKey => ({
  id,
  name: `name-${id}`,
  createdAt: NOW,
  state: keyState,
  sequence,
});

const active = seen("id-1", 1);
const old = seen("old", 0);
const pending: State = {
  ...state,
  sequence: 2,
  pending: {
    name: "key-2",
    sequence: 2,
    since: NOW,
    id: undefined,
    madeFrom: "v1",
    reason: "FirstKey",
    fulfils: undefined,
  },
};

const departure = (more: Partial<Departure>): Departure => ({
  state,
  outside: [],
  policy: "delete",
  now: NOW,
  settledAt: NOW + 120_000,
  isPaused: false,
  isSkewed: false,
  ...more,
});

const wait = (until: number, reason: "Paused" | "KeyBeingDeleted" | "Settling"): DepartureStep => ({
  kind: "wait",
  until,
  reason,
});

const table: readonly [reason: string, given: Partial<Departure>, step: DepartureStep][] = [
  ["paused: nothing is done", { isPaused: true, outside: [active] }, wait(Infinity, "Paused")],
  ["without our finalizer it is not ours to hold", { state: { ...state, hasFinalizer: false } }, { kind: "release" }],
  ["nobody has looked: look", { outside: undefined }, { kind: "look" }],
  ["retired keys go first", { outside: [active, old] }, { kind: "remove", ids: ["old"] }],
  ["then the active one", { outside: [active] }, { kind: "remove", ids: ["id-1"] }],
  [
    "the pending key goes with the active one",
    { state: pending, outside: [active, seen("id-2", 2)] },
    { kind: "remove", ids: ["id-1", "id-2"] },
  ],
  ["a failed create is removed too", { outside: [seen("broken", 1, "failed")] }, { kind: "remove", ids: ["broken"] }],
  ["what is not ours stays", { outside: [seen("foreign", undefined)] }, { kind: "release" }],
  [
    "a key on its way out is waited for",
    { outside: [seen("id-1", 1, "deleting")] },
    wait(NOW + 5_000, "KeyBeingDeleted"),
  ],
  [
    "a retired key on its way out keeps the active one",
    { outside: [active, seen("old", 0, "deleting")] },
    wait(NOW + 5_000, "KeyBeingDeleted"),
  ],
  [
    "what left a while ago is looked at as often as that allows",
    { outside: [{ ...seen("id-1", 1, "deleting"), leavingSince: NOW - 60_000 }, seen("id-2", 2, "deleting")] },
    wait(NOW + 5_000, "KeyBeingDeleted"),
  ],
  [
    "what has just left may be gone within a second",
    {
      outside: [
        { ...seen("id-1", 1, "deleting"), leavingSince: NOW - 60_000 },
        { ...seen("id-2", 2, "deleting"), leavingSince: NOW - 6_000 },
      ],
    },
    wait(NOW + 800, "KeyBeingDeleted"),
  ],
  ["nothing was pending: no time to settle is needed", {}, { kind: "release" }],
  ["a pending key that is not there may still land", { state: pending }, wait(NOW + 120_000, "Settling")],
  [
    "after the settle time it cannot",
    { state: pending, now: NOW + 120_000, settledAt: NOW + 120_000 },
    { kind: "release" },
  ],
  [
    "a clock that is wrong cannot tell whether it has landed",
    { state: pending, settledAt: NOW, isSkewed: true },
    wait(NOW + 60_000, "Settling"),
  ],
  [
    "orphan: active and retired keys lose our marks and stay",
    { policy: "orphan", outside: [active, old] },
    { kind: "unmark", ids: ["id-1", "old"] },
  ],
  [
    "orphan: the pending key, which nobody ever had, is removed",
    { policy: "orphan", state: pending, outside: [seen("id-2", 2)] },
    { kind: "remove", ids: ["id-2"] },
  ],
  [
    "orphan: a pending key that was there before the intent had users, and stays",
    { policy: "orphan", state: pending, outside: [{ ...seen("id-2", 2), createdAt: NOW - 3_600_000 }] },
    { kind: "unmark", ids: ["id-2"] },
  ],
  [
    "orphan: so does one that external-name points to: it was published, or is to be taken over",
    { policy: "orphan", state: { ...pending, externalName: "id-2" }, outside: [seen("id-2", 2)] },
    { kind: "unmark", ids: ["id-2"] },
  ],
  [
    "orphan: the active key stays though it is ill, one that never worked does not",
    { policy: "orphan", outside: [{ ...seen("id-1", 1, "creating"), illSince: NOW }, seen("stuck", 0, "creating")] },
    { kind: "unmark", ids: ["id-1"] },
  ],
];

for (const [reason, given, step] of table) {
  test(reason, () => assert.deepEqual(decideDeletion(departure(given)), step, reason));
}

test("whatever there is outside, it ends, nothing of ours is left, and nothing of others was touched", () => {
  const key = fc.record({
    sequence: fc.option(fc.nat(3), { nil: undefined }),
    state: fc.constantFrom<SeenKey["state"]>("creating", "ready", "failed", "deleting"),
  });
  fc.assert(
    fc.property(fc.array(key, { maxLength: 8 }), fc.constantFrom(state, pending), (keys, of) => {
      const outside = new Map(keys.map((one, index) => [`id-${index}`, seen(`id-${index}`, one.sequence, one.state)]));
      const foreign = [...outside.values()].filter((one) => one.sequence === undefined);
      let now = NOW;
      for (let steps = 0; ; steps++) {
        assert.ok(steps < 20, "it does not come to an end");
        const step = decideDeletion(departure({ state: of, outside: [...outside.values()], now }));
        if (step.kind === "release") break;
        if (step.kind === "remove") for (const id of step.ids) outside.delete(id);
        if (step.kind !== "wait") continue;
        assert.ok(step.until > now, "what it waits for lies ahead");
        now = step.until;
        for (const [id, one] of outside) if (one.state === "deleting" && one.sequence !== undefined) outside.delete(id);
      }
      assert.deepEqual([...outside.values()], foreign);
    }),
  );
});
