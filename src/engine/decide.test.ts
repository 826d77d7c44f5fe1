import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { deletionInstant } from "./dates.ts";
import { nextInstant } from "./decide.ts";
import { EngineWorld, settledWorld } from "./engine-world.fixture.ts";
import type { Decision, RetiredKey, SeenKey, WaitReason } from "./model.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The retired keys, why they are, and for how long they stay. */
const keptUntil = ({ state, policy, now }: EngineWorld): readonly (readonly [string, string, number])[] =>
  state.retired.map((key) => [key.id, key.cause, deletionInstant(policy, key) - now]);

const activeId = (world: EngineWorld): string | undefined => world.state.active?.id;

test("the first key: finalizer, look, intend, create, publish, activate, commit, in this order", () => {
  const world = new EngineWorld();
  world.settle();
  assert.deepEqual(world.log, ["addFinalizer", "look", "intend", "create", "publish", "activate", "commit"]);
  assert.equal(world.secret?.keyId, "id-1");
  assert.equal(world.state.externalName, "id-1");
});

test("a rotation costs no look: intend, create, publish, activate, commit", () => {
  const world = settledWorld();
  world.log.length = 0;
  world.now += 12 * DAY_MS;
  world.settle();
  assert.deepEqual(world.log, ["intend", "create", "publish", "activate", "commit"]);
  assert.equal(world.secret?.keyId, "id-2");
});

test("a process that did not leave the resource as it is looks before it intends", () => {
  const world = settledWorld();
  world.isContinued = false;
  world.log.length = 0;
  world.now += 12 * DAY_MS;
  world.settle();
  assert.deepEqual(world.log, ["look", "intend", "create", "publish", "activate", "commit"]);
});

test("the document's example: 14 days to live, rotated after 12, so the old key works for another 2", () => {
  const world = settledWorld();
  const startAt = world.now;
  world.now = startAt + 12 * DAY_MS - 1;
  assert.equal(world.decide().kind, "wait", "one millisecond early is early");
  world.now = startAt + 12 * DAY_MS;
  world.settle();
  const [old] = world.state.retired;
  assert.equal(old?.id, "id-1");
  assert.equal(nextInstant(world.situation()), startAt + 14 * DAY_MS);
  world.now = startAt + 14 * DAY_MS - 1000;
  world.settle();
  assert.ok(world.outside.has("id-1"), "alive until its last second");
  world.now = startAt + 14 * DAY_MS;
  world.settle();
  assert.deepEqual([...world.outside.keys()], ["id-2"]);
  assert.deepEqual(world.state.retired, []);
});

/** The next key is being made, and the Secret has gone meanwhile. */
function withoutSecret(isCompromised: boolean): EngineWorld {
  const world = settledWorld();
  world.createsAs = "creating";
  world.ask({ value: "now", isCompromised });
  world.settle();
  world.secret = undefined;
  world.log.length = 0;
  world.settle();
  return world;
}

test("a Secret that goes while the next key is being made holds the active one again", () => {
  const world = withoutSecret(false);
  assert.deepEqual([world.log, world.secret?.keyId], [["observe", "look", "republish"], "id-1"]);
  const made = world.outside.get("id-2");
  assert.ok(made);
  world.outside.set("id-2", { ...made, state: "ready" });
  world.settle();
  assert.equal(world.secret?.keyId, "id-2");
  assert.deepEqual(world.broken, []);
});

test("a compromised key is not published again, however long the next one takes", () => {
  const world = withoutSecret(true);
  assert.equal(world.secret, undefined);
  assert.ok(!world.log.includes("republish"));
});

