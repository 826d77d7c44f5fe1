import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { KorifiControllersWorld } from "./korifi-world.ts";

async function legacy(): Promise<KorifiControllersWorld> {
  const world = await KorifiControllersWorld.begin({ mode: "on" });
  await world.operator.stop();
  await world.legacyService("db", LEGACY, ["b1", "b2"]);
  world.begunAnew();
  return world;
}

const LEGACY = { type: "postgres", user: "alice" };

const versionOf = async (world: KorifiControllersWorld, name: string): Promise<string | undefined> =>
  (await world.get(secretType, name))?.metadata.resourceVersion;

test("an upgrade writes no Secret that was there, and moves no reference, until the credentials change", async () => {
  const world = await legacy();
  const before = await versionOf(world, "db");
  await world.pass(10_000);
  assert.deepEqual((await world.status(cfServiceInstance, "db")).credentials, { name: "db-migrated" });
  assert.deepEqual(await world.texts("db-migrated"), { credentials: '{"type":"postgres","user":"alice"}' });
  for (const name of ["b1", "b2"]) {
    const { binding, credentials } = await world.status(cfServiceBinding, name);
    assert.deepEqual([binding, credentials], [{ name: "db" }, { name: "db-migrated" }]);
    assert.equal(await world.texts(name), undefined);
    assert.equal(await world.condition(cfServiceBinding, name, "Ready"), "True Available");
  }
  assert.deepEqual((await world.vcap())?.b1, LEGACY);
  // What sets credentials points the instance at them first.
  await world.patch(cfServiceInstance, "db", { spec: { secretName: "db-migrated" } });
  await world.pass(10_000);
  assert.deepEqual((await world.status(cfServiceBinding, "b1")).binding, { name: "db" });
  await world.change("db-migrated", { credentials: '{"type":"postgres","user":"bob"}' });
  await world.pass(10_000);
  for (const name of ["b1", "b2"]) {
    assert.deepEqual((await world.status(cfServiceBinding, name)).binding, { name });
    assert.deepEqual(await world.texts(name), { type: "postgres", user: "bob" });
  }
  assert.equal(await versionOf(world, "db"), before);
  await world.stop();
});

test("with auto, a status of somebody else's keeps everything as it is", async () => {
  const world = await KorifiControllersWorld.begin();
  await world.secret("db", { credentials: "{}" });
  await world.secret("other", { credentials: "{}" });
  await world.instance("db");
  await world.patchStatus(cfServiceInstance, "db", { observedGeneration: 1 }, "korifi-controllers");
  await world.pass();
  world.traffic();
  await world.instance("other");
  await world.bind("b1", "other");
  await world.pass(120_000);
  assert.deepEqual(world.traffic().writes, []);
  assert.deepEqual(await world.status(cfServiceBinding, "b1"), {});
  await world.stop();
});

test("with auto, a person who edits a status keeps nobody away", async () => {
  const world = await KorifiControllersWorld.begin();
  await world.secret("db", { credentials: "{}" });
  await world.instance("db");
  await world.patchStatus(cfServiceInstance, "db", { observedGeneration: 1 }, "kubectl-edit");
  await world.bind("b1", "db");
  await world.pass(120_000);
  assert.notEqual(await world.texts("b1"), undefined);
  await world.stop();
});

test("with auto, kinds that Korifi has installed are left alone; with on, they are not", async () => {
  for (const mode of ["auto", "on"] as const) {
    const world = await KorifiControllersWorld.begin({ mode });
    for (const { plural, group } of [cfServiceInstance, cfServiceBinding]) {
      const labels = { "app.kubernetes.io/part-of": null };
      const ref = { name: `${plural}.${group}` };
      await world.kube.patch(customResourceDefinitions, ref, { type: "merge", body: { metadata: { labels } } });
    }
    await world.secret("db", { credentials: "{}" });
    await world.instance("db");
    await world.bind("b1", "db");
    await world.pass(120_000);
    assert.equal((await world.texts("b1")) !== undefined, mode === "on", mode);
    if (mode === "auto") assert.deepEqual(world.traffic().writes, []);
    await world.stop();
  }
});
