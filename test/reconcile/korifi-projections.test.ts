import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { ownDirectoryName, serviceBindingName } from "../../src/korifi/names.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { recordOf } from "../../src/kube/record.ts";
import { serviceBindingType } from "../../src/reconcile/korifi/korifi-sources.ts";
import { KorifiControllersWorld } from "./korifi-world.ts";

async function withService(): Promise<KorifiControllersWorld> {
  const world = await KorifiControllersWorld.begin();
  await world.secret("db", { credentials: '{"user":"alice"}' });
  await world.instance("db");
  return world;
}

const directory = async (world: KorifiControllersWorld, binding: string): Promise<unknown> =>
  recordOf((await world.get(serviceBindingType, serviceBindingName(binding)))?.spec).name;

const directories = (world: KorifiControllersWorld, ...bindings: readonly string[]): Promise<readonly unknown[]> =>
  Promise.all(bindings.map((binding) => directory(world, binding)));

const ownName = (binding: KubeObject | undefined): string =>
  ownDirectoryName(binding?.metadata.name ?? "", binding?.metadata.uid ?? "");

/** What somebody else, or a former release, has left. */
const setDirectory = (world: KorifiControllersWorld, binding: string, name: string) =>
  world.patch(serviceBindingType, serviceBindingName(binding), { spec: { name } });

test("no binding has its files where those of all are, or above", async () => {
  const world = await withService();
  await world.bind("b1", "db", { displayName: ".." });
  await world.bind("b2", "db", { displayName: "." });
  await world.pass();
  assert.deepEqual(await directories(world, "b1", "b2"), ["b1", "b2"]);
  await setDirectory(world, "b1", "..");
  await world.pass();
  assert.equal(await directory(world, "b1"), "b1", "and what was there is mended");
  await world.stop();
});

test("two bindings of one application never have one directory", async () => {
  const world = await withService();
  const [shop, desk] = [{ appRef: { name: "shop" } }, { appRef: { name: "desk" } }];
  await world.bind("b4", "db", { displayName: "same", ...shop });
  await world.bind("b3", "db", { displayName: "same", ...shop });
  await world.bind("b5", "db", { displayName: "b6", ...shop });
  await world.bind("b6", "db", shop);
  await world.bind("b7", "db", { displayName: "same", ...desk });
  await world.pass();
  const both = await directories(world, "b3", "b4");
  assert.ok([`same,b4`, `b3,same`].includes(both.join()), both.join());
  const others = await directories(world, "b5", "b6", "b7");
  assert.ok(
    ["b5,b6", `b6,${ownName(await world.get(cfServiceBinding, "b6"))}`].includes(others.slice(0, 2).join()),
    others.join(),
  );
  assert.equal(others[2], "same", "of another application");
  await world.bind("b1", "db", { displayName: "same", ...shop });
  await world.pass();
  assert.deepEqual(await directories(world, "b1", "b3", "b4"), ["b1", ...both], "what is there stays");
  await setDirectory(world, "b6", "b2");
  await world.bind("b2", "db", shop);
  await world.pass();
  const own = String(await directory(world, "b2"));
  assert.equal(own, ownName(await world.get(cfServiceBinding, "b2")), "its name is another one's directory");
  for (const name of ["b1", "b2", "b3", "b4", "b5", "b6"]) {
    assert.equal(await world.condition(cfServiceBinding, name, "Synced"), "True ReconcileSuccess");
  }
  await world.stop();
});

test("two that have one directory from former times: the second one moves", async () => {
  const world = await withService();
  await world.bind("b1", "db");
  await world.bind("b2", "db");
  await world.pass();
  await setDirectory(world, "b2", "b1");
  await world.pass();
  assert.deepEqual(await directories(world, "b1", "b2"), ["b1", "b2"]);
  await setDirectory(world, "b1", "b2");
  await world.pass();
  assert.deepEqual(await directories(world, "b1", "b2"), ["b2", ownName(await world.get(cfServiceBinding, "b2"))]);
  world.traffic();
  await world.pass(120_000);
  assert.deepEqual(world.traffic().writes, [], "and that is that");
  await world.stop();
});

test("one whose directory is taken everywhere says so, and how to mend it", async () => {
  const world = await withService();
  await world.bind("b2", "db");
  await world.pass();
  const last = ownName(await world.get(cfServiceBinding, "b2"));
  await world.bind("a1", "db", { displayName: last });
  await world.pass();
  await setDirectory(world, "a1", last);
  await world.bind("a2", "db");
  await world.pass();
  await setDirectory(world, "a2", "b2");
  await world.pass();
  const said = await world.condition(cfServiceBinding, "b2", "Synced");
  assert.match(said, /^False InvalidSpec .*other bindings of shop: give it another spec.displayName$/);
  assert.equal(await world.condition(cfServiceBinding, "b2", "Ready"), "True Available");
  await world.stop();
});

test("a binding of a long name is projected, and what is done to that is noticed", async () => {
  const world = await withService();
  const name = `b.${"x".repeat(98)}`;
  await world.bind(name, "db");
  await world.pass();
  assert.equal(await world.condition(cfServiceBinding, name, "Synced"), "True ReconcileSuccess");
  const projection = await world.get(serviceBindingType, serviceBindingName(name));
  assert.equal(recordOf(projection?.spec).name, name);
  assert.ok(Object.values(projection?.metadata.labels ?? {}).every((label) => label.length <= 63));
  await world.remove(serviceBindingType, serviceBindingName(name));
  await world.pass();
  assert.ok(await world.get(serviceBindingType, serviceBindingName(name)), "it is put back");
  await world.stop();
});

test("a binding for an application whose name no workload can bear says so, and has everything but files", async () => {
  const world = await withService();
  const app = "x".repeat(100);
  await world.bind("b1", "db", { appRef: { name: app } });
  await world.pass();
  const said = await world.condition(cfServiceBinding, "b1", "Synced");
  assert.match(said, /^False InvalidSpec spec[.]appRef[.]name: .*more than 63 characters/);
  assert.equal(await world.condition(cfServiceBinding, "b1", "Ready"), "True Available");
  assert.equal(await world.get(serviceBindingType, serviceBindingName("b1")), undefined);
  assert.deepEqual(await world.vcap(app), { b1: { user: "alice" } });
  await world.stop();
});

test("what somebody else has made of the reference to its binding stays: to change it would need one more right", async () => {
  const world = await withService();
  await world.bind("b1", "db");
  await world.pass();
  const name = serviceBindingName("b1");
  const [reference] = (await world.get(serviceBindingType, name))?.metadata.ownerReferences ?? [];
  assert.ok(reference?.controller);
  const { controller: _, ...theirs } = { ...reference, blockOwnerDeletion: true };
  const spec = { service: { name: "another" } };
  await world.patch(serviceBindingType, name, { metadata: { ownerReferences: [theirs] }, spec });
  await world.pass();
  const mended = await world.get(serviceBindingType, name);
  assert.equal(recordOf(recordOf(mended?.spec).service).name, "b1", "the rest is mended");
  assert.deepEqual(mended?.metadata.ownerReferences, [theirs]);
  await world.stop();
});
