import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { BtpWorld } from "./btp-world.ts";

/**
 * What the document on service binding rotation says and only the whole reconciler can show: its status, its Secret, what
 * becomes of errors. The lines are those of `docs/requirements/000-service-binding-rotation.md`.
 */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface RetiredEntry {
  readonly id: string;
  readonly deletionDate: string;
}

interface Status {
  readonly atProvider: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly retiredKeys?: readonly RetiredEntry[];
  readonly conditions: readonly { readonly type: string; readonly reason: string; readonly message?: string }[];
}

async function started(spec: Readonly<Record<string, unknown>> = {}): Promise<BtpWorld> {
  const world = new BtpWorld();
  await world.start();
  await world.create("orders", spec);
  await world.reconcile("orders");
  return world;
}

/** Time passes, and the reconciler is called at the end of it. */
async function pass(world: BtpWorld, ms: number): Promise<void> {
  await world.clock.advance(ms);
  await world.reconcile("orders");
}

const statusOf = async (world: BtpWorld): Promise<Status> => (await world.get("orders")).status as Status;
const edit = (world: BtpWorld, spec: Readonly<Record<string, unknown>>): Promise<unknown> =>
  world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body: { spec } });
const liveIds = (world: BtpWorld): readonly string[] => world.sandbox.liveBindings().map(({ id }) => id);

async function rotationStatus(world: BtpWorld): Promise<Status["conditions"][number]> {
  const { conditions } = await statusOf(world);
  return conditions.find(({ type }) => type === "RotationStatus") ?? assert.fail("there is no such condition");
}

/** Two retired keys that have both expired, rotation switched off. */
async function twoExpired(): Promise<BtpWorld> {
  const world = await started({ rotation: { ttl: "72h", frequency: "24h" } });
  await pass(world, DAY_MS);
  await pass(world, DAY_MS);
  assert.equal((await statusOf(world)).retiredKeys?.length, 2);
  await edit(world, { rotation: null });
  await world.clock.advance(10 * DAY_MS);
  return world;
}

test("line 26: ttl and frequency are both required", async () => {
  const world = new BtpWorld();
  await world.start();
  await assert.rejects(world.create("a", { rotation: { ttl: "336h" } }), /spec\.rotation\.frequency/);
  await assert.rejects(world.create("b", { rotation: { frequency: "288h" } }), /spec\.rotation\.ttl/);
});

test("line 26: without spec.rotation the binding is made and never rotated, and its status says so", async () => {
  const world = await started({ rotation: undefined });
  const { atProvider } = await statusOf(world);
  assert.equal((await rotationStatus(world)).reason, "Disabled");
  await pass(world, 3650 * DAY_MS);
  assert.equal((await statusOf(world)).atProvider.id, atProvider.id);
  assert.ok(await world.secretWorks("orders"));
});

test("line 34: the example manifest is taken as it is written, and its 228 hours are followed to the letter", async () => {
  const rotation = { ttl: "336h", frequency: "228h" };
  const world = await started({ rotation });
  const object = await world.get("orders");
  assert.deepEqual((object.spec as { readonly rotation: unknown }).rotation, rotation, "nobody rewrites a spec");
  await pass(world, 228 * HOUR_MS - 1000);
  assert.equal(liveIds(world).length, 1);
  await pass(world, 1000);
  assert.equal(liveIds(world).length, 2);
});

test("line 45: nothing but retiredKeys knows the retired binding", async () => {
  const world = await started();
  const before = (await statusOf(world)).atProvider;
  await pass(world, 12 * DAY_MS);
  const object = await world.get("orders");
  // What became of keys in the past is told as well; nothing follows from it.
  const { retiredKeys, history: _, ...rest } = object.status as Status & { readonly history: unknown };
  assert.deepEqual(
    retiredKeys?.map(({ id }) => id),
    [before.id],
  );
  assert.ok(!JSON.stringify({ ...object, status: rest }).includes(before.id));
});

test("line 76: an entry has id, name and the three dates, and what the protocol needs beside them", async () => {
  const world = await started();
  const before = (await statusOf(world)).atProvider;
  await pass(world, 12 * DAY_MS);
  const { atProvider, retiredKeys } = await statusOf(world);
  assert.equal(atProvider.createdDate, "2025-11-17T13:14:28Z");
  assert.deepEqual(retiredKeys, [
    {
      id: before.id,
      name: before.name,
      createdDate: "2025-11-05T13:14:28Z",
      retiredDate: "2025-11-17T13:14:28Z",
      replacedDate: "2025-11-17T13:14:28Z",
      deletionDate: "2025-11-19T13:14:28Z",
      overlap: "2d",
      cause: "rotated",
    },
  ]);
});

