import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { deletionInstant, isUnused, latestDeletion } from "./dates.ts";
import { type EngineWorld, settledWorld } from "./engine-world.fixture.ts";
import { heldHistory, live, wildHeldHistory } from "./history.fixture.ts";
import { nextDeletion } from "./hold.ts";
import type { Decision, Policy, RetiredCause } from "./model.ts";

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEB = "Deployment shop/web";

/** A key was replaced and its time is over; somebody may not have moved on from it. */
function overdueWorld({
  who = [WEB],
  hold = { maxHoldMs: 7 * DAY_MS },
}: {
  readonly who?: readonly string[];
  readonly hold?: Pick<Policy, "maxHoldMs">;
} = {}): { readonly world: EngineWorld; readonly id: string } {
  const world = settledWorld(hold);
  const id = world.state.active?.id ?? "";
  if (who.length > 0) world.behind.set(id, who);
  world.now += 12 * DAY_MS;
  world.settle();
  world.now += 2 * DAY_MS;
  return { world, id };
}

/** Takes steps until it rests; says on what. */
function rest(world: EngineWorld): Extract<Decision, { kind: "wait" }> {
  world.settle();
  const decision = world.decide();
  assert.equal(decision.kind, "wait");
  return decision as Extract<Decision, { kind: "wait" }>;
}

describe("a retired key whose time is over", () => {
  test("is kept while somebody is behind, and the status says who", () => {
    const { world, id } = overdueWorld();
    const { reason, until } = rest(world);
    assert.equal(reason, "ConsumersBehind");
    assert.equal(until, world.now + 5 * SECOND_MS);
    assert.ok(world.outside.has(id));
    assert.equal(world.state.retired[0]?.heldFor, WEB);
  });

  test("goes as soon as they have moved on", () => {
    const { world, id } = overdueWorld();
    rest(world);
    world.behind.clear();
    world.now += 5 * SECOND_MS;
    assert.equal(rest(world).reason, "Settled");
    assert.ok(!world.outside.has(id));
    assert.deepEqual(world.state.retired, []);
  });

  test("goes when the hold has lasted for as long as it may, and nobody is asked", () => {
    const { world, id } = overdueWorld({ hold: { maxHoldMs: HOUR_MS } });
    rest(world);
    world.now += HOUR_MS;
    world.log.length = 0;
    rest(world);
    assert.ok(!world.outside.has(id));
    assert.ok(!world.log.includes("askConsumers"), world.log.join(" "));
  });

  test("goes at its deletion date where the policy waits for nobody", () => {
    const { world, id } = overdueWorld({ hold: {} });
    rest(world);
    assert.ok(!world.outside.has(id));
    assert.ok(!world.log.includes("askConsumers"), world.log.join(" "));
  });

  test("goes at once when the policy no longer waits", () => {
    const { world, id } = overdueWorld();
    rest(world);
    world.policy = { ...world.policy, maxHoldMs: undefined };
    rest(world);
    assert.ok(!world.outside.has(id));
  });

  test("is not asked about while it may not be deleted anyway", () => {
    const { world } = overdueWorld();
    world.may = { create: true, delete: false };
    world.log.length = 0;
    assert.equal(rest(world).reason, "NotAllowed");
    assert.ok(!world.log.includes("askConsumers"), world.log.join(" "));
  });

  test("does not keep another one that is free", () => {
    const { world, id } = overdueWorld({ hold: { maxHoldMs: 60 * DAY_MS } });
    world.now += 10 * DAY_MS;
    world.settle();
    const second = world.state.retired.find((key) => key.id !== id)?.id ?? "";
    world.now += 2 * DAY_MS;
    rest(world);
    assert.ok(world.outside.has(id));
    assert.ok(second !== "" && !world.outside.has(second));
  });

  test("is forgotten when somebody else removes it, hold or not", () => {
    const { world, id } = overdueWorld();
    rest(world);
    world.outside.delete(id);
    assert.equal(rest(world).reason, "Settled");
    assert.deepEqual(world.state.retired, []);
  });

  test("does not keep the next rotation", () => {
    const { world, id } = overdueWorld({ hold: { maxHoldMs: 60 * DAY_MS } });
    rest(world);
    const { active } = world.state;
    world.now += 10 * DAY_MS;
    const { until } = rest(world);
    assert.notEqual(world.state.active?.id, active?.id);
    assert.ok(world.outside.has(id));
    assert.ok(until <= world.now + 60 * SECOND_MS, "it is asked about again within a minute");
  });
});

describe("nobody is waited for", () => {
  const table: readonly (readonly [RetiredCause, isHeld: boolean])[] = [
    ["rotated", true],
    ["forced", true],
    ["found", true],
    ["ill", true],
    ["compromised", false],
    ["duplicate", false],
    ["abandoned", false],
  ];
  for (const [cause, isHeld] of table) {
    test(`${isHeld ? "but " : ""}with a key that is retired as ${cause}`, () => {
      const { world, id } = overdueWorld();
      const retired = world.state.retired.map((key) => ({ ...key, cause }));
      world.state = { ...world.state, retired };
      if (!isHeld) world.behind.clear();
      world.log.length = 0;
      world.settle();
      assert.equal(world.outside.has(id), isHeld);
      assert.equal(world.log.includes("askConsumers"), isHeld, world.log.join(" "));
    });
  }
});

