import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asObject } from "../kinds/json-fields.ts";
import { isPodReady } from "./pod-state.ts";
import { POD_TEMPLATE, statusNumber, World } from "./world.fixture.ts";

const SETS = "apps/v1/statefulsets";
const PODS = "/v1/pods";

const statefulSet = (spec: object = {}): object => ({
  metadata: { name: "db" },
  spec: { replicas: 3, serviceName: "db", selector: { matchLabels: { app: "web" } }, template: POD_TEMPLATE, ...spec },
});

const withAnnotation = (value: string, key = "version"): object => ({
  spec: { template: { metadata: { annotations: { [key]: value } } } },
});

async function rolledOut(spec: object = {}): Promise<World> {
  const world = await World.running();
  world.create(SETS, statefulSet(spec));
  await world.pass(3000);
  assert.equal(statusNumber(world.get(SETS, "db"), "readyReplicas"), 3, "the start succeeded");
  return world;
}

const versions = (world: World): readonly (string | undefined)[] =>
  world.list(PODS).map(({ metadata }) => metadata.annotations?.version);

describe("a StatefulSet", () => {
  test("makes its Pods one after the other", async () => {
    const world = await World.running();
    world.create(SETS, statefulSet());
    const seen: number[] = [];
    for (let step = 0; step < 10; step += 1) {
      await world.pass(100);
      const pods = world.list(PODS);
      assert.ok(pods.slice(0, -1).every(isPodReady), "a Pod was made before the one below it was ready");
      seen.push(pods.length);
    }
    assert.deepEqual([...new Set(seen)], [1, 2, 3]);
    assert.deepEqual(world.names(PODS), ["db-0", "db-1", "db-2"]);
    const [pod] = world.list(PODS);
    assert.equal(asObject(pod?.spec).hostname, "db-0");
    assert.equal(asObject(pod?.spec).subdomain, "db");
    assert.equal(pod?.metadata.labels?.["apps.kubernetes.io/pod-index"], "0");
  });

  test("makes them all at once if told so", async () => {
    const world = await World.running();
    world.create(SETS, statefulSet({ podManagementPolicy: "Parallel" }));
    await world.settle();
    assert.equal(world.list(PODS).length, 3);
  });

  test("replaces them from the highest ordinal down, never two at a time", async () => {
    const world = await rolledOut();
    const before = asObject(world.get(SETS, "db").status);
    assert.equal(before.currentRevision, before.updateRevision);
    world.patch(SETS, "db", withAnnotation("2"));
    const orders = new Set<string>();
    for (let step = 0; step < 60; step += 1) {
      await world.pass(50);
      assert.ok(world.list(PODS).filter((pod) => isPodReady(pod)).length >= 2);
      orders.add(
        world
          .list(PODS)
          .filter(({ metadata }) => metadata.annotations?.version === "2")
          .map(({ metadata }) => metadata.name)
          .join(),
      );
    }
    assert.deepEqual([...orders], ["", "db-2", "db-1,db-2", "db-0,db-1,db-2"]);
    const after = asObject(world.get(SETS, "db").status);
    assert.notEqual(after.updateRevision, before.updateRevision);
    assert.equal(after.currentRevision, after.updateRevision);
    assert.deepEqual(
      world
        .list("apps/v1/controllerrevisions")
        .map(({ revision }) => revision)
        .sort(),
      [1, 2],
    );
  });

  test("leaves what is below the partition, even when it has to make it again", async () => {
    const world = await rolledOut({ updateStrategy: { rollingUpdate: { partition: 2 } } });
    world.patch(SETS, "db", withAnnotation("2"));
    await world.pass(3000);
    assert.deepEqual(versions(world), [undefined, undefined, "2"]);
    world.delete(PODS, "db-0");
    await world.pass(3000);
    assert.deepEqual(versions(world), [undefined, undefined, "2"]);
    const status = asObject(world.get(SETS, "db").status);
    assert.notEqual(status.currentRevision, status.updateRevision);
    assert.equal(status.currentReplicas, 2);
    assert.equal(status.updatedReplicas, 1);
  });

  test("that updates on delete waits for somebody to delete", async () => {
    const world = await rolledOut({ updateStrategy: { type: "OnDelete" } });
    world.patch(SETS, "db", withAnnotation("2"));
    await world.pass(3000);
    assert.deepEqual(versions(world), [undefined, undefined, undefined]);
    world.delete(PODS, "db-1");
    await world.pass(3000);
    assert.deepEqual(versions(world), [undefined, "2", undefined]);
  });

  test("stops at a Pod that does not get ready", async () => {
    const world = await rolledOut();
    world.patch(SETS, "db", withAnnotation("false", "embedded.keyturn.dev/ready"));
    await world.pass(10_000);
    assert.deepEqual(world.list(PODS).map(isPodReady), [true, true, false]);
  });

  test("scales down from the top, and back, with the same names", async () => {
    const world = await rolledOut();
    world.patch(SETS, "db", { spec: { replicas: 1 } });
    await world.pass(3000);
    assert.deepEqual(world.names(PODS), ["db-0"]);
    world.patch(SETS, "db", { spec: { replicas: 2 } });
    await world.pass(3000);
    assert.deepEqual(world.names(PODS), ["db-0", "db-1"]);
    assert.equal(statusNumber(world.get(SETS, "db"), "replicas"), 2);
  });

  test("keeps a limited history of its templates, and finds an old one again", async () => {
    const world = await rolledOut({ revisionHistoryLimit: 1 });
    for (const version of ["2", "3", "4", "3"]) {
      world.patch(SETS, "db", withAnnotation(version));
      await world.pass(5000);
    }
    const kept = world
      .list("apps/v1/controllerrevisions")
      .map(({ revision }) => revision)
      .sort();
    assert.deepEqual(kept, [4, 5], "the revived third template is the fifth revision");
    const { revision } = world.store;
    await world.pass(3600_000);
    assert.equal(world.store.revision, revision, "nothing is written when all is done");
  });

  test("names the claims of its Pods", async () => {
    const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } };
    const world = await rolledOut({ volumeClaimTemplates: [claim] });
    assert.deepEqual(asObject(world.get(PODS, "db-1").spec).volumes, [
      { name: "data", persistentVolumeClaim: { claimName: "data-db-1" } },
    ]);
  });
});