test("line 78: while the broker is still at work, atProvider and Secret are the old binding's, and then the new one's", async () => {
  const world = await started();
  const [before, secret] = [await statusOf(world), await world.secretOf("orders")];
  world.sandbox.controls.putInstance({ broker: "asynchronous", brokerWorkMs: 25_000 }, world.instanceId);
  await pass(world, 12 * DAY_MS);
  const during = await statusOf(world);
  assert.deepEqual(during.atProvider, before.atProvider);
  assert.deepEqual(await world.secretOf("orders"), secret);
  assert.equal(during.retiredKeys?.[0]?.id, before.atProvider.id, "it may stand in both places for this while");
  await pass(world, 30_000);
  const after = await statusOf(world);
  assert.notEqual(after.atProvider.id, before.atProvider.id);
  assert.notDeepEqual(await world.secretOf("orders"), secret);
  assert.ok(await world.secretWorks("orders"));
});

const warnings: readonly [ttl: string, frequency: string, warning: RegExp | undefined, reason: string][] = [
  ["336h", "288h", undefined, "line 80: one retired key at a time calls for no warning"],
  ["48h", "24h", undefined, "line 80: nor does the second that comes when the first goes"],
  ["72h", "24h", /up to 2 retired keys/, "line 80: two at a time do"],
  ["24h", "1m", /up to 1439 retired keys/, "line 80: a day at a minute is accepted, and said to be 1,439 retired keys"],
];

for (const [ttl, frequency, warning, reason] of warnings) {
  test(reason, async () => {
    const { reason: kind, message = "" } = await rotationStatus(await started({ rotation: { ttl, frequency } }));
    assert.equal(kind, warning ? "EnabledWithWarning" : "Enabled", reason);
    if (warning) assert.match(message, warning, reason);
  });
}

test("line 94: a ttl that was raised afterwards is written to deletionDate, and counts when rotation is switched off", async () => {
  const world = await started();
  await pass(world, 12 * DAY_MS);
  await edit(world, { rotation: { ttl: "480h" } });
  await world.reconcile("orders");
  assert.equal((await statusOf(world)).retiredKeys?.[0]?.deletionDate, "2025-11-25T13:14:28Z");
  await edit(world, { rotation: null });
  await pass(world, 8 * DAY_MS - 1000);
  assert.equal(liveIds(world).length, 2, "not before its date");
  assert.match((await rotationStatus(world)).message ?? "", /2025-11-25T13:14:28Z/, "people can read when");
  await pass(world, 1000);
  assert.equal((await statusOf(world)).retiredKeys, undefined);
  assert.equal(liveIds(world).length, 1);
});

test("line 106: one that cannot be deleted does not keep the others", async () => {
  const world = await twoExpired();
  const [first] = (await statusOf(world)).retiredKeys ?? [];
  world.sandbox.controls.putInstance({ brokerFailures: 1, brokerFailsOn: "unbind" }, world.instanceId);
  await assert.rejects(world.reconcile("orders"));
  const { retiredKeys } = await statusOf(world);
  assert.deepEqual(
    retiredKeys?.map(({ id }) => id),
    [first?.id],
  );
  await world.reconcile("orders");
  assert.equal((await statusOf(world)).retiredKeys, undefined, "and it is tried again");
});

test("line 106: errors of several are returned together", async () => {
  const world = await twoExpired();
  world.sandbox.controls.putInstance({ brokerFailures: 2, brokerFailsOn: "unbind" }, world.instanceId);
  await assert.rejects(world.reconcile("orders"), /\(and 1 more: /);
  assert.equal((await statusOf(world)).retiredKeys?.length, 2);
});

test("line 110: while a retired binding cannot be deleted, the current one is left, and the resource with it", async () => {
  const world = await twoExpired();
  const { atProvider, retiredKeys = [] } = await statusOf(world);
  await world.kube.delete(serviceBinding, { name: "orders" });
  world.sandbox.controls.putInstance({ brokerFailures: 1, brokerFailsOn: "unbind" }, world.instanceId);
  await assert.rejects(world.reconcile("orders"));
  const left = liveIds(world);
  assert.ok(left.includes(atProvider.id), "the current one");
  assert.equal(retiredKeys.filter(({ id }) => left.includes(id)).length, 1, "and the one that could not be deleted");
  await world.reconcile("orders");
  assert.deepEqual(liveIds(world), []);
  await assert.rejects(world.get("orders"), /not found/);
});
