import assert from "node:assert/strict";
import { test } from "node:test";
import { deletionInstant } from "./dates.ts";
import { type EngineWorld, settledWorld, type WorldKey } from "./engine-world.fixture.ts";

/** Keys that are there and do not work: children that have fallen ill, and dates that the outside knows better. */
const MINUTE_MS = 60_000;
const GRACE_MS = 10 * MINUTE_MS;
const DAY_MS = 86_400_000;

function alter(world: EngineWorld, id: string, changes: Partial<WorldKey>): void {
  const key = world.outside.get(id);
  assert.ok(key, id);
  world.outside.set(id, { ...key, ...changes });
}

const activeId = (world: EngineWorld): string => world.state.active?.id ?? "";
const fallIll = (world: EngineWorld, agoMs = 0): void =>
  alter(world, activeId(world), { state: "creating", illSince: world.now - agoMs });

/** One drift check, and what comes of it. */
function look(world: EngineWorld): void {
  world.driftCheckAt = world.now;
  world.settle();
  world.driftCheckAt = Infinity;
}

interface Illness {
  readonly reason: string;
  readonly agoMs: number;
  readonly around?: (world: EngineWorld) => void;
  /** Which key is active in the end, and until when is waited from now. */
  readonly expected: readonly [activeId: string, waitMs: number, why: string];
}

const illnesses: readonly Illness[] = [
  {
    reason: "an ill key is not a missing one: it has the whole grace",
    agoMs: 0,
    expected: ["id-1", GRACE_MS, "Settled"],
  },
  {
    reason: "a second before the end of the grace it is left alone",
    agoMs: GRACE_MS - 1000,
    expected: ["id-1", 1000, "Settled"],
  },
  {
    reason: "at the end of the grace it is replaced",
    agoMs: GRACE_MS,
    expected: ["id-2", 12 * DAY_MS, "Settled"],
  },
  {
    reason: "what hinders every key alike is not cured by another one",
    agoMs: DAY_MS,
    around: (world) => alter(world, activeId(world), { isHindered: true }),
    expected: ["id-1", 12 * DAY_MS, "Settled"],
  },
  {
    reason: "frozen: not replaced, and not waited for",
    agoMs: GRACE_MS,
    around: (world) => Object.assign(world, { isFrozen: true }),
    expected: ["id-1", Infinity, "Frozen"],
  },
  {
    reason: "not while the clocks disagree",
    agoMs: GRACE_MS,
    around: (world) => Object.assign(world, { isSkewed: true }),
    expected: ["id-1", MINUTE_MS, "ClockSkewed"],
  },
  {
    reason: "where no key may be made it stays",
    agoMs: GRACE_MS,
    around: (world) => Object.assign(world, { may: { create: false, delete: true } }),
    expected: ["id-1", Infinity, "NotAllowed"],
  },
];

for (const { reason, agoMs, around, expected } of illnesses) {
  test(reason, () => {
    const world = settledWorld();
    fallIll(world, agoMs);
    around?.(world);
    look(world);
    const decision = world.decide();
    assert.ok(decision.kind === "wait");
    assert.deepEqual([activeId(world), decision.until - world.now, decision.reason], expected);
    assert.deepEqual(world.broken, []);
  });
}

test("an ill key that was replaced lives on for as long as every other: it may still work for somebody", () => {
  const world = settledWorld();
  fallIll(world, GRACE_MS);
  look(world);
  const [old] = world.state.retired;
  assert.ok(old);
  assert.deepEqual([old.id, old.cause, deletionInstant(world.policy, old) - world.now], ["id-1", "ill", 14 * DAY_MS]);
});

test("one that has got well meanwhile stays", () => {
  const world = settledWorld();
  fallIll(world);
  look(world);
  alter(world, "id-1", { state: "ready", illSince: undefined });
  world.now += 2 * GRACE_MS;
  look(world);
  assert.deepEqual([activeId(world), world.state.retired], ["id-1", []]);
});

test("where every key falls ill, no more are made than may be by force, and nobody waits for the next", () => {
  const world = settledWorld();
  for (let i = 0; i < 8; i++) {
    fallIll(world, GRACE_MS);
    look(world);
  }
  assert.equal(world.state.retired.length, 5);
  const decision = world.decide();
  assert.ok(decision.kind === "wait" && decision.until > world.now, "not again and again");
  world.ask({ value: "now", isCompromised: false });
  assert.equal(world.decide().kind, "wait", "those that were forced and those that were ill count together");
});

/** The Secret is damaged, and the outside does not give the credentials of the active key again. */
function withhold(world: EngineWorld): void {
  world.secret = undefined;
  world.forget();
  for (let decision = world.decide(); decision.kind !== "republish"; decision = world.decide()) world.perform(decision);
  world.observation = { ...world.observation, unreadable: activeId(world) };
}

test("a key whose credentials are not to be had again for its damaged Secret is replaced, and lives on as an ill one", () => {
  const world = settledWorld();
  withhold(world);
  for (let decision = world.decide(); decision.kind !== "wait"; decision = world.decide()) world.perform(decision);
  assert.equal(world.secret?.keyId, "id-2");
  const [old] = world.state.retired;
  assert.ok(old);
  assert.deepEqual([old.id, old.cause, deletionInstant(world.policy, old) - world.now], ["id-1", "ill", 14 * DAY_MS]);
  assert.equal(world.state.history[0]?.reason, "CredentialsUnavailable");
  assert.deepEqual(world.broken, []);
});

