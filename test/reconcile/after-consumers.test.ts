import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { formatInstant, parseInstant } from "../../src/base/instant.ts";
import { parseWindow } from "../../src/engine/windows.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { cronJobType, jobType, podType, replicaSetType } from "../../src/restart/workload-kinds.ts";
import {
  ConsumersWorld,
  DIGESTS,
  due,
  heldFor,
  OPT_IN,
  ownerOf,
  rotated,
  rotation,
  SECRET,
  usingAll,
  usingKeys,
  WEB,
  web,
} from "./consumers-world.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const UNHURRIED = { quietMs: 0, longestWaitMs: 0, leastIntervalMs: 0, perHour: 0 };

describe("who has not moved on", () => {
  test("a pod of a workload that has opted in, from before the rotation, keeps the key; everything says so", async () => {
    const story = await due(web);
    const { world } = story;
    assert.equal(await heldFor(story), WEB);
    const { conditions } = await world.status();
    assert.deepEqual(
      conditions.map(({ type, status }) => `${type}=${status}`),
      ["Ready=True", "Synced=True", "RotationStatus=True"],
    );
    assert.match(
      conditions[2]?.message ?? "",
      /is kept until \S+ at the latest: Deployment default\/web has not moved/,
    );
    assert.deepEqual(world.told(), ["ConsumersBehind"]);
    const { revision } = world.server.store;
    const outcome = await world.reconcile("orders");
    assert.equal(world.server.store.revision, revision, "asked again, it writes nothing");
    assert.equal(outcome.kind === "recheck" && outcome.at - world.clock.now(), 5 * SECOND_MS);
  });

  test("it goes as soon as the pod is gone", async () => {
    const story = await due(web);
    await heldFor(story);
    await story.world.kube.delete(podType, { namespace: "default", name: "web-1-a" });
    assert.equal(await heldFor(story), undefined);
    assert.deepEqual(story.world.told(), ["ConsumersBehind"]);
  });

  test("a pod from after the rotation has moved", async () => {
    const story = await rotated(async (world) => world.optIn(WEB));
    await story.world.clock.advance(2 * SECOND_MS);
    await web(story.world);
    await story.world.clock.advance(HOUR_MS);
    assert.equal(await heldFor(story), undefined);
    assert.deepEqual(story.world.told(), []);
  });

  test("a pod from the very second of the rotation has not, unless its digests say so", async () => {
    const isHeldWith = async (annotations: (world: ConsumersWorld) => Promise<Record<string, string>>) => {
      const story = await rotated();
      const { world } = story;
      world.optIn(WEB);
      await world.pod({ owner: await world.ofWeb(), annotations: await annotations(world) });
      await world.clock.advance(HOUR_MS + SECOND_MS);
      return heldFor(story);
    };
    assert.equal(await isHeldWith(async () => ({})), WEB);
    assert.equal(
      await isHeldWith(async (world) => ({ [DIGESTS]: `secret/${SECRET}=${await world.digest()}` })),
      undefined,
    );
  });

  test("a pod that says it runs on what was there before is behind, whoever it is of", async () => {
    const story = await due(async (world) => {
      const annotations = { [DIGESTS]: `secret/${SECRET}=${await world.digest()}` };
      await world.pod({ owner: ownerOf("Rollout", "web"), annotations });
    });
    assert.equal(await heldFor(story), "Rollout default/web (a Rollout is not restarted by Keyturn)");
  });

  const others: readonly (readonly [string, (world: ConsumersWorld) => Promise<unknown>, string | undefined])[] = [
    ["no pod at all", async (world) => world.optIn(WEB), undefined],
    ["one that has not opted in", async (world) => world.pod({ owner: await world.ofWeb() }), undefined],
    [
      "one whose pod template says so",
      async (world) => world.pod({ owner: await world.ofWeb(), annotations: { [OPT_IN]: "true" } }),
      WEB,
    ],
    [
      "a StatefulSet",
      async (world) => {
        world.optIn("StatefulSet default/db");
        await world.pod({ owner: ownerOf("StatefulSet", "db") });
      },
      "StatefulSet default/db",
    ],
    [
      "the pod of a Job that a CronJob made",
      async (world) => {
        world.optIn("CronJob default/bill");
        await world.pod({ owner: await world.between(jobType, "bill-1", { kind: cronJobType.kind, name: "bill" }) });
      },
      "CronJob default/bill",
    ],
    [
      "the pod of a Job that somebody made",
      async (world) => world.pod({ owner: await world.between(jobType, "migrate"), annotations: { [OPT_IN]: "true" } }),
      "Job default/migrate (it runs to its end)",
    ],
    ["a pod that nobody makes again", async (world) => world.pod({ annotations: { [OPT_IN]: "true" } }), undefined],
    [
      "a pod that nobody makes again and that may be deleted",
      async (world) => world.pod({ annotations: { [OPT_IN]: "delete" } }),
      "Pod default/web-1-a",
    ],
    [
      "a pod that uses the Secret only to pull its image",
      async (world) => {
        world.optIn(WEB);
        const containers = [{ name: "main", image: "x" }];
        await world.pod({ owner: await world.ofWeb(), spec: { containers, imagePullSecrets: [{ name: SECRET }] } });
      },
      undefined,
    ],
    [
      "a Secret that never leads to a restart",
      async (world) => {
        world.optIn(WEB);
        const digests = { [DIGESTS]: `secret/${SECRET}=${await world.digest()}` };
        await world.pod({ owner: await world.ofWeb(), annotations: digests });
        const annotations = { "reloader.stakater.com/ignore": "true" };
        const ref = { namespace: "default", name: SECRET };
        await world.kube.patch(secretType, ref, { type: "merge", body: { metadata: { annotations } } });
      },
      undefined,
    ],
    [
      "a pod that uses another Secret",
      async (world) => {
        world.optIn(WEB);
        await world.pod({ owner: await world.ofWeb(), spec: usingAll("other") });
      },
      undefined,
    ],
    [
      "a pod of another namespace",
      async (world) => {
        world.optIn("StatefulSet kube-public/db");
        await world.pod({ owner: ownerOf("StatefulSet", "db"), namespace: "kube-public" });
      },
      undefined,
    ],
    [
      "one whose restarts are stopped",
      async (world) => {
        await web(world);
        world.knows(WEB, { stopped: "Stopped after 12 restarts" });
      },
      `${WEB} (its restarts are stopped)`,
    ],
    [
      "one that is paused",
      async (world) => {
        await web(world);
        world.knows(WEB, { rollout: { isComplete: false, isStuck: true, halt: "paused", updated: 0, total: 1 } });
      },
      `${WEB} (it is paused)`,
    ],
    [
      "one whose window never opens",
      async (world) => {
        await web(world);
        world.knows(WEB, {
          pace: { pace: UNHURRIED, windows: [parseWindow({ schedule: "0 0 31 2 *", duration: "1h" })] },
        });
      },
      `${WEB} (its window never opens, or cannot be read)`,
    ],
    [
      "one whose window opens later",
      async (world) => {
        await web(world);
        world.knows(WEB, {
          pace: { pace: UNHURRIED, windows: [parseWindow({ schedule: "0 4 1 1 *", duration: "1h" })] },
        });
      },
      `${WEB} (its window opens at 2026-01-01T04:00:00Z)`,
    ],
    [
      "one whose window is open, and that has rested",
      async (world) => {
        await web(world);
        const state = { sources: new Map(), restartedAt: [world.clock.now()], isStopped: false, replacing: undefined };
        const windows = [parseWindow({ schedule: "* * * * *", duration: "1h" })];
        world.knows(WEB, { state, pace: { pace: { ...UNHURRIED, leastIntervalMs: SECOND_MS }, windows } });
      },
      WEB,
    ],
    [
      "two at once, sorted",
      async (world) => {
        await web(world);
        world.optIn("StatefulSet default/db");
        await world.pod({ name: "db-0", owner: ownerOf("StatefulSet", "db") });
      },
      "Deployment default/web, StatefulSet default/db",
    ],
  ];
  for (const [who, before, expected] of others) {
    test(`${who}: ${expected === undefined ? "nobody is waited for" : "waited for"}`, async () => {
      assert.equal(await heldFor(await due(before)), expected);
    });
  }

  test("one that was restarted a short while ago: it is said when its next restart may come", async () => {
    const restedAt = (world: ConsumersWorld): number => world.clock.now() + 1000 * HOUR_MS;
    let expected = "";
    const story = await due(async (world) => {
      await web(world);
      const state = { sources: new Map(), restartedAt: [world.clock.now()], isStopped: false, replacing: undefined };
      world.knows(WEB, { state, pace: { pace: { ...UNHURRIED, leastIntervalMs: 1000 * HOUR_MS }, windows: [] } });
      expected = `${WEB} (its minimum interval is over at ${formatInstant(restedAt(world))})`;
    });
    assert.equal(await heldFor(story), expected);
  });

  test("a pod on its way out counts until it is gone, one that has ended does not", async () => {
    const story = await due(async (world) => {
      world.optIn(WEB);
      await world.pod({ owner: await world.ofWeb(), finalizers: ["example.com/slow"] });
    });
    const { world } = story;
    const ref = { namespace: "default", name: "web-1-a" };
    await world.kube.delete(podType, ref);
    assert.equal(await heldFor(story), WEB);
    const body = { status: { phase: "Succeeded" } };
    await world.kube.patch(podType, ref, { type: "merge", body }, { subresource: "status" });
    assert.equal(await heldFor(story), undefined);
  });

  test("a workload that has switched to another Secret still has pods that use the old one", async () => {
    const story = await due(async (world) => {
      await web(world);
      const owner = await world.between(replicaSetType, "web-2", { kind: "Deployment", name: "web" });
      await world.pod({ name: "web-2-a", owner, spec: usingAll("other") });
    });
    assert.equal(await heldFor(story), WEB);
  });

  test("a workload that takes its opt-in back is no longer waited for; its pods that bear it themselves are", async () => {
    const story = await due(web);
    assert.equal(await heldFor(story), WEB);
    story.world.optedIn.clear();
    assert.equal(await heldFor(story), undefined);

    const other = await due(async (world) => {
      world.optIn(WEB);
      await world.pod({ owner: await world.ofWeb(), annotations: { [OPT_IN]: "true" } });
    });
    other.world.optedIn.clear();
    assert.equal(await heldFor(other), WEB);
  });

  test("a workload that is gone, and its pods with it, has moved", async () => {
    const story = await due(web);
    assert.equal(await heldFor(story), WEB);
    story.world.optedIn.clear();
    await story.world.kube.delete(podType, { namespace: "default", name: "web-1-a" });
    assert.equal(await heldFor(story), undefined);
  });
});

