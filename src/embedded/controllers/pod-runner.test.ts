import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asObject, asObjects } from "../kinds/json-fields.ts";
import { conditionOf } from "./conditions.ts";
import { isPodReady, phaseOf } from "./pod-state.ts";
import { World } from "./world.fixture.ts";

const PODS = "/v1/pods";
const pod = (metadata: object = {}): object => ({
  metadata: { name: "pod", ...metadata },
  spec: { containers: [{ name: "main", image: "web:1" }] },
});

describe("a Pod", () => {
  test("is scheduled at once and ready after its start-up time", async () => {
    const world = await World.running();
    world.create(PODS, pod());
    await world.settle();
    const scheduled = world.get(PODS, "pod");
    assert.equal(asObject(scheduled.spec).nodeName, "embedded");
    assert.equal(phaseOf(scheduled), "Pending");
    assert.equal(conditionOf(scheduled.status, "PodScheduled")?.status, "True");
    await world.pass(199);
    assert.equal(phaseOf(world.get(PODS, "pod")), "Pending");
    await world.pass(1);
    const running = world.get(PODS, "pod");
    assert.equal(phaseOf(running), "Running");
    assert.ok(isPodReady(running));
    const [status] = asObjects(asObject(running.status).containerStatuses);
    assert.equal(status?.ready, true);
    assert.match(String(asObject(running.status).podIP), /^10\.244\.\d+\.\d+$/);
    assert.equal(world.clock.timerCount, 0);
  });

  test("is kept from getting ready by its annotation, and let go by taking it away", async () => {
    const world = await World.running();
    world.create(PODS, pod({ annotations: { "embedded.keyturn.dev/ready": "false" } }));
    await world.pass(1000);
    const unready = world.get(PODS, "pod");
    assert.equal(phaseOf(unready), "Running");
    assert.equal(conditionOf(unready.status, "Ready")?.reason, "ContainersNotReady");
    world.patch(PODS, "pod", { metadata: { annotations: null } });
    await world.settle();
    assert.ok(isPodReady(world.get(PODS, "pod")));
    world.patch(PODS, "pod", { metadata: { annotations: { "embedded.keyturn.dev/ready": "false" } } });
    await world.settle();
    assert.ok(!isPodReady(world.get(PODS, "pod")));
  });

  test("waits for the Secrets and ConfigMaps that it needs, and for no others", async () => {
    const world = await World.running();
    const spec = {
      containers: [
        {
          name: "main",
          image: "web:1",
          env: [{ name: "A", valueFrom: { secretKeyRef: { name: "db", key: "a" } } }],
          envFrom: [{ configMapRef: { name: "settings" } }, { secretRef: { name: "extra", optional: true } }],
        },
      ],
      volumes: [{ name: "all", projected: { sources: [{ secret: { name: "db" } }] } }],
    };
    world.create(PODS, { metadata: { name: "pod" }, spec });
    await world.pass(1000);
    assert.equal(phaseOf(world.get(PODS, "pod")), "Pending");
    world.create("/v1/secrets", { metadata: { name: "db" } });
    await world.pass(1000);
    assert.equal(phaseOf(world.get(PODS, "pod")), "Pending", "one of two is there");
    world.create("/v1/configmaps", { metadata: { name: "settings" } });
    await world.pass(200);
    const running = world.get(PODS, "pod");
    assert.equal(phaseOf(running), "Running");
    const [status] = asObjects(asObject(running.status).containerStatuses);
    const started = asObject(asObject(asObject(status).state).running).startedAt;
    assert.ok(Date.parse(String(started)) >= Date.parse(String(running.metadata.creationTimestamp)) + 2000);
    world.delete("/v1/secrets", "db");
    await world.pass(1000);
    assert.ok(isPodReady(world.get(PODS, "pod")), "one that runs goes on");
  });

  test("that is deleted stops within its grace period", async () => {
    const world = await World.running();
    world.create(PODS, pod());
    await world.pass(500);
    world.delete(PODS, "pod");
    const ending = world.get(PODS, "pod");
    assert.equal(ending.metadata.deletionGracePeriodSeconds, 30);
    await world.pass(99);
    assert.ok(world.find(PODS, "pod"));
    await world.pass(1);
    assert.equal(world.find(PODS, "pod"), undefined);
  });

  test("that is held by a finalizer stays, and goes when that does", async () => {
    const world = await World.running();
    world.create(PODS, pod({ finalizers: ["example.com/hold"] }));
    await world.pass(500);
    world.delete(PODS, "pod");
    await world.pass(5000);
    assert.equal(world.get(PODS, "pod").metadata.deletionGracePeriodSeconds, 0);
    assert.equal(world.clock.timerCount, 0);
    world.patch(PODS, "pod", { metadata: { finalizers: null } });
    await world.settle();
    assert.equal(world.find(PODS, "pod"), undefined);
  });

  test("waits at its scheduling gates", async () => {
    const world = await World.running();
    world.create(PODS, {
      metadata: { name: "pod" },
      spec: { schedulingGates: [{ name: "example.com/wait" }], containers: [{ name: "main", image: "web:1" }] },
    });
    await world.pass(5000);
    assert.equal(phaseOf(world.get(PODS, "pod")), "Pending");
    assert.equal(asObject(world.get(PODS, "pod").spec).nodeName, undefined);
  });
});