test("a status from the past that finds a later key does not publish an earlier one while that cannot be had", () => {
  for (const becomes of ["creating", "deleting"] as const) {
    const world = settledWorld();
    const past = world.state;
    world.now += 12 * DAY_MS;
    world.settle();
    world.state = past;
    world.secret = undefined;
    world.now += HOUR_MS;
    const newest = world.outside.get("id-2");
    assert.ok(newest);
    world.outside.set("id-2", { ...newest, state: "creating" });
    world.createsAs = "creating";
    world.log.length = 0;
    world.settle();
    world.outside.set("id-2", { ...newest, state: becomes });
    world.settle();
    const holds = world.log.includes("republish");
    // One that is being deleted is nobody's any more.
    assert.equal(holds, becomes === "deleting", becomes);
  }
});

test("a key that was given up before anybody had it is no later one: the active key comes back", () => {
  const world = withoutSecret(false);
  world.secret = undefined;
  const { pending } = world.state;
  assert.ok(pending);
  const made = world.outside.get("id-2");
  assert.ok(made);
  const abandoned: RetiredKey = {
    id: "id-2",
    name: made.name,
    createdAt: world.now,
    retiredAt: world.now,
    replacedAt: undefined,
    overlapMs: 0,
    deletionAt: world.now,
    cause: "abandoned",
  };
  world.state = {
    ...world.state,
    sequence: 3,
    retired: [...world.state.retired, abandoned],
    pending: { ...pending, sequence: 3, name: "key-3", id: undefined },
  };
  world.outside.set("id-2", { ...made, state: "ready" });
  world.log.length = 0;
  world.settle();
  assert.ok(world.log.includes("republish"), world.log.join());
});

test("rotations that take longer than their frequency leave nothing undeleted, and a key that stays keeps none from beginning", () => {
  for (const isStuck of [false, true]) {
    const world = settledWorld();
    world.isContinued = true;
    world.policy = { ...world.policy, frequencyMs: 60_000, ttlMs: 120_000 };
    let most = 0;
    for (let step = 0; step < 1000; step++) {
      const decision = world.decide();
      if (decision.kind === "wait") {
        world.now = Math.max(decision.until, world.now + 1);
        world.forget();
      } else if (decision.kind === "expire" && isStuck) {
        // As a pass ends where the outside does not delete a key.
        world.now += 1000;
        world.forget();
      } else world.perform(decision);
      // The key is as old as the request for it, which takes its time.
      if (decision.kind === "create") world.now += 61_000;
      most = Math.max(most, world.outside.size);
    }
    if (isStuck) assert.ok(world.state.sequence > 50, `it stood still at ${world.state.sequence}`);
    else assert.ok(most <= 5, `there were ${most} keys`);
    assert.deepEqual(world.broken, []);
  }
});

test("a retired key whose deletion is under way is looked at by when that began, not by its date", () => {
  const world = settledWorld();
  world.now += 12 * DAY_MS;
  world.settle();
  world.now += 2 * DAY_MS + HOUR_MS;
  const old = world.outside.get("id-1");
  assert.ok(old);
  const pauses: readonly (readonly [leavingSince: number | undefined, pauseMs: number])[] = [
    [world.now - 6_000, 800],
    [world.now - 60_000, 5_000],
    [undefined, 30_000],
  ];
  for (const [leavingSince, pauseMs] of pauses) {
    world.outside.set("id-1", { ...old, state: "deleting", leavingSince });
    world.settle();
    assert.deepEqual(world.decide(), { kind: "wait", until: world.now + pauseMs, reason: "KeyBeingDeleted" });
  }
});

test("a static key is never due", () => {
  const world = settledWorld();
  world.policy = { ...world.policy, frequencyMs: Infinity, ttlMs: undefined };
  world.now += 3650 * DAY_MS;
  assert.deepEqual(world.decide(), { kind: "wait", until: Infinity, reason: "Settled" });
});

interface Drift {
  readonly reason: string;
  readonly happens: (world: EngineWorld) => void;
  readonly expect: (world: EngineWorld) => void;
}