describe("what a workload uses", () => {
  /** Keys of the Secret that a rotation leaves alone, and those that it changes. */
  async function keysOf(world: ConsumersWorld, change: () => Promise<void>) {
    const before = (await world.secretOf("orders")) ?? {};
    await change();
    const after = (await world.secretOf("orders")) ?? {};
    const [same, changed] = [true, false].map((isSame) =>
      Object.keys(before).filter((key) => (before[key] === after[key]) === isSame),
    );
    return { same: same ?? [], changed: changed ?? [] };
  }

  for (const isLeftAlone of [true, false]) {
    test(`keys that rotation ${isLeftAlone ? "leaves alone: nobody is waited for" : "changes: waited for"}`, async () => {
      const world = new ConsumersWorld();
      await world.start();
      await world.create("orders", { rotation });
      await world.reconcile("orders");
      const [{ id }, startAt] = [(await world.status()).atProvider, world.clock.now()];
      const first = await world.digest();
      const { same, changed } = await keysOf(world, async () => {
        await world.clock.advance(10 * HOUR_MS);
        await world.reconcile("orders");
      });
      assert.ok(same.length > 0 && changed.length > 0, `${same} | ${changed}`);
      assert.notEqual(await world.digest(), first);
      // The pod is as old as the first key: it is made up here because only now it is known what changes.
      const keys = isLeftAlone ? same : changed;
      await world.pod({ owner: await world.ofWeb(), spec: usingKeys(SECRET, keys) });
      world.optIn(WEB, { digest: await world.digest(isLeftAlone ? keys : undefined), since: startAt });
      await world.clock.advance(HOUR_MS + SECOND_MS);
      assert.equal(await heldFor({ world, id }), isLeftAlone ? undefined : WEB);
    });
  }

  test("what was adopted at the rotation itself says nothing of the pods from before", async () => {
    const story = await rotated(web);
    const { world } = story;
    const [entry] = await world.retired();
    world.optIn(WEB, { digest: await world.digest(), since: parseInstant(entry?.replacedDate) ?? 0 });
    await world.clock.advance(HOUR_MS + SECOND_MS);
    assert.equal(await heldFor(story), WEB);
  });
});

