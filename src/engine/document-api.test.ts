import assert from "node:assert/strict";
import { nextInstant } from "./decide.ts";
import {
  DAY_MS,
  OFF,
  outsideIds,
  pass,
  passDaily,
  publishedId,
  retiredIds,
  steps,
  testSentences,
  threeRetired,
} from "./document.fixture.ts";
import { type EngineWorld, settledWorld } from "./engine-world.fixture.ts";

/** A key that was made by hand and is to be taken over, so many days old. */
function handMade(days: number): EngineWorld {
  const world = settledWorld();
  world.outside.clear();
  world.secret = undefined;
  const externalName = world.make(undefined, { name: "made-by-hand", createdAt: world.now - days * DAY_MS });
  world.state = { ...world.state, active: undefined, sequence: 0, externalName };
  return world;
}

testSentences([
  {
    line: 13,
    says: "an instance is exactly one entity outside",
    shows: (says) => {
      const world = settledWorld();
      assert.equal(world.outside.size, 1, says);
      pass(world, 12);
      assert.equal(world.outside.size, 2, says);
    },
  },
  {
    line: 14,
    says: "the current instance is the newest, and the connection details are its own",
    shows: (says) => {
      const world = settledWorld();
      for (let rotation = 2; rotation < 6; rotation++) {
        pass(world, 12);
        const newest = outsideIds(world).at(-1);
        assert.equal(newest, `id-${rotation}`, says);
        assert.equal(world.state.active?.id, newest, says);
        assert.equal(publishedId(world), newest, says);
      }
    },
  },
  {
    line: 15,
    says: "a retired instance still exists, is written down in the status, and is no longer published",
    shows: (says) => {
      const world = settledWorld();
      pass(world, 12);
      assert.deepEqual(retiredIds(world), ["id-1"], says);
      assert.ok(world.outside.has("id-1"), says);
      assert.notEqual(publishedId(world), "id-1", says);
    },
  },
  {
    line: 16,
    says: "an expired instance is deleted at the next opportunity, however late that comes",
    shows: (says) => {
      const world = settledWorld({ frequencyMs: DAY_MS, ttlMs: 2 * DAY_MS });
      pass(world, 1);
      world.policy = { ...world.policy, frequencyMs: Infinity };
      pass(world, 400);
      assert.deepEqual(outsideIds(world), ["id-2"], says);
    },
  },
  {
    line: 17,
    says: "enabling rotation for a static key that is older than the frequency replaces it at once",
    shows: (says) => {
      const world = settledWorld(OFF);
      pass(world, 100);
      assert.equal(world.state.active?.id, "id-1", "nothing happens before");
      world.policy = { ...world.policy, frequencyMs: 12 * DAY_MS, ttlMs: 14 * DAY_MS };
      world.settle();
      assert.equal(world.state.active?.id, "id-2", says);
      assert.ok(world.outside.has("id-1"), "with the whole overlap, though it has outlived its ttl");
      pass(world, 2);
      assert.deepEqual(outsideIds(world), ["id-2"]);
    },
  },
  {
    line: 19,
    says: "disabling rotation leaves the current instance alone for ever",
    shows: (says) => {
      const world = settledWorld();
      world.policy = { ...world.policy, ...OFF };
      pass(world, 3650);
      assert.deepEqual(outsideIds(world), ["id-1"], says);
      assert.equal(nextInstant(world.situation()), Infinity, says);
    },
  },
  {
    line: 20,
    says: "the lifetime counts from when the instance was created outside, not from when we heard of it",
    shows: (says) => {
      const world = handMade(11);
      world.settle();
      assert.equal(world.state.active?.name, "made-by-hand");
      assert.equal(nextInstant(world.situation()), world.now + DAY_MS, says);
    },
  },
  {
    line: 41,
    says: "after another ten days the third instance is made",
    shows: (says) => {
      const world = settledWorld();
      pass(world, 12);
      pass(world, 2);
      assert.deepEqual(outsideIds(world), ["id-2"], "the first is gone by now");
      assert.equal(nextInstant(world.situation()), world.now + 10 * DAY_MS, says);
      pass(world, 10);
      assert.equal(world.state.active?.id, "id-3", says);
    },
  },
  {
    line: 45,
    says: "the order of the retired instances is not important",
    shows: (says) => {
      const [world, mirrored] = [threeRetired(), threeRetired()];
      mirrored.state = { ...mirrored.state, retired: mirrored.state.retired.toReversed() };
      for (let day = 0; day < 4; day++) {
        assert.equal(nextInstant(mirrored.situation()), nextInstant(world.situation()), says);
        for (const each of [world, mirrored]) pass(each, 1);
        assert.deepEqual(outsideIds(mirrored), outsideIds(world), says);
      }
    },
  },
  {
    line: 78,
    says: "while the new instance is not ready, the current one stays what it was everywhere",
    shows: (says) => {
      const world = settledWorld();
      world.createsAs = "creating";
      pass(world, 12);
      assert.deepEqual(world.decide(), { kind: "wait", until: world.now + 800, reason: "KeyBeingMade" });
      assert.equal(world.state.active?.id, "id-1", says);
      assert.equal(world.state.externalName, "id-1", says);
      assert.equal(publishedId(world), "id-1", says);
      assert.deepEqual(retiredIds(world), ["id-1"], "it may be among the retired ones already");
    },
  },
  {
    line: 78,
    says: "once the new instance is ready, everything is about the new one",
    shows: (says) => {
      const world = settledWorld();
      world.createsAs = "creating";
      pass(world, 12);
      const made = world.outside.get("id-2") ?? assert.fail("it was made");
      world.outside.set("id-2", { ...made, state: "ready" });
      world.settle();
      assert.equal(world.state.active?.id, "id-2", says);
      assert.equal(world.state.externalName, "id-2", says);
      assert.equal(publishedId(world), "id-2", says);
    },
  },
  {
    line: 78,
    says: "at no step of a rotation is the current instance or the connection secret empty",
    shows: (says) => {
      const world = settledWorld();
      world.now += 12 * DAY_MS;
      world.forget();
      for (let decision = world.decide(); decision.kind !== "wait"; decision = world.decide()) {
        world.perform(decision);
        assert.ok(world.state.active, says);
        assert.ok(world.outside.has(publishedId(world) ?? ""), `${says}, after ${decision.kind}`);
      }
      assert.equal(world.state.active?.id, "id-2");
    },
  },
  {
    line: 80,
    says: "several instances may be retired at a time, each until its own date",
    shows: (says) => {
      const world = settledWorld({ frequencyMs: DAY_MS, ttlMs: 4 * DAY_MS });
      passDaily(world, 20);
      assert.deepEqual(retiredIds(world), ["id-18", "id-19", "id-20"], says);
      const dates = world.state.retired.map((key) => key.deletionAt - world.now);
      assert.deepEqual(dates, [DAY_MS, 2 * DAY_MS, 3 * DAY_MS], says);
    },
  },
  {
    line: 86,
    says: "what is wrong with the current instance is put right before it is asked whether it is due",
    shows: (says) => {
      const world = settledWorld();
      world.now += 13 * DAY_MS;
      world.lost.add("id-1");
      world.outside.delete("id-1");
      world.driftCheckAt = world.now;
      const reasons = steps(world).flatMap((step) => (step.kind === "intend" ? [step.reason] : []));
      assert.deepEqual(reasons, ["ActiveKeyGone"], says);
    },
  },
  {
    line: 86,
    says: "a changed spec and a due rotation together are one rotation",
    shows: (says) => {
      const world = settledWorld();
      world.madeFrom = "v2";
      pass(world, 12);
      assert.equal(world.state.sequence, 2, says);
      assert.equal(world.state.active?.madeFrom, "v2", says);
    },
  },
]);
