import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { BtpWorld } from "./btp-world.ts";
import { CANARY } from "./managed-world.ts";

const DAY_MS = 86_400_000;

interface Status {
  readonly atProvider: { readonly id: string; readonly name: string; readonly createdDate: string };
  readonly retiredKeys?: readonly {
    readonly id: string;
    readonly deletionDate: string;
    readonly retiredDate: string;
  }[];
  readonly nextRotation: string;
  readonly history: readonly { readonly keyId: string; readonly reason: string; readonly outcome: string }[];
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message?: string;
  }[];
}

async function started(): Promise<BtpWorld> {
  const world = new BtpWorld();
  await world.start();
  await world.create("orders");
  return world;
}

const statusOf = async (world: BtpWorld): Promise<Status> => (await world.get("orders")).status as Status;
const liveNames = (world: BtpWorld): string[] =>
  world.sandbox
    .liveBindings()
    .map(({ name }) => name)
    .sort();

test("a binding is made, its Secret works, and everything says so", async () => {
  const world = await started();
  const outcome = await world.reconcile("orders");
  assert.equal(outcome.kind, "recheck");
  const status = await statusOf(world);
  const object = await world.get("orders");
  assert.equal(object.metadata.annotations?.["crossplane.io/external-name"], status.atProvider.id);
  assert.match(status.atProvider.name, /^my-sample-[a-z0-9]{8}$/);
  assert.ok(await world.secretWorks("orders"));
  const words = status.conditions.map(({ type, status: holds, reason }) => `${type}=${holds} ${reason}`);
  assert.deepEqual(words, ["Ready=True Available", "Synced=True ReconcileSuccess", "RotationStatus=True Enabled"]);
  assert.doesNotMatch(JSON.stringify(object), new RegExp(CANARY), "key material is nowhere in the resource");
});

test("settled means settled: another reconcile writes nothing and asks nothing outside", async () => {
  const world = await started();
  await world.reconcile("orders");
  const { revision } = world.server.store;
  world.sandbox.clearRequestLog();
  await world.reconcile("orders");
  assert.equal(world.server.store.revision, revision);
  assert.deepEqual(world.sandbox.requestLog(), []);
});

test("the document's timeline: rotated after 12 days, the old key gone after 14, the Secret working throughout", async () => {
  const world = await started();
  await world.reconcile("orders");
  const first = (await statusOf(world)).atProvider;
  await world.clock.advance(12 * DAY_MS);
  await world.reconcile("orders");
  const second = await statusOf(world);
  assert.notEqual(second.atProvider.id, first.id);
  assert.deepEqual(
    second.retiredKeys?.map(({ id }) => id),
    [first.id],
  );
  assert.ok(await world.secretWorks("orders"));
  assert.equal(liveNames(world).length, 2);
  await world.clock.advance(2 * DAY_MS + 1000);
  await world.reconcile("orders");
  assert.equal((await statusOf(world)).retiredKeys, undefined);
  assert.deepEqual(liveNames(world), [second.atProvider.name]);
  assert.ok(await world.secretWorks("orders"));
});

test("the history tells what became of each key, the latest first, in the writes that there are anyway", async () => {
  const world = await started();
  await world.reconcile("orders");
  const first = await statusOf(world);
  assert.equal(first.nextRotation, formatInstant(Date.parse(first.atProvider.createdDate) + 12 * DAY_MS));
  await world.clock.advance(12 * DAY_MS);
  const { revision } = world.server.store;
  await world.reconcile("orders");
  const second = await statusOf(world);
  const writes = world.server.store.revision - revision;
  assert.equal(writes, 4, "intend, Secret, activate, commit");
  assert.equal(second.nextRotation, formatInstant(Date.parse(first.nextRotation) + 12 * DAY_MS));
  assert.deepEqual(
    second.history.map(({ keyId, reason, outcome }) => [keyId, reason, outcome]),
    [
      [second.atProvider.id, "RotationDue", "Succeeded"],
      [first.atProvider.id, "FirstKey", "Succeeded"],
    ],
  );
});

test("a Secret that is deleted or edited is put right", async () => {
  const world = await started();
  await world.reconcile("orders");
  const before = await world.secretOf("orders");
  await world.kube.delete(secretType, { namespace: "default", name: "orders-secret" });
  await world.reconcile("orders");
  assert.deepEqual(await world.secretOf("orders"), before);
  await world.kube.patch(
    secretType,
    { namespace: "default", name: "orders-secret" },
    { type: "merge", body: { stringData: { uri: "elsewhere" } } },
  );
  await world.reconcile("orders");
  assert.deepEqual(await world.secretOf("orders"), before);
});

test("deleting the resource takes every key with it", async () => {
  const world = await started();
  await world.reconcile("orders");
  await world.clock.advance(12 * DAY_MS);
  await world.reconcile("orders");
  await world.kube.delete(serviceBinding, { name: "orders" });
  await world.reconcile("orders");
  assert.deepEqual(liveNames(world), []);
  await assert.rejects(world.get("orders"), /not found/);
});

test("a missing ProviderConfig and a mistake in the spec are said on the resource, once", async () => {
  const table = [
    [{ providerConfigRef: { name: "nowhere" } }, "ReferenceProblem", /there is no ProviderConfig nowhere/],
    [{ rotation: { ttl: "1h", frequency: "30s" } }, "SpecProblem", /spec\.rotation\.frequency: must be at least 1m/],
  ] as const;
  for (const [spec, reason, message] of table) {
    const world = await started();
    await world.create("lost", spec);
    await assert.rejects(world.reconcile("lost"), message);
    const lost = (await world.get("lost")).status as Status;
    const synced = lost.conditions.find(({ type }) => type === "Synced");
    assert.deepEqual([synced?.status, synced?.reason], ["False", reason]);
    assert.match(synced?.message ?? "", message);
    const { revision } = world.server.store;
    await assert.rejects(world.reconcile("lost"));
    assert.equal(world.server.store.revision, revision, "the same problem again writes nothing");
  }
});
