import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { credentialBindingOf } from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { CloudFoundryWorld } from "./cloud-foundry-world.ts";

const DRIFT_MS = 600_000;
const CREATED = { type: "create", state: "succeeded" };

async function started(): Promise<CloudFoundryWorld> {
  const world = new CloudFoundryWorld();
  await world.start();
  await world.create("orders");
  await world.reconcile("orders");
  return world;
}

async function look(world: CloudFoundryWorld): Promise<void> {
  await world.clock.advance(DRIFT_MS);
  await world.reconcile("orders");
}

const told = async (world: CloudFoundryWorld): Promise<unknown> =>
  (await world.statusOf("orders")).atProvider.lastOperation;

const guidOf = async (world: CloudFoundryWorld): Promise<string> => (await world.statusOf("orders")).atProvider.guid;

/** What the next look writes, and what it asks of Cloud Foundry. */
async function costOfALook(world: CloudFoundryWorld): Promise<readonly [writes: number, requests: readonly unknown[]]> {
  const before = world.server.store.revision;
  world.sandbox.clearRequestLog();
  await look(world);
  return [Number(world.server.store.revision) - Number(before), world.sandbox.requestLog()];
}

test("a deletion by hand that failed is told once a look has seen it, and nothing is written for it again", async () => {
  const world = await started();
  const guid = await guidOf(world);
  world.sandbox.controls.putInstance({ brokerFailures: "always", brokerFailsOn: "unbind" }, world.instanceId);
  await world.deleteByHand(guid);
  await world.clock.advance(1000);
  assert.deepEqual(await told(world), CREATED, "nobody has looked");
  await look(world);
  assert.deepEqual(await told(world), { type: "delete", state: "failed" });
  assert.equal(await guidOf(world), guid, "a key that is still there is not replaced for it");
  const [writes, requests] = await costOfALook(world);
  assert.equal(writes, 0);
  assert.equal(requests.length, 1, JSON.stringify(requests));
  world.restart();
  await world.reconcile("orders");
  assert.deepEqual(await told(world), { type: "delete", state: "failed" }, "what was seen stays until the next look");
});

test("a deletion by hand that is under way is told, and after it the making of the key that took its place", async () => {
  const world = await started();
  const guid = await guidOf(world);
  const broker = { broker: "asynchronous", brokerWorkMs: 2 * DRIFT_MS } as const;
  world.sandbox.controls.putInstance(broker, world.instanceId);
  await world.deleteByHand(guid);
  await world.clock.advance(1000);
  await look(world);
  assert.deepEqual(await told(world), { type: "delete", state: "in progress" });
  world.sandbox.controls.putInstance({ broker: "synchronous" }, world.instanceId);
  await look(world);
  await look(world);
  assert.notEqual(await guidOf(world), guid);
  assert.deepEqual(await told(world), CREATED);
  assert.ok(await world.secretWorks("orders"));
});

test("a key that is taken over is told of as it is", async () => {
  const world = await started();
  const guid = await guidOf(world);
  await world.patch("orders", { spec: { deletionPolicy: "Orphan" } });
  await world.reconcile("orders");
  await world.kube.delete(serviceCredentialBinding, { name: "orders" });
  await world.reconcile("orders");
  const annotations = { "crossplane.io/external-name": guid };
  const forProvider = { serviceInstance: world.instanceId };
  const again = credentialBindingOf({ metadata: { name: "orders", annotations }, forProvider });
  await world.kube.create<KubeObject>(serviceCredentialBinding, again);
  await world.reconcile("orders");
  assert.equal(await guidOf(world), guid);
  assert.deepEqual(await told(world), CREATED);
});

test("what was done last to a key that nobody has looked at is not made up", async () => {
  const world = await started();
  const body = { status: { atProvider: { lastOperation: null } } };
  await world.kube.patch(
    serviceCredentialBinding,
    { name: "orders" },
    { type: "merge", body },
    { subresource: "status" },
  );
  await world.reconcile("orders");
  assert.equal(await told(world), undefined);
  await look(world);
  assert.deepEqual(await told(world), CREATED);
});
