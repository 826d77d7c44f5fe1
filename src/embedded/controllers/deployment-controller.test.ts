import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { asObject, asObjects } from "../kinds/json-fields.ts";
import { conditionOf } from "./conditions.ts";
import { HISTORY, REVISION, replicasOf } from "./deployment-sets.ts";
import { isPodActive, isPodReady } from "./pod-state.ts";
import { simulatedCluster } from "./simulated-cluster.ts";
import { deployment, statusNumber, World } from "./world.fixture.ts";

const DEPLOYMENTS = "apps/v1/deployments";
const SETS = "apps/v1/replicasets";
const PODS = "/v1/pods";

const withAnnotation = (value: string, key = "version"): object => ({
  spec: { template: { metadata: { annotations: { [key]: value } } } },
});

const reasonOf = (object: KubeObject, type: string): unknown => conditionOf(object.status, type)?.reason;

async function rolledOut(spec: object = {}): Promise<World> {
  const world = await World.running();
  world.create(DEPLOYMENTS, deployment("web", spec));
  await world.pass(2000);
  assert.equal(reasonOf(world.get(DEPLOYMENTS, "web"), "Progressing"), "NewReplicaSetAvailable", "the start succeeded");
  return world;
}

const revisions = (world: World): readonly (readonly [string | undefined, number])[] =>
  world
    .list(SETS)
    .map((set) => [set.metadata.annotations?.[REVISION], replicasOf(set)] as const)
    .sort(([a = ""], [b = ""]) => Number(a) - Number(b));

describe("a new Deployment", () => {
  test("gets a ReplicaSet named after its template, and that its Pods", async () => {
    const world = await rolledOut();
    const [set] = world.list(SETS);
    const hash = set?.metadata.labels?.["pod-template-hash"];
    assert.equal(set?.metadata.name, `web-${hash}`);
    assert.deepEqual(asObject(set?.spec).selector, { matchLabels: { app: "web", "pod-template-hash": hash ?? "" } });
    assert.equal(set?.metadata.ownerReferences?.[0]?.uid, world.get(DEPLOYMENTS, "web").metadata.uid);
    const pods = world.list(PODS);
    assert.equal(pods.length, 3);
    assert.ok(pods.every((pod) => pod.metadata.labels?.["pod-template-hash"] === hash && isPodReady(pod)));
    assert.ok(pods.every((pod) => pod.metadata.name.startsWith(`web-${hash}-`)));
  });

  test("says what kubectl rollout status reads", async () => {
    const world = await rolledOut();
    const web = world.get(DEPLOYMENTS, "web");
    assert.equal(web.metadata.generation, 1, "noting the revision is no new generation");
    assert.equal(web.metadata.annotations?.[REVISION], "1");
    const { conditions, ...counts } = asObject(web.status);
    assert.deepEqual(counts, {
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      terminatingReplicas: 0,
    });
    assert.deepEqual(
      asObjects(conditions).map(({ type, status, reason }) => [type, status, reason]),
      [
        ["Available", "True", "MinimumReplicasAvailable"],
        ["Progressing", "True", "NewReplicaSetAvailable"],
      ],
    );
  });

  test("is quiet once it is done: no writes, no timers", async () => {
    const world = await rolledOut();
    const { revision } = world.store;
    await world.pass(24 * 3600 * 1000);
    assert.equal(world.store.revision, revision);
    assert.equal(world.clock.timerCount, 0);
  });

  test("is left alone by controllers that start anew", async () => {
    const world = await rolledOut();
    await world.loop.stop();
    const { revision } = world.store;
    const { objects, registry, clock } = world;
    const successor = simulatedCluster({ objects, registry, clock, rootCertificate: "PEM" });
    successor.start();
    await world.pass(60_000);
    assert.equal(world.store.revision, revision);
    world.patch(DEPLOYMENTS, "web", withAnnotation("2"));
    await world.pass(5000);
    assert.deepEqual(revisions(world), [
      ["1", 0],
      ["2", 3],
    ]);
    await successor.stop();
  });
});