test("keys that are only held do not count against rotations by force", () => {
  const world = settledWorld({ maxForced: 1, maxHoldMs: 60 * DAY_MS });
  world.behind.set(world.state.active?.id ?? "", [WEB]);
  world.ask({ value: "1", isCompromised: false });
  world.settle();
  world.now += 15 * DAY_MS;
  world.settle();
  const before = world.state.active?.id;
  world.ask({ value: "2", isCompromised: false });
  world.settle();
  assert.notEqual(world.state.active?.id, before);
  assert.equal(world.state.retired.filter((key) => key.heldFor === WEB).length, 1);
});

test("it is asked again soon at first, then less often, and never after the hold has ended", () => {
  const { world, id } = overdueWorld({ hold: { maxHoldMs: DAY_MS } });
  world.settle();
  const key = world.state.retired.find((one) => one.id === id);
  assert.ok(key);
  const deletionAt = deletionInstant(world.policy, key);
  const table: readonly (readonly [elapsedMs: number, pauseMs: number, reason: string])[] = [
    [0, 5_000, "it has just begun"],
    [60_000, 5_000, "for a minute"],
    [360_000, 30_000, "a twelfth of the time it has lasted"],
    [6 * HOUR_MS, 60_000, "no less often than once a minute"],
    [DAY_MS - 10_000, 10_000, "and when it ends"],
  ];
  for (const [elapsedMs, pauseMs, reason] of table) {
    world.now = deletionAt + elapsedMs;
    assert.equal(nextDeletion(world.situation(), key), world.now + pauseMs, reason);
  }
});

test("a retired key that the Secret holds again has not been replaced before that is put right", () => {
  const { world, id } = overdueWorld({ who: [] });
  world.now -= DAY_MS;
  world.settle();
  const sequence = world.outside.get(id)?.sequence ?? 0;
  world.secret = { keyId: id, sequence, publishedAt: world.now };
  world.now += 3_000;
  world.settle();
  const [key] = world.state.retired;
  assert.equal(world.secret?.keyId, world.state.active?.id);
  assert.equal(key?.replacedAt, world.now);
  assert.equal(deletionInstant(world.policy, key ?? assert.fail()), world.now + 2 * DAY_MS);
});

test("by the API server's clock where that is ahead, as far as it may be", () => {
  for (const [aheadMs, replacedAfterMs] of [
    [30_000, 30_000],
    [DAY_MS, 60_000],
  ] as const) {
    const { world, id } = overdueWorld({ who: [] });
    world.now -= DAY_MS;
    world.settle();
    const sequence = world.outside.get(id)?.sequence ?? 0;
    world.secret = { keyId: id, sequence, publishedAt: world.now };
    world.serverAheadMs = aheadMs;
    world.settle();
    assert.equal(world.state.retired.find((key) => key.id === id)?.replacedAt, world.now + replacedAfterMs);
  }
});

test("a key that is found has been replaced when the Secret was written, by the API server's clock too", () => {
  const world = settledWorld({});
  world.settle();
  const id = world.make(1, { name: "of-another-life" });
  if (world.secret) world.secret.publishedAt = world.now + 30_000;
  world.driftCheckAt = world.now;
  world.settle();
  const found = world.state.retired.find((key) => key.id === id);
  assert.deepEqual([found?.cause, found?.replacedAt], ["found", world.now + 30_000]);
});

test("nor where another key takes its place there", () => {
  const { world, id } = overdueWorld({ who: [] });
  world.now -= DAY_MS;
  world.settle();
  const sequence = world.outside.get(id)?.sequence ?? 0;
  world.secret = { keyId: id, sequence, publishedAt: world.now };
  world.state = { ...world.state, request: { value: "now", isCompromised: false } };
  world.now += 3_000;
  world.settle();
  assert.equal(world.secret?.keyId, world.state.active?.id);
  assert.equal(world.state.retired.find((key) => key.id === id)?.replacedAt, world.now);
});

const RUNS = { numRuns: 1000 };

test("no key goes while somebody is behind and the hold may last, whatever happens", () => {
  fc.assert(
    fc.property(wildHeldHistory, (history) => {
      const world = live(history, () => {});
      assert.deepEqual(world.broken, [], world.log.join(" "));
    }),
    RUNS,
  );
});

test("every key goes once nobody is behind, or the hold is over", () => {
  fc.assert(
    fc.property(heldHistory, (history) => {
      const world = live(history, () => {});
      for (const key of world.state.retired) {
        const dueAt = world.behind.has(key.id) ? latestDeletion(world.policy, key) : deletionInstant(world.policy, key);
        assert.ok(dueAt > world.now, `${key.id} is overdue by ${world.now - dueAt} ms`);
      }
    }),
    RUNS,
  );
});

test("nobody is asked about keys that may not be used or never were, and every wait lies ahead", () => {
  fc.assert(
    fc.property(wildHeldHistory, (history) => {
      live(history, (decision, { state, surroundings }) => {
        if (decision.kind === "wait") assert.ok(decision.until > surroundings.now, decision.reason);
        if (decision.kind !== "askConsumers") return;
        const asked = state.retired.filter(({ id }) => decision.ids.includes(id));
        assert.ok(asked.every((key) => key.cause !== "compromised" && !isUnused(key)));
      });
    }),
    RUNS,
  );
});
