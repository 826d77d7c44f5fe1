import assert from "node:assert/strict";
import { test } from "node:test";
import { BtpWorld } from "./btp-world.ts";

const CATALOG = /^\/v1\/service_(instances|plans|offerings)\//;

/** How often each read of the catalog was made since the last time this was asked. */
function catalogReads(world: BtpWorld): Readonly<Record<string, number>> {
  const read = world.sandbox.requestLog().filter(({ pattern }) => CATALOG.test(pattern));
  world.sandbox.clearRequestLog();
  return Object.fromEntries(read.map(({ pattern, count }) => [pattern, count]));
}

async function started(): Promise<BtpWorld> {
  const world = new BtpWorld();
  await world.start();
  const { sandbox, instanceId } = world;
  sandbox.controls.putInstance({ name: "orders-db", offering: "postgresql", plan: "small" }, instanceId);
  return world;
}

test("sap-kubernetes: the Secret tells of an instance that is known by nothing but its id", async () => {
  const world = await started();
  await world.create("orders", { secretFormat: "sap-kubernetes" });
  await world.reconcile("orders");
  const { ".metadata": metadata = "", ...data } = (await world.secretOf("orders")) ?? {};
  const { instance_name, instance_guid, plan, label, type, tags, ...credentials } = data;
  assert.deepEqual(
    { instance_name, instance_guid, plan, label, type, tags },
    {
      instance_name: "orders-db",
      instance_guid: world.instanceId,
      plan: "small",
      label: "postgresql",
      type: "postgresql",
      tags: '["postgresql","sandbox"]',
    },
  );
  assert.ok(world.sandbox.authenticate(credentials));
  const properties = JSON.parse(metadata) as Readonly<Record<string, readonly { readonly name: string }[]>>;
  const names = Object.values(properties).flatMap((list) => list.map(({ name }) => name));
  assert.deepEqual(names.sort(), Object.keys(data).sort(), "every key of the Secret is described, and nothing else");
});

test("sap-kubernetes: the catalog is read when a Secret is written, once for a plan, and never for other formats", async () => {
  const world = await started();
  await world.create("flat");
  await world.reconcile("flat");
  assert.deepEqual(catalogReads(world), {});
  await world.create("first", { secretFormat: "sap-kubernetes" });
  await world.reconcile("first");
  const [instance, plan, offering] = ["instances", "plans", "offerings"].map((one) => `/v1/service_${one}/{id}`);
  assert.deepEqual(catalogReads(world), { [String(instance)]: 1, [String(plan)]: 1, [String(offering)]: 1 });
  await world.create("second", { secretFormat: "sap-kubernetes", secretKey: "all" });
  await world.reconcile("second");
  assert.deepEqual(catalogReads(world), { [String(instance)]: 1 });
  await world.clock.advance(1000);
  await world.reconcile("second");
  assert.deepEqual(catalogReads(world), {}, "nothing was written");
});

test("sap-kubernetes: an instance that is renamed is published under its new name by the next rotation", async () => {
  const world = await started();
  await world.create("orders", { secretFormat: "sap-kubernetes" });
  await world.reconcile("orders");
  world.sandbox.controls.putInstance({ name: "orders-database" }, world.instanceId);
  await world.clock.advance(12 * 86_400_000);
  await world.reconcile("orders");
  assert.equal((await world.secretOf("orders"))?.instance_name, "orders-database");
});