describe("a rollout", () => {
  test("stays within maxSurge and maxUnavailable at every moment, and ends", async () => {
    const amount = fc.oneof(
      fc.nat({ max: 4 }),
      fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
    );
    const budgets = fc
      .record({ replicas: fc.integer({ min: 1, max: 6 }), maxSurge: amount, maxUnavailable: amount })
      .filter(
        ({ maxSurge, maxUnavailable }) =>
          Number.parseInt(`${maxSurge}`, 10) + Number.parseInt(`${maxUnavailable}`, 10) > 0,
      );
    await fc.assert(
      fc.asyncProperty(budgets, async ({ replicas, maxSurge, maxUnavailable }) => {
        const rollingUpdate = { maxSurge, maxUnavailable };
        const world = await rolledOut({ replicas, strategy: { rollingUpdate } });
        const exact = (value: number | string, round: (n: number) => number): number =>
          typeof value === "number" ? value : round((Number.parseInt(value, 10) * replicas) / 100);
        const surge = exact(maxSurge, Math.ceil);
        const unavailable = exact(maxUnavailable, Math.floor) || (surge === 0 ? 1 : 0);
        world.patch(DEPLOYMENTS, "web", withAnnotation("2"));
        for (let step = 0; step < 60; step += 1) {
          await world.pass(50);
          const active = world.list(PODS).filter(isPodActive);
          assert.ok(active.length <= replicas + surge, `${active.length} Pods of at most ${replicas + surge}`);
          const ready = active.filter(isPodReady).length;
          assert.ok(ready >= replicas - unavailable, `${ready} ready Pods of at least ${replicas - unavailable}`);
        }
        await world.pass(5000);
        const pods = world.list(PODS);
        assert.equal(pods.length, replicas);
        assert.ok(pods.every(({ metadata }) => metadata.annotations?.version === "2"));
        assert.equal(statusNumber(world.get(DEPLOYMENTS, "web"), "updatedReplicas"), replicas);
        await world.loop.stop();
      }),
      { numRuns: 25 },
    );
  });

  test("of type Recreate starts new Pods only when the last old one is gone", async () => {
    const world = await rolledOut({ strategy: { type: "Recreate" } });
    world.patch(DEPLOYMENTS, "web", withAnnotation("2"));
    for (let step = 0; step < 40; step += 1) {
      await world.pass(20);
      const versions = new Set(world.list(PODS).map(({ metadata }) => metadata.annotations?.version));
      assert.ok(versions.size <= 1, "old and new Pods were there at once");
    }
    assert.equal(world.list(PODS).filter(isPodReady).length, 3);
    assert.deepEqual(revisions(world), [
      ["1", 0],
      ["2", 3],
    ]);
  });

  test("that gets stuck keeps serving, reports its deadline, and can be undone", async () => {
    const world = await rolledOut({ progressDeadlineSeconds: 30 });
    world.patch(DEPLOYMENTS, "web", withAnnotation("false", "embedded.keyturn.dev/ready"));
    await world.pass(5000);
    assert.equal(reasonOf(world.get(DEPLOYMENTS, "web"), "Progressing"), "ReplicaSetUpdated");
    await world.pass(30_000);
    const stuck = world.get(DEPLOYMENTS, "web");
    assert.equal(reasonOf(stuck, "Progressing"), "ProgressDeadlineExceeded");
    assert.equal(conditionOf(stuck.status, "Progressing")?.status, "False");
    assert.equal(reasonOf(stuck, "Available"), "MinimumReplicasAvailable");
    assert.equal(world.list(PODS).filter(isPodReady).length, 3, "the old Pods stay");
    world.patch(DEPLOYMENTS, "web", { spec: { template: { metadata: { annotations: null } } } });
    await world.pass(5000);
    const undone = world.get(DEPLOYMENTS, "web");
    assert.equal(reasonOf(undone, "Progressing"), "NewReplicaSetAvailable");
    assert.equal(undone.metadata.annotations?.[REVISION], "3");
    assert.deepEqual(revisions(world), [
      ["2", 0],
      ["3", 3],
    ]);
  });

  test("back to an old template revives its ReplicaSet under a new revision", async () => {
    const world = await rolledOut();
    const [first] = world.names(SETS);
    world.patch(DEPLOYMENTS, "web", withAnnotation("2"));
    await world.pass(5000);
    world.patch(DEPLOYMENTS, "web", { spec: { template: { metadata: { annotations: null } } } });
    await world.pass(5000);
    const revived = world.get(SETS, first ?? "");
    assert.equal(revived.metadata.annotations?.[REVISION], "3");
    assert.equal(revived.metadata.annotations?.[HISTORY], "1");
    assert.equal(replicasOf(revived), 3);
    assert.equal(world.list(SETS).length, 2);
  });

  test("waits while paused and goes on when resumed", async () => {
    const world = await rolledOut();
    world.patch(DEPLOYMENTS, "web", { spec: { paused: true } });
    world.patch(DEPLOYMENTS, "web", withAnnotation("2"));
    await world.pass(5000);
    assert.equal(world.list(SETS).length, 1);
    assert.equal(reasonOf(world.get(DEPLOYMENTS, "web"), "Progressing"), "DeploymentPaused");
    world.patch(DEPLOYMENTS, "web", { spec: { replicas: 5 } });
    await world.pass(2000);
    assert.equal(world.list(PODS).length, 5, "a paused Deployment still scales");
    world.patch(DEPLOYMENTS, "web", { spec: { paused: null } });
    await world.pass(5000);
    assert.deepEqual(revisions(world), [
      ["1", 0],
      ["2", 5],
    ]);
    assert.equal(reasonOf(world.get(DEPLOYMENTS, "web"), "Progressing"), "NewReplicaSetAvailable");
  });

  test("keeps as many old ReplicaSets as the history limit says", async () => {
    const world = await rolledOut({ revisionHistoryLimit: 2 });
    for (const version of ["2", "3", "4", "5"]) {
      world.patch(DEPLOYMENTS, "web", withAnnotation(version));
      await world.pass(5000);
    }
    assert.deepEqual(revisions(world), [
      ["3", 0],
      ["4", 0],
      ["5", 3],
    ]);
  });

  test("counts a Pod as available only after minReadySeconds", async () => {
    const world = await World.running();
    world.create(DEPLOYMENTS, deployment("web", { minReadySeconds: 10 }));
    await world.pass(5000);
    const early = world.get(DEPLOYMENTS, "web");
    assert.equal(statusNumber(early, "readyReplicas"), 3);
    assert.equal(statusNumber(early, "availableReplicas"), 0);
    await world.pass(6000);
    assert.equal(statusNumber(world.get(DEPLOYMENTS, "web"), "availableReplicas"), 3);
  });
});