const drifts: readonly Drift[] = [
  {
    reason: "the active key is deleted outside: a new one at once",
    happens: (world) => {
      world.lost.add("id-1");
      world.outside.delete("id-1");
      world.driftCheckAt = world.now;
    },
    expect: (world) => assert.equal(activeId(world), "id-2"),
  },
  {
    reason: "a retired key is deleted outside: forgotten quietly",
    happens: (world) => {
      world.now += 12 * DAY_MS;
      world.settle();
      world.outside.delete("id-1");
      world.driftCheckAt = world.now;
    },
    expect: (world) => {
      assert.equal(activeId(world), "id-2");
      assert.deepEqual(world.state.retired, []);
    },
  },
  {
    reason: "the Secret is deleted: published again, no new key",
    happens: (world) => {
      world.secret = undefined;
    },
    expect: (world) => {
      assert.equal(world.secret?.keyId, "id-1");
      assert.equal(world.outside.size, 1);
    },
  },
  {
    reason: "external-name is tampered with: a new key, and the old one is retired by its id",
    happens: (world) => {
      world.state = { ...world.state, externalName: "somebody-elses" };
    },
    expect: (world) => {
      assert.equal(activeId(world), "id-2");
      assert.deepEqual(
        world.state.retired.map((key) => key.id),
        ["id-1"],
      );
    },
  },
  {
    reason: "the status is lost: rebuilt from the marks, nothing made, nothing orphaned",
    happens: (world) => {
      world.now += 12 * DAY_MS;
      world.settle();
      world.state = { ...world.state, active: undefined, sequence: 0, retired: [] };
    },
    expect: (world) => {
      assert.equal(activeId(world), "id-2");
      assert.deepEqual(
        world.state.retired.map((key) => key.id),
        ["id-1"],
      );
      assert.equal(world.outside.size, 2);
    },
  },
  {
    reason: "the status is from an old backup: the newest key stays published",
    happens: (world) => {
      const backup = world.state;
      world.now += 12 * DAY_MS;
      world.settle();
      world.state = backup;
      world.driftCheckAt = world.now;
    },
    expect: (world) => {
      assert.equal(activeId(world), "id-2");
      assert.equal(world.secret?.keyId, "id-2");
    },
  },
  {
    reason: "the status is from an old backup, and says that a rotation is due: the newest key stays published",
    happens: (world) => {
      const backup = world.state;
      const { secret } = world;
      world.now += 11 * DAY_MS;
      for (const value of ["1", "2"]) {
        world.ask({ value, isCompromised: false });
        world.settle();
      }
      world.now += DAY_MS;
      world.state = backup;
      world.secret = secret;
      world.isContinued = false;
    },
    expect: (world) => {
      assert.equal(activeId(world), "id-3");
      assert.equal(world.secret?.keyId, "id-3");
    },
  },
  {
    reason: "an external-name without status: that key is adopted",
    happens: (world) => {
      const id = world.make(undefined, { name: "made-by-hand" });
      world.outside.delete("id-1");
      world.secret = undefined;
      world.state = { ...world.state, active: undefined, sequence: 0, externalName: id };
    },
    expect: (world) => {
      assert.equal(world.state.active?.name, "made-by-hand");
      assert.equal(world.outside.size, 1);
    },
  },
  {
    reason: "a second key of the same intent: retired as a duplicate and gone at once",
    happens: (world) => {
      world.make(1);
      world.driftCheckAt = world.now;
    },
    expect: (world) => assert.deepEqual([...world.outside.keys()], ["id-1"]),
  },
  {
    reason:
      "a key of the same intent where the active one is gone: it may be that one under another id, and has its time",
    happens: (world) => {
      world.make(1);
      world.lost.add("id-1");
      world.outside.delete("id-1");
      world.driftCheckAt = world.now;
    },
    expect: (world) => {
      const [twin] = keptUntil(world);
      assert.deepEqual(twin, ["id-2", "found", 14 * DAY_MS]);
    },
  },
  {
    reason: "a second key of the same intent that is in the Secret: it has users, who are given their time",
    happens: (world) => {
      world.secret = { keyId: world.make(1), sequence: 1, publishedAt: world.now };
    },
    expect: (world) => assert.deepEqual(keptUntil(world), [["id-2", "found", 14 * DAY_MS]]),
  },
  {
    reason:
      "a second key that was published after it was retired as a duplicate: its users are given their time all the same",
    happens: (world) => {
      const id = world.make(1);
      const key = { id, name: "key-1", createdAt: world.now, retiredAt: world.now, replacedAt: world.now };
      world.state = { ...world.state, retired: [{ ...key, overlapMs: 0, deletionAt: world.now, cause: "duplicate" }] };
      world.secret = { keyId: id, sequence: 1, publishedAt: world.now };
    },
    expect: (world) => assert.deepEqual(keptUntil(world), [["id-2", "found", 14 * DAY_MS]]),
  },
  {
    reason: "an abandoned key that was published after all: its users are given their time from its replacement on",
    happens: (world) => {
      world.ask({ value: "1", isCompromised: false });
      world.perform(world.decide());
      const id = world.make(1);
      const key = {
        id,
        name: "key-1",
        createdAt: world.now - 20 * DAY_MS,
        retiredAt: world.now,
        replacedAt: undefined,
      };
      const abandoned: RetiredKey = { ...key, overlapMs: 0, deletionAt: world.now, cause: "abandoned" };
      world.state = { ...world.state, retired: [...world.state.retired, abandoned] };
      world.secret = { keyId: id, sequence: 1, publishedAt: world.now };
      world.forget();
    },
    expect: (world) =>
      assert.deepEqual(keptUntil(world), [
        ["id-1", "forced", 14 * DAY_MS],
        ["id-2", "found", 2 * DAY_MS],
      ]),
  },
  {
    reason: "what the key is made from has changed: a rotation",
    happens: (world) => {
      world.madeFrom = "v2";
    },
    expect: (world) => {
      assert.equal(activeId(world), "id-2");
      assert.equal(world.state.active?.madeFrom, "v2");
    },
  },
  {
    reason: "a compromised key: its successor is published, and then it goes at once",
    happens: (world) => world.ask({ value: "now", isCompromised: true }),
    expect: (world) => assert.deepEqual([...world.outside.keys()], ["id-2"]),
  },
  {
    reason: "a forced rotation: at once, with the promised overlap",
    happens: (world) => world.ask({ value: "1", isCompromised: false }),
    expect: (world) => {
      assert.equal(activeId(world), "id-2");
      assert.equal(world.outside.size, 2);
      assert.equal(world.state.request, undefined);
    },
  },
  {
    reason: "the same force value again asks for nothing",
    happens: (world) => {
      world.ask({ value: "1", isCompromised: false });
      world.settle();
      world.ask({ value: "1", isCompromised: false });
    },
    expect: (world) => assert.equal(activeId(world), "id-2"),
  },
];

