import assert from "node:assert/strict";
import { test } from "node:test";
import { providerConfig } from "../../src/api/btp/provider-config.ts";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { BtpWorld } from "./btp-world.ts";

const FORCE = "servicebinding.account.btp.crossplane.io/force-rotation";
const secret = { namespace: "default", name: "orders-secret" };

async function started(): Promise<BtpWorld> {
  const world = new BtpWorld();
  await world.start();
  await world.create("orders");
  await world.reconcile("orders");
  return world;
}

const annotate = (world: BtpWorld, annotations: Readonly<Record<string, string>>): Promise<unknown> =>
  world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body: { metadata: { annotations } } });

const sequenceOf = async (world: BtpWorld): Promise<unknown> =>
  ((await world.get("orders")).status as { readonly sequence?: number }).sequence;

test("each value of the force annotation forces once, also when it is put back", async () => {
  const world = await started();
  await annotate(world, { [FORCE]: "monday" });
  await world.reconcile("orders");
  assert.equal(await sequenceOf(world), 2);
  assert.equal((await world.get("orders")).metadata.annotations?.[FORCE], undefined, "fulfilled requests leave");
  await annotate(world, { [FORCE]: "monday" });
  await world.reconcile("orders");
  assert.equal(await sequenceOf(world), 2, "the same value again asks for nothing");
  await annotate(world, { [FORCE]: "tuesday" });
  await world.reconcile("orders");
  assert.equal(await sequenceOf(world), 3);
});

test("what others have put on the Secret stays when it is written again", async () => {
  const world = await started();
  const metadata = { labels: { team: "orders" }, annotations: { note: "ours" }, finalizers: ["example.org/hold"] };
  await world.kube.patch(secretType, secret, { type: "merge", body: { metadata } });
  await annotate(world, { [FORCE]: "now" });
  await world.reconcile("orders");
  const written = (await world.kube.get(secretType, secret)).metadata;
  assert.equal(await sequenceOf(world), 2);
  assert.equal(written.labels?.team, "orders");
  assert.equal(written.annotations?.note, "ours");
  assert.deepEqual(written.finalizers, ["example.org/hold"]);
});

test("a resource for which nothing was made goes without a ProviderConfig", async () => {
  const world = await started();
  await world.create("lost", { providerConfigRef: { name: "nowhere" } });
  const body = { metadata: { finalizers: ["keyturn.dev/keys"] } };
  await world.kube.patch(serviceBinding, { name: "lost" }, { type: "merge", body });
  await world.kube.delete(serviceBinding, { name: "lost" });
  await world.reconcile("lost");
  await assert.rejects(world.get("lost"), /not found/);
});

test("a resource with keys is not let go while its ProviderConfig is missing, and goes once it is back", async () => {
  const world = await started();
  const config = await world.kube.get(providerConfig, { name: "default" });
  // Somebody takes off the finalizer that keeps it as long as it is needed.
  const body = { metadata: { finalizers: null } };
  await world.kube.patch(providerConfig, { name: "default" }, { type: "merge", body });
  await world.kube.delete(providerConfig, { name: "default" });
  await world.kube.delete(serviceBinding, { name: "orders" });
  await assert.rejects(world.reconcile("orders"), /there is no ProviderConfig default/);
  assert.equal(world.sandbox.liveBindings().length, 1);
  await world.kube.create(providerConfig, { ...config, metadata: { name: "default" } });
  await world.reconcile("orders");
  assert.deepEqual(world.sandbox.liveBindings(), []);
  await assert.rejects(world.get("orders"), /not found/);
});

test("a mistake in the spec does not keep a resource that is to go", async () => {
  const world = await started();
  const body = { spec: { rotation: { ttl: "1h", frequency: "30s" } } };
  await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
  await assert.rejects(world.reconcile("orders"), /spec\.rotation\.frequency/);
  await world.kube.delete(serviceBinding, { name: "orders" });
  await world.reconcile("orders");
  assert.deepEqual(world.sandbox.liveBindings(), []);
  await assert.rejects(world.get("orders"), /not found/);
});

test("a reference that moved: the Secret that was left goes before the key in it", async () => {
  const world = await started();
  const body = { spec: { writeConnectionSecretToRef: { namespace: "default", name: "elsewhere" } } };
  await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
  await world.reconcile("orders");
  await annotate(world, { "keyturn.dev/compromised": "yes" });
  await world.reconcile("orders");
  const names = (await world.kube.list(secretType, { namespace: "default" })).items.map((one) => one.metadata.name);
  assert.deepEqual(names.sort(), ["elsewhere", "service-manager"]);
  assert.equal(world.sandbox.liveBindings().length, 1);
});