describe("scaling", () => {
  test("up and down, to nothing and back", async () => {
    const world = await rolledOut();
    for (const replicas of [5, 1, 0, 2]) {
      world.patch(DEPLOYMENTS, "web", { spec: { replicas } });
      await world.pass(3000);
      assert.equal(world.list(PODS).length, replicas, `${replicas} Pods`);
      assert.equal(statusNumber(world.get(DEPLOYMENTS, "web"), "replicas"), replicas);
    }
  });

  test("in the middle of a stuck rollout grows old and new in proportion", async () => {
    const world = await rolledOut({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } });
    world.patch(DEPLOYMENTS, "web", withAnnotation("false", "embedded.keyturn.dev/ready"));
    await world.pass(3000);
    assert.deepEqual(revisions(world), [
      ["1", 4],
      ["2", 2],
    ]);
    world.patch(DEPLOYMENTS, "web", { spec: { replicas: 8 } });
    await world.pass(3000);
    assert.deepEqual(
      revisions(world),
      [
        ["1", 7],
        ["2", 3],
      ],
      "10 in all: 4:2 becomes 7:3",
    );
  });
});

describe("ownership", () => {
  test("an orphaned ReplicaSet is taken in by the next Deployment of its template", async () => {
    const world = await rolledOut();
    const [before] = world.list(SETS);
    world.delete(DEPLOYMENTS, "web", { propagationPolicy: "Orphan" });
    await world.pass(1000);
    assert.equal(world.list(DEPLOYMENTS).length, 0);
    assert.equal(world.list(PODS).length, 3);
    assert.equal(world.list(SETS)[0]?.metadata.ownerReferences, undefined);
    world.create(DEPLOYMENTS, deployment("web"));
    await world.pass(2000);
    const [after] = world.list(SETS);
    assert.equal(after?.metadata.uid, before?.metadata.uid);
    assert.equal(after?.metadata.ownerReferences?.[0]?.uid, world.get(DEPLOYMENTS, "web").metadata.uid);
    assert.equal(world.list(PODS).length, 3);
  });

  test("a lost Pod is replaced, and that is no rollout", async () => {
    const world = await rolledOut();
    world.delete(PODS, world.names(PODS)[0] ?? "", { gracePeriodSeconds: 0 });
    await world.pass(2000);
    assert.equal(world.list(PODS).filter(isPodReady).length, 3);
    const web = world.get(DEPLOYMENTS, "web");
    assert.equal(web.metadata.annotations?.[REVISION], "1");
    assert.equal(reasonOf(web, "Progressing"), "NewReplicaSetAvailable");
  });
});

describe("the loop", () => {
  const script = async (seed: number, historyLimit?: number): Promise<World> => {
    const world = await World.running(historyLimit === undefined ? { seed } : { seed, historyLimit });
    world.create(DEPLOYMENTS, deployment("web", { replicas: 4 }));
    await world.pass(700);
    world.patch(DEPLOYMENTS, "web", withAnnotation("2"));
    await world.pass(350);
    world.patch(DEPLOYMENTS, "web", withAnnotation("3"));
    await world.pass(10_000);
    await world.loop.stop();
    return world;
  };

  test("does the same twice", async () => {
    const [one, two] = [await script(7), await script(7)];
    assert.deepEqual(one.list(PODS), two.list(PODS));
    assert.deepEqual(one.list(SETS), two.list(SETS));
    assert.equal(one.store.revision, two.store.revision);
  });

  test("gets there although history is lost on the way", async () => {
    const world = await script(7, 2);
    assert.equal(world.list(PODS).length, 4);
    assert.ok(world.list(PODS).every(({ metadata }) => metadata.annotations?.version === "3"));
    assert.equal(world.clock.timerCount, 0, "a stopped loop leaves no timer");
  });
});