describe("several keys and Secrets", () => {
  test("each retired key is kept for those who still use it, and no other", async () => {
    const { world, id } = await rotated(web, { rotation: { ...rotation, maxHold: "30h" } });
    await world.clock.advance(10 * HOUR_MS);
    await world.reconcile("orders");
    const [, second] = await world.retired();
    await world.clock.advance(HOUR_MS + SECOND_MS);
    await world.reconcile("orders");
    // The pod was there before both were replaced.
    assert.deepEqual(
      (await world.retired()).map((key) => [key.id, key.heldFor]),
      [
        [id, WEB],
        [second?.id, WEB],
      ],
    );
    assert.deepEqual(world.told(), ["ConsumersBehind", "ConsumersBehind"]);
    await world.kube.delete(podType, { namespace: "default", name: "web-1-a" });
    await world.reconcile("orders");
    assert.deepEqual(await world.retired(), []);
  });

  test("a pod that moved to the second key keeps only that one when the third comes", async () => {
    const { world, id } = await rotated();
    await world.clock.advance(2 * MINUTE_MS);
    await web(world);
    await world.clock.advance(10 * HOUR_MS);
    await world.reconcile("orders");
    assert.ok(!world.isAlive(id));
    await world.clock.advance(HOUR_MS + SECOND_MS);
    await world.reconcile("orders");
    assert.deepEqual(
      (await world.retired()).map((key) => key.heldFor),
      [WEB],
    );
  });

  test("whoever uses a Secret that was left uses the key in it, however young the pod is", async () => {
    const story = await rotated(async (world) => {
      world.optIn(WEB);
      const writeConnectionSecretToRef = { namespace: "default", name: "moved-secret" };
      const body = { spec: { writeConnectionSecretToRef } };
      await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
      await world.reconcile("orders");
    });
    const { world } = story;
    await world.clock.advance(30 * MINUTE_MS);
    await world.pod({ owner: await world.ofWeb() });
    await world.clock.advance(30 * MINUTE_MS + SECOND_MS);
    assert.equal(await heldFor(story), WEB);
    await world.kube.get(secretType, { namespace: "default", name: SECRET });
    await world.kube.delete(podType, { namespace: "default", name: "web-1-a" });
    assert.equal(await heldFor(story), undefined);
    await assert.rejects(world.kube.get(secretType, { namespace: "default", name: SECRET }), /not found/);
  });

  test("a Secret that was put back to a retired key: whoever started meanwhile is waited for", async () => {
    const world = new ConsumersWorld();
    await world.start();
    await world.create("orders", { rotation });
    await world.reconcile("orders");
    const { id } = (await world.status()).atProvider;
    const ref = { namespace: "default", name: SECRET };
    const old = await world.kube.get(secretType, ref);
    await world.clock.advance(10 * HOUR_MS);
    await world.reconcile("orders");
    await world.clock.advance(30 * MINUTE_MS);
    const { resourceVersion: _, ...metadata } = old.metadata;
    await world.kube.replace(secretType, { ...old, metadata });
    await world.clock.advance(MINUTE_MS);
    await web(world);
    await world.clock.advance(MINUTE_MS);
    world.restart();
    await world.reconcile("orders");
    assert.ok(await world.secretWorks("orders"));
    const [entry] = await world.retired();
    assert.equal(parseInstant(entry?.replacedDate), world.clock.now());
    await world.clock.advance(HOUR_MS + SECOND_MS);
    assert.equal(await heldFor({ world, id }), WEB);
  });
});
