import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { BtpWorld } from "./btp-world.ts";

/** What goes wrong is said on the resource: which field, which id, and what to do. */
const namespaces: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};

async function started(): Promise<BtpWorld> {
  const world = new BtpWorld();
  await world.start();
  await world.create("orders");
  await world.reconcile("orders");
  return world;
}

async function conditionOf(world: BtpWorld, name: string, wanted: string): Promise<Readonly<Record<string, string>>> {
  const { conditions } = (await world.get(name)).status as { readonly conditions: readonly Record<string, string>[] };
  return conditions.find(({ type }) => type === wanted) ?? {};
}

/** `Status Reason: message`. */
async function syncedOf(world: BtpWorld, name = "orders"): Promise<string> {
  const { status, reason, message } = await conditionOf(world, name, "Synced");
  return `${status} ${reason}: ${message}`;
}

const rotationOf = async (world: BtpWorld): Promise<string> =>
  (await conditionOf(world, "orders", "RotationStatus")).message ?? "";

const sequenceOf = async (world: BtpWorld): Promise<unknown> =>
  ((await world.get("orders")).status as { readonly sequence?: number }).sequence;

test("a key of somebody else that external-name names is a problem on the resource, and none is made beside it", async () => {
  const world = await started();
  const [orders] = world.sandbox.liveBindings();
  await world.create("thief");
  const body = { metadata: { annotations: { "crossplane.io/external-name": orders?.id } } };
  await world.kube.patch(serviceBinding, { name: "thief" }, { type: "merge", body });
  await world.reconcile("thief");
  assert.match(
    await syncedOf(world, "thief"),
    /^False AdoptionRefused: the key that crossplane\.io\/external-name points to belongs to somebody else: remove/,
  );
  const { resourceVersion } = (await world.get("thief")).metadata;
  await world.reconcile("thief");
  assert.equal((await world.get("thief")).metadata.resourceVersion, resourceVersion, "it is said once");
  assert.equal(world.sandbox.liveBindings().length, 1);
  const cleared = { metadata: { annotations: { "crossplane.io/external-name": null } } };
  await world.kube.patch(serviceBinding, { name: "thief" }, { type: "merge", body: cleared });
  await world.reconcile("thief");
  assert.match(await syncedOf(world, "thief"), /^True ReconcileSuccess/);
  assert.equal(world.sandbox.liveBindings().length, 2);
});

test("a date that somebody has put into the status is put right at the drift check, and the key rotates in its time", async () => {
  for (const createdDate of ["2099-01-01T00:00:00Z", "2025-01-01T00:00:00Z"]) {
    const world = await started();
    const before = (await world.get("orders")).status as { readonly atProvider: { readonly createdDate: string } };
    const body = { status: { atProvider: { createdDate } } };
    const isPast = createdDate < before.atProvider.createdDate;
    await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body }, { subresource: "status" });
    if (!isPast) await world.reconcile("orders");
    await world.clock.advance(600_000);
    await world.reconcile("orders");
    const after = (await world.get("orders")).status as typeof before;
    assert.equal(after.atProvider.createdDate, before.atProvider.createdDate, createdDate);
    assert.equal(world.sandbox.liveBindings().length, 1, "no key is made for it");
    await world.clock.advance(288 * 3_600_000);
    await world.reconcile("orders");
    assert.equal(await sequenceOf(world), 2);
  }
});

test("an active key that was set free with its resource is ours again once that is restored", async () => {
  const world = await started();
  const { spec, metadata, status } = await world.get("orders");
  const orphan = { spec: { deletionPolicy: "Orphan" } };
  await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body: orphan });
  await world.kube.delete(serviceBinding, { name: "orders" });
  await world.reconcile("orders");
  assert.equal(world.sandbox.liveBindings().length, 1);
  const { annotations = {}, finalizers = [] } = metadata;
  const type = { apiVersion: apiVersionOf(serviceBinding), kind: serviceBinding.kind };
  const restored = { ...type, metadata: { name: "orders", annotations, finalizers }, spec };
  const made = await world.kube.create<KubeObject>(serviceBinding, restored);
  await world.kube.replace(serviceBinding, { ...made, status }, { subresource: "status" });
  await world.reconcile("orders");
  await world.kube.delete(serviceBinding, { name: "orders" });
  await world.reconcile("orders");
  assert.equal(world.sandbox.liveBindings().length, 0, "it goes with the resource");
});