const obstacles: readonly (readonly [reason: string, around: Partial<EngineWorld>])[] = [
  ["frozen", { isFrozen: true }],
  ["not allowed to make keys", { may: { create: false, delete: true } }],
];
for (const [reason, around] of obstacles) {
  test(`one that may not be replaced is tried again, and no other is meant: ${reason}`, () => {
    const world = settledWorld();
    Object.assign(world, around);
    withhold(world);
    assert.deepEqual(world.decide(), { kind: "republish", id: "id-1" });
  });
}

test("where the credentials of no key are to be had, no more are made than may be by force", () => {
  const world = settledWorld();
  for (let i = 0; i < 5; i++) {
    withhold(world);
    for (let decision = world.decide(); decision.kind !== "wait"; decision = world.decide()) world.perform(decision);
  }
  withhold(world);
  assert.deepEqual(world.decide(), { kind: "republish", id: "id-6" });
});

const dates: readonly (readonly [reason: string, offMs: number, corrected: boolean])[] = [
  ["a date in the future would put rotation off for ever", 100 * DAY_MS, true],
  ["a date in the past would rotate at once", -100 * DAY_MS, true],
  ["what a status cannot hold is no difference", 999, false],
  ["nor is the second that was rounded away", -1000, false],
];

for (const [reason, offMs, corrected] of dates) {
  test(`how old a key is, the outside knows best: ${reason}`, () => {
    const world = settledWorld();
    const { active } = world.state;
    assert.ok(active);
    const { createdAt } = active;
    world.state = { ...world.state, active: { ...active, createdAt: createdAt + offMs } };
    look(world);
    assert.deepEqual(world.state.active, corrected ? active : { ...active, createdAt: createdAt + offMs });
    assert.equal(world.state.sequence, 1, "no key is made for it");
  });
}

test("a key that was made anew under its id begins its life anew", () => {
  const world = settledWorld();
  world.now += 11 * DAY_MS;
  alter(world, "id-1", { createdAt: world.now });
  look(world);
  world.now += DAY_MS;
  world.settle();
  assert.equal(activeId(world), "id-1", "twelve days after the first it is one day old");
  world.now += 11 * DAY_MS;
  world.settle();
  assert.equal(activeId(world), "id-2");
});

const stuck: readonly (readonly [reason: string, ill: boolean, changed: boolean, sequence: number])[] = [
  ["ill, and made from what is asked for: waited for", true, false, 2],
  ["not ill, though something else is asked for by now: waited for, it will be there soon", false, true, 2],
  ["ill, and something else is asked for: given up for the next", true, true, 3],
];

for (const [reason, ill, changed, sequence] of stuck) {
  test(`a pending key that does not get ready: ${reason}`, () => {
    const world = settledWorld();
    world.createsAs = "creating";
    world.now += 12 * DAY_MS;
    world.settle();
    assert.equal(world.state.pending?.id, "id-2");
    if (ill) alter(world, "id-2", { illSince: world.now });
    if (changed) world.madeFrom = "v2";
    world.settle();
    assert.deepEqual([activeId(world), world.state.pending?.sequence], ["id-1", sequence]);
    const abandoned = world.state.retired.filter(({ cause }) => cause === "abandoned").map(({ id }) => id);
    assert.deepEqual(abandoned, sequence === 3 ? ["id-2"] : []);
    assert.deepEqual(world.broken, []);
  });
}

test("one that was given up goes once its successor is published, and not before", () => {
  const world = settledWorld();
  world.createsAs = "creating";
  world.now += 12 * DAY_MS;
  world.settle();
  alter(world, "id-2", { illSince: world.now });
  world.madeFrom = "v2";
  world.settle();
  assert.deepEqual([...world.outside.keys()], ["id-1", "id-2", "id-3"]);
  alter(world, "id-3", { state: "ready" });
  world.settle();
  world.settle();
  assert.deepEqual([activeId(world), [...world.outside.keys()]], ["id-3", ["id-1", "id-3"]]);
  assert.deepEqual(world.broken, []);
});

/** The status of the first key comes back after the second was published, which is ill by then. */
function restoredWhileIll(agoMs: number): EngineWorld {
  const world = settledWorld();
  const past = world.state;
  world.now += 12 * DAY_MS;
  world.settle();
  world.now += DAY_MS;
  fallIll(world, agoMs);
  world.state = past;
  look(world);
  return world;
}

test("a newest key that is ill when the past comes back is waited for: no older one takes its place", () => {
  const world = restoredWhileIll(MINUTE_MS);
  const decision = world.decide();
  assert.ok(decision.kind === "wait");
  assert.deepEqual([world.state.pending?.id, world.secret?.keyId, decision.reason], ["id-2", "id-2", "KeyBeingMade"]);
  assert.ok(decision.until <= world.now + GRACE_MS);
  alter(world, "id-2", { state: "ready", illSince: undefined });
  world.settle();
  assert.deepEqual([activeId(world), world.secret?.keyId, world.broken], ["id-2", "id-2", []]);
});

test("one that stays ill is given up for a later one, and its users have their time", () => {
  const world = restoredWhileIll(GRACE_MS);
  assert.deepEqual([activeId(world), world.state.sequence, world.secret?.keyId], ["id-3", 3, "id-3"]);
  const { cause, overlapMs } = world.state.retired.find(({ id }) => id === "id-2") ?? {};
  assert.deepEqual([cause, overlapMs, world.broken], ["found", 2 * DAY_MS, []]);
});