for (const { reason, happens, expect } of drifts) {
  test(reason, () => {
    const world = settledWorld();
    happens(world);
    world.settle();
    world.driftCheckAt = Infinity;
    world.settle();
    expect(world);
    assert.deepEqual(world.broken, []);
    assert.equal(world.secret?.keyId, activeId(world));
  });
}

const holds: readonly [reason: WaitReason, waitsMs: number, hold: (world: EngineWorld) => void][] = [
  ["Frozen", Infinity, (world) => Object.assign(world, { isFrozen: true })],
  ["ClockSkewed", 60_000, (world) => Object.assign(world, { isSkewed: true, driftCheckAt: world.now + DAY_MS })],
  [
    "WindowClosed",
    HOUR_MS,
    (world) => Object.assign(world, { window: { isOpen: false, opensAt: world.now + HOUR_MS } }),
  ],
  ["NotAllowed", Infinity, (world) => Object.assign(world, { may: { create: false, delete: false } })],
];

for (const [reason, waitsMs, hold] of holds) {
  test(`held back, with the reason and until when: ${reason}`, () => {
    const world = settledWorld();
    world.now += 13 * DAY_MS;
    hold(world);
    assert.deepEqual(world.decide(), { kind: "wait", until: world.now + waitsMs, reason });
  });
}

