import assert from "node:assert/strict";
import { nextInstant } from "./decide.ts";
import { decideDeletion } from "./decide-deletion.ts";
import {
  DAY_MS,
  kindsOf,
  OFF,
  outsideIds,
  pass,
  publishedId,
  steps,
  testSentences,
  threeRetired,
} from "./document.fixture.ts";
import { type EngineWorld, settledWorld } from "./engine-world.fixture.ts";
import type { RetiredKey } from "./model.ts";

const departing = (world: EngineWorld): ReturnType<typeof decideDeletion> =>
  decideDeletion({
    state: world.state,
    outside: [...world.outside.values()],
    policy: "delete",
    now: world.now,
    settledAt: world.now,
    isPaused: false,
    isSkewed: false,
  });

testSentences([
  {
    line: 90,
    says: "first the new instance, then the deletion of retired ones, then nothing",
    shows: (says) => {
      const world = settledWorld();
      pass(world, 12);
      world.now += 12 * DAY_MS;
      assert.deepEqual(
        kindsOf(steps(world)),
        ["intend", "create", "publish", "activate", "commit", "look", "expire"],
        says,
      );
      assert.equal(world.decide().kind, "wait", says);
    },
  },
  {
    line: 92,
    says: "the current instance is retired with its id, name and creation date, now, to be deleted when its ttl is over",
    shows: (says) => {
      const world = settledWorld();
      const createdAt = world.now;
      world.now += 12 * DAY_MS;
      const [intent] = steps(world);
      const expected: RetiredKey = {
        id: "id-1",
        name: "key-1",
        createdAt,
        retiredAt: createdAt + 12 * DAY_MS,
        replacedAt: undefined,
        overlapMs: 2 * DAY_MS,
        deletionAt: createdAt + 14 * DAY_MS,
        cause: "rotated",
      };
      assert.deepEqual(intent?.kind === "intend" && intent.retire, [expected], says);
    },
  },
  {
    line: 92,
    says: "the creation of the new instance follows at once",
    shows: (says) => {
      const world = settledWorld();
      world.now += 12 * DAY_MS;
      assert.deepEqual(kindsOf(steps(world)).slice(0, 2), ["intend", "create"], says);
    },
  },
  {
    line: 94,
    says: "expired instances go also when rotation was switched off in the meantime",
    shows: (says) => {
      const world = settledWorld();
      pass(world, 12);
      world.policy = { ...world.policy, ...OFF };
      assert.equal(nextInstant(world.situation()), world.now + 2 * DAY_MS, says);
      pass(world, 2);
      assert.deepEqual(outsideIds(world), ["id-2"], says);
    },
  },
  {
    line: 94,
    says: "each retired instance is judged by its own date, and one whose date lies ahead is kept",
    shows: (says) => {
      const world = threeRetired();
      pass(world, 2);
      assert.deepEqual(outsideIds(world), ["id-3", "id-4"], says);
    },
  },
  {
    line: 94,
    says: "a ttl that was raised afterwards keeps a retired instance for longer",
    shows: (says) => {
      const world = settledWorld();
      pass(world, 12);
      world.policy = { ...world.policy, ttlMs: 20 * DAY_MS };
      pass(world, 2);
      assert.ok(world.outside.has("id-1"), says);
      pass(world, 6);
      assert.ok(!world.outside.has("id-1"), says);
    },
  },
  {
    line: 94,
    says: "a ttl that was lowered afterwards does not take back the overlap that was promised",
    shows: (says) => {
      const world = settledWorld();
      pass(world, 12);
      world.policy = { ...world.policy, ttlMs: 12 * DAY_MS };
      pass(world, 1);
      assert.ok(world.outside.has("id-1"), says);
      pass(world, 1);
      assert.ok(!world.outside.has("id-1"), says);
    },
  },
  {
    line: 94,
    says: "with rotation switched off before the successor was ready, the retired instance still goes in its time",
    shows: (says) => {
      const world = settledWorld();
      world.now += 12 * DAY_MS;
      world.forget();
      world.perform(world.decide());
      world.policy = { ...world.policy, ...OFF };
      pass(world, 5);
      assert.equal(world.state.active?.id, "id-2", "what was begun is finished");
      pass(world, 1);
      assert.ok(world.outside.has("id-1"), says);
      pass(world, 1);
      assert.deepEqual(outsideIds(world), ["id-2"], says);
    },
  },
  {
    line: 96,
    says: "with nothing to retire or delete, the connection secret is still made to hold the current instance",
    shows: (says) => {
      const world = settledWorld();
      world.secret = undefined;
      assert.deepEqual(kindsOf(steps(world)), ["look", "republish"], says);
      assert.equal(publishedId(world), "id-1", says);
    },
  },
  {
    line: 96,
    says: "drift is looked for from time to time, and finding none changes nothing",
    shows: (says) => {
      const world = settledWorld();
      const before = structuredClone(world.state);
      world.driftCheckAt = world.now;
      assert.deepEqual(kindsOf(steps(world)), ["look"], says);
      assert.deepEqual(world.state, before, says);
    },
  },
  {
    line: 100,
    says: "the first instance and every later one are made by the same steps",
    shows: (says) => {
      const world = settledWorld();
      const first = world.log.slice(-5);
      world.now += 12 * DAY_MS;
      assert.deepEqual(kindsOf(steps(world)), first, says);
    },
  },
  {
    line: 100,
    says: "every instance gets a name of its own",
    shows: (says) => {
      const world = threeRetired();
      assert.equal(new Set([...world.outside.values()].map((key) => key.name)).size, 4, says);
    },
  },
  {
    line: 100,
    says: "the external name is set to the new instance before the status names it",
    shows: (says) => {
      const world = settledWorld();
      world.now += 12 * DAY_MS;
      world.forget();
      while (world.state.externalName === "id-1") world.perform(world.decide());
      assert.equal(world.state.externalName, "id-2", says);
      assert.equal(world.state.active?.id, "id-1", says);
      world.settle();
      assert.equal(world.state.active?.id, "id-2", says);
    },
  },
  {
    line: 104,
    says: "expired instances are deleted after the regular work on the resource",
    shows: (says) => {
      const world = settledWorld();
      pass(world, 12);
      world.secret = undefined;
      world.now += 2 * DAY_MS;
      assert.deepEqual(kindsOf(steps(world)), ["look", "republish", "expire"], says);
    },
  },
  {
    line: 106,
    says: "all instances whose date is past are deleted together, so that none keeps another",
    shows: (says) => {
      const world = threeRetired();
      world.now += 10 * DAY_MS;
      const expired = steps(world).find((step) => step.kind === "expire");
      assert.deepEqual(expired?.ids, ["id-1", "id-2", "id-3"], says);
    },
  },
  {
    line: 110,
    says: "with the resource all retired instances go, expired or not, and they go first",
    shows: (says) => {
      const world = threeRetired();
      assert.deepEqual(departing(world), { kind: "remove", ids: ["id-1", "id-2", "id-3"] }, says);
    },
  },
  {
    line: 112,
    says: "the current instance goes only once the last retired one is gone",
    shows: (says) => {
      const world = threeRetired();
      for (const id of ["id-1", "id-2"]) world.outside.delete(id);
      assert.deepEqual(departing(world), { kind: "remove", ids: ["id-3"] }, "one could not be deleted");
      const left = world.outside.get("id-3") ?? assert.fail("it is there");
      world.outside.set("id-3", { ...left, state: "deleting" });
      assert.equal(departing(world).kind, "wait", says);
      world.outside.delete("id-3");
      assert.deepEqual(departing(world), { kind: "remove", ids: ["id-4"] }, says);
      world.outside.clear();
      assert.deepEqual(departing(world), { kind: "release" });
    },
  },
]);