test("no key is made while its Secret could not be: the namespace is missing, going, or full", async () => {
  const world = await started();
  const elsewhere = { writeConnectionSecretToRef: { namespace: "shop", name: "late" } };
  await world.create("late", elsewhere);
  await assert.rejects(world.reconcile("late"), /there is no namespace shop .*writeConnectionSecretToRef/);
  assert.match(await syncedOf(world, "late"), /^False SecretNamespaceMissing/);
  assert.equal(world.sandbox.liveBindings().length, 1);
  const namespace = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", finalizers: ["example.org/hold"] },
  };
  await world.kube.create(namespaces, namespace);
  await world.kube.delete(namespaces, { name: "shop" });
  await assert.rejects(world.reconcile("late"), /the Secret shop\/late of writeConnectionSecretToRef cannot be made: /);
  assert.match(await syncedOf(world, "late"), /^False SecretRefused: .* being terminated/);
  assert.equal(world.sandbox.liveBindings().length, 1);
  const open = { writeConnectionSecretToRef: { namespace: "default", name: "late" } };
  await world.kube.patch(serviceBinding, { name: "late" }, { type: "merge", body: { spec: open } });
  await world.reconcile("late");
  assert.match(await syncedOf(world, "late"), /^True/);
  assert.equal(world.sandbox.liveBindings().length, 2);
});

test("an instance that is not there is named, with the field that means it", async () => {
  const world = await started();
  await world.create("lost", { forProvider: { name: "lost", serviceInstanceId: "no-such-instance" } });
  const message = /^spec\.forProvider\.serviceInstanceId: there is no service instance no-such-instance outside/;
  await assert.rejects(world.reconcile("lost"), { code: "InstanceNotFound", message });
});

test("a broker whose quota is used up is told as such, with what to do", async () => {
  const world = await started();
  world.sandbox.controls.putInstance({ bindingQuota: 1 }, world.instanceId);
  await world.create("more");
  await assert.rejects(world.reconcile("more"), { code: "QuotaExceeded", message: /have the quota raised/ });
});

test("a retired key that is not ours is left alone, and the message says which entry to remove", async () => {
  const world = await started();
  const [ours] = world.sandbox.liveBindings();
  await world.create("payments");
  await world.reconcile("payments");
  const theirs = world.sandbox.liveBindings().find(({ id }) => id !== ours?.id)?.id;
  const entry = { id: theirs, name: "x", createdDate: "2025-01-01T00:00:00Z", retiredDate: "2025-01-02T00:00:00Z" };
  const dates = { replacedDate: "2025-01-02T00:00:00Z", deletionDate: "2025-01-03T00:00:00Z", overlap: "24h" };
  const body = { status: { retiredKeys: [{ ...entry, ...dates, cause: "rotated" }] } };
  await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body }, { subresource: "status" });
  await assert.rejects(
    world.reconcile("orders"),
    new RegExp(`\\(${theirs}\\) does not bear our marks, .* remove the entry with that id from the retired keys`),
  );
  assert.equal(world.sandbox.liveBindings().length, 2);
});

test("while a key is being made, no date of a next rotation is told", async () => {
  const world = new BtpWorld();
  await world.start();
  world.sandbox.controls.putInstance({ broker: "asynchronous", brokerWorkMs: 60_000 }, world.instanceId);
  await world.create("orders");
  await world.reconcile("orders");
  await world.clock.advance(61_000);
  await world.reconcile("orders");
  assert.match(await rotationOf(world), /^Next rotation 2025-11-17T\S+\.$/);
  await world.clock.advance(288 * 3_600_000);
  await world.reconcile("orders");
  assert.match(await rotationOf(world), /^Key my-sample-\S+ is being made\.$/);
});

test("a frequency that the operator does not accept names the flag that decides", async () => {
  const world = await started();
  await world.create("hasty", { rotation: { ttl: "2m", frequency: "30s" } });
  await assert.rejects(
    world.reconcile("hasty"),
    /spec\.rotation\.frequency: must be at least 1m \(--min-frequency of the operator\)/,
  );
});

test("a binding that publishes nowhere says so, and has its key all the same", async () => {
  const world = new BtpWorld();
  await world.start();
  await world.create("orders", { writeConnectionSecretToRef: undefined });
  await world.reconcile("orders");
  assert.match(await syncedOf(world), /^True/);
  assert.match(
    await rotationOf(world),
    /The key is published nowhere: spec\.writeConnectionSecretToRef names no Secret\./,
  );
  assert.equal((await conditionOf(world, "orders", "RotationStatus")).reason, "EnabledWithWarning");
});