test("held back after five forced rotations within one ttl", () => {
  const world = settledWorld();
  for (let i = 0; i < 8; i++) {
    world.ask({ value: `${i}`, isCompromised: false });
    world.settle();
  }
  assert.equal(world.state.retired.length, 5, "at most five by force");
  assert.deepEqual(world.decide(), { kind: "wait", until: world.now + 12 * DAY_MS, reason: "TooManyForced" });
});

test("a key that is gone is not published again where no other may be made", () => {
  const world = settledWorld();
  world.outside.delete("id-1");
  world.secret = undefined;
  world.may = { create: false, delete: true };
  for (const step of ["look", "observe"]) {
    const decision = world.decide();
    assert.equal(decision.kind, step);
    world.perform(decision);
  }
  assert.deepEqual(world.decide(), { kind: "wait", until: Infinity, reason: "NotAllowed" });
});

type Disturbance = (world: EngineWorld) => void;

const disturbances: readonly Disturbance[] = [
  (world) => world.forget(),
  (world) => {
    world.now += 5 * DAY_MS;
  },
  (world) => {
    world.secret = undefined;
  },
  (world) => {
    world.state = { ...world.state, externalName: "tampered" };
  },
  (world) => world.ask({ value: `${world.log.length}`, isCompromised: world.log.length % 3 === 0 }),
  (world) => {
    world.madeFrom = `v${world.log.length}`;
  },
  (world) => {
    world.policy = { ...world.policy, ttlMs: (13 + (world.log.length % 5)) * DAY_MS };
  },
  (world) => {
    world.driftCheckAt = world.now;
  },
  (world) => void (world.state.pending && world.make(world.state.pending.sequence)),
  (world) => void (world.state.pending && world.make(world.state.pending.sequence, { state: "failed" })),
  (world) => {
    for (const key of world.outside.values()) {
      if (key.state === "ready") world.outside.set(key.id, { ...key, state: "creating", illSince: world.now });
    }
  },
  (world) => getWell(world),
  (world) => {
    for (const key of world.outside.values()) world.outside.set(key.id, { ...key, createdAt: world.now });
  },
];

function getWell(world: EngineWorld): void {
  for (const key of world.outside.values()) {
    if (key.state === "creating") world.outside.set(key.id, { ...key, state: "ready", illSince: undefined });
  }
}

