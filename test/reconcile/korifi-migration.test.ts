import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { recordOf } from "../../src/kube/record.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { customResourceDefinitions, namespaces } from "../conformance/kinds.ts";
import { KorifiControllersWorld, NAMESPACE } from "./korifi-world.ts";

const eventType = { ...secretType, group: "events.k8s.io", plural: "events", kind: "Event" };

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

test("a Secret that an instance names as its own is not marked as made from others, and knows what it was made from", async () => {
  const world = await legacy();
  await world.pass(10_000);
  const marks = async (name: string) => {
    const { labels = {}, annotations = {} } = (await world.get(secretType, name))?.metadata ?? {};
    return [labels["keyturn.dev/derived"], annotations["keyturn.dev/derived-from"]];
  };
  assert.deepEqual(await marks("db-migrated"), ["true", "db"]);
  const vcapFrom = await world.derivedFrom("shop-vcap-services");
  assert.equal(vcapFrom, "db,db-migrated");
  await world.patch(cfServiceInstance, "db", { spec: { secretName: "db-migrated" } });
  await world.pass(10_000);
  assert.deepEqual(await marks("db-migrated"), [undefined, "db"]);
  assert.deepEqual(await world.texts("db-migrated"), { credentials: '{"type":"postgres","user":"alice"}' });
  assert.equal(
    await world.derivedFrom("shop-vcap-services"),
    vcapFrom,
    "whoever uses that uses the same key as before",
  );
  const { credentials, credentialsObservedVersion } = await world.status(cfServiceInstance, "db");
  assert.deepEqual(
    [credentials, credentialsObservedVersion],
    [{ name: "db-migrated" }, await versionOf(world, "db-migrated")],
  );
  assert.equal(await world.condition(cfServiceInstance, "db", "Ready"), "True Available");
  await world.patch(cfServiceInstance, "db", { spec: { secretName: "db" } });
  await world.pass(10_000);
  assert.deepEqual(await marks("db-migrated"), ["true", "db"], "it is made from the other one again");
  await world.stop();
});

test("with auto, a status of somebody else's keeps everything in its namespace as it is, and that is said", async () => {
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
  const { items } = await world.kube.list<KubeObject>(eventType, { namespace: NAMESPACE });
  const told = items.filter(({ reason }) => reason === "LeftAlone");
  assert.deepEqual(told.map(({ regarding }) => recordOf(regarding).name).sort(), ["b1", "other"]);
  for (const { type, note } of told) {
    assert.equal(type, "Warning");
    assert.match(
      String(note),
      /korifi-controllers writes the status of CFServiceInstance space\/db: .* run the operator with --korifi on$/,
    );
  }
  await world.stop();
});

test("with auto, a status of somebody else's in one namespace keeps nobody away from another one", async () => {
  const world = await KorifiControllersWorld.begin();
  await world.instance("db");
  await world.patchStatus(cfServiceInstance, "db", { observedGeneration: 1 }, "korifi-controllers");
  await world.pass();
  const namespace = "elsewhere";
  await world.kube.create<KubeObject>(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  const data = { credentials: Buffer.from("{}").toString("base64") };
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "db", namespace }, data };
  await world.kube.create<KubeObject>(secretType, secret);
  const { apiVersion, kind, spec } = (await world.get(cfServiceInstance, "db")) ?? assert.fail("there is none");
  await world.kube.create<KubeObject>(cfServiceInstance, {
    apiVersion,
    kind,
    metadata: { name: "db", namespace },
    spec,
  });
  await world.pass();
  const { status } = await world.kube.get<KubeObject>(cfServiceInstance, { namespace, name: "db" });
  assert.deepEqual(recordOf(status).credentials, { name: "db" });
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