test("whatever happens between any two steps, the promises hold, and in the end all is settled", () => {
  const step = fc.record({ disturbance: fc.option(fc.nat(disturbances.length - 1), { freq: 2 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const world = new EngineWorld();
      for (const { disturbance } of steps) {
        if (disturbance !== null) disturbances[disturbance]?.(world);
        const decision = world.decide();
        if (decision.kind === "wait") world.forget();
        else world.perform(decision);
        assert.deepEqual(world.broken, [], world.log.join(" "));
      }
      getWell(world);
      world.driftCheckAt = world.now;
      world.settle();
      world.driftCheckAt = Infinity;
      world.settle();
      assert.deepEqual(world.broken, [], world.log.join(" "));
      const { state, secret } = world;
      assert.equal(secret?.keyId, state.active?.id, "the Secret holds the active key");
      assert.equal(state.externalName, state.active?.id);
      assert.equal(state.pending, undefined);
      const known = new Set([state.active?.id, ...state.retired.map((key) => key.id)]);
      assert.deepEqual(
        [...world.outside.keys()].filter((id) => !known.has(id)),
        [],
        "every key outside is known",
      );
      assert.ok(nextInstant(world.situation()) > world.now, "the next instant lies ahead");
    }),
    { numRuns: 2000 },
  );
});

test("a compromised key that the service will not really replace stays compromised, and is tried again later", () => {
  const world = settledWorld();
  world.givesSameCredentials = true;
  world.ask({ value: "compromised x", isCompromised: true });
  world.settle();
  assert.equal(world.state.pending, undefined);
  assert.notEqual(world.state.fulfilled, "compromised x");
  const { postponedUntil = 0 } = world.state;
  assert.ok(postponedUntil > world.now, "not at once: that would make keys without end");
  assert.deepEqual(world.decide(), { kind: "wait", until: postponedUntil, reason: "Settled" });
});

test("whoever waits for the key it made itself asks for that one alone, and looks at everything when something is odd", () => {
  const world = settledWorld();
  world.createsAs = "creating";
  world.now += 12 * 86_400_000;
  world.settle();
  const id = world.state.pending?.id ?? "";
  const continued = (seen: SeenKey | "gone" | undefined): Decision => {
    world.forget();
    const observed = new Map(seen ? [[id, seen]] : []);
    world.observation = { ...world.observation, observed };
    return world.decide();
  };
  const key = world.outside.get(id);
  assert.ok(key);
  assert.deepEqual(continued(undefined), { kind: "observe", id });
  assert.equal(continued(key).kind, "wait", "still being made");
  assert.deepEqual(continued({ ...key, state: "ready" }), { kind: "publish", id });
  for (const odd of ["gone", { ...key, state: "failed" }, { ...key, state: "deleting" }] as const) {
    assert.deepEqual(continued(odd), { kind: "look" });
  }
  world.isContinued = false;
  world.forget();
  assert.deepEqual(world.decide(), { kind: "look" }, "another process, or a state that somebody has touched");
});

test("what is over goes while the next key is not to be had, and not while the active one may be gone", () => {
  const stuck = (change: (world: EngineWorld) => void, isBlocked = true): string => {
    const world = settledWorld({ frequencyMs: 12 * DAY_MS, ttlMs: 24 * DAY_MS });
    world.now += 12 * DAY_MS;
    world.settle();
    // The first key is over in the very moment in which the second is to be replaced.
    world.now += 12 * DAY_MS;
    world.forget();
    for (let decision = world.decide(); decision.kind !== "create"; decision = world.decide()) world.perform(decision);
    world.observation = { ...world.observation, isBlocked };
    change(world);
    if (world.decide().kind === "look") world.perform(world.decide());
    const decision = world.decide();
    return decision.kind === "expire" ? `expire ${decision.ids}` : decision.kind;
  };
  assert.equal(
    stuck(() => {}, false),
    "create",
  );
  assert.equal(
    stuck(() => {}),
    "expire id-1",
  );
  assert.equal(
    stuck((world) => void world.outside.delete("id-2")),
    "create",
    "it might be the last one that works",
  );
  assert.equal(
    stuck((world) => {
      world.may = { ...world.may, delete: false };
    }),
    "create",
  );
});

test("a next key that was to be deleted, which failed, and that gives no credentials is deleted, not kept for anybody", () => {
  const withheld = (world: EngineWorld): Decision => {
    for (let decision = world.decide(); decision.kind !== "publish"; decision = world.decide()) world.perform(decision);
    const decision = world.decide();
    const id = decision.kind === "publish" ? decision.id : "";
    const half = { ...(world.outside.get(id) ?? assert.fail()), isHalfDeleted: true };
    world.observation = { ...world.observation, unreadable: id, outside: [half] };
    return world.decide();
  };
  const world = settledWorld();
  world.now += 12 * 86_400_000;
  assert.deepEqual(withheld(world), { kind: "removeFailed", id: "id-2" });
  const published = settledWorld();
  published.now += 12 * 86_400_000;
  published.state = { ...published.state, externalName: "id-2" };
  assert.equal(withheld(published).kind, "intend", "somebody had it: another one, and time for them");
});

test("a key in the Secret that no list shows is asked for by its id before another one takes its place", () => {
  const world = settledWorld();
  world.forget();
  world.secret = { keyId: "id-unlisted", sequence: 1, publishedAt: world.now };
  world.perform(world.decide());
  assert.deepEqual(world.decide(), { kind: "observe", id: "id-unlisted" });
  const hidden: SeenKey = { id: "id-unlisted", name: "key-1", createdAt: world.now, state: "ready", sequence: 1 };
  world.observation = { ...world.observation, observed: new Map([["id-unlisted", hidden]]) };
  const decision = world.decide();
  assert.ok(decision.kind === "retire");
  assert.deepEqual(
    decision.keys.map(({ id, cause }) => [id, cause]),
    [["id-unlisted", "found"]],
  );
});

test("a Secret that was left with a key that is gone: asked for by id, and then let go", () => {
  const world = settledWorld();
  world.driftCheckAt = world.now;
  world.perform(world.decide());
  world.observation = { ...world.observation, formerKeyIds: ["id-gone", "id-1"] };
  world.driftCheckAt = Infinity;
  assert.deepEqual(world.decide(), { kind: "observe", id: "id-gone" });
  world.perform(world.decide());
  assert.deepEqual(world.decide(), { kind: "forget", ids: ["id-gone"] });
});

test("a digest under another key is written anew at the next look, and never makes a new key", () => {
  const world = settledWorld();
  world.madeFrom = "other.digest";
  world.isComparable = false;
  assert.equal(world.decide().kind, "wait", "two operators with different keys do not fight over it");
  world.driftCheckAt = world.now;
  world.settle();
  assert.equal(world.state.active?.madeFrom, "other.digest");
  assert.equal(world.state.sequence, 1);
});

/** A world in which the first key is retired, replaced a minute ago, and two days from its end. */
function replacedAMinuteAgo(): EngineWorld {
  const world = settledWorld();
  world.now += 12 * DAY_MS;
  world.settle();
  world.now += 60_000;
  return world;
}

/** The retired key is younger outside than the status says. */
function renewed(world: EngineWorld, createdAt: number): EngineWorld {
  const key = world.outside.get("id-1");
  assert.ok(key);
  world.outside.set("id-1", { ...key, createdAt });
  return world;
}

test("a child that made another key while it was being replaced is kept for as long as that one lives", () => {
  const world = replacedAMinuteAgo();
  renewed(world, world.now - 61_000).driftCheckAt = world.now;
  world.settle();
  assert.deepEqual(keptUntil(world), [["id-1", "rotated", 14 * DAY_MS - 61_000]]);
  assert.equal(world.state.retired[0]?.deletionAt, world.now + 14 * DAY_MS - 61_000, "and saved so");
});

test("it is noticed at the last moment too, before it would be deleted", () => {
  const world = replacedAMinuteAgo();
  renewed(world, world.now - 61_000);
  world.now += 2 * DAY_MS;
  world.settle();
  assert.ok(world.outside.has("id-1"));
});

test("a key that a child made after it was replaced was given to nobody, and moves no date", () => {
  const world = replacedAMinuteAgo();
  renewed(world, world.now - 59_000).driftCheckAt = world.now;
  world.settle();
  assert.deepEqual(keptUntil(world), [["id-1", "rotated", 2 * DAY_MS - 60_000]]);
});

test("a retired key that is older outside than the status says keeps the date that was promised", () => {
  const world = replacedAMinuteAgo();
  renewed(world, world.now - 20 * DAY_MS).driftCheckAt = world.now;
  world.settle();
  assert.deepEqual(keptUntil(world), [["id-1", "rotated", 2 * DAY_MS - 60_000]]);
});
