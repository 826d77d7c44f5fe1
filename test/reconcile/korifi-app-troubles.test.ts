import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { KorifiControllersWorld, NAMESPACE } from "./korifi-world.ts";

const ALICE = '{"user":"alice"}';
const large = (user: string): string => JSON.stringify({ user, blob: "x".repeat(600_000) });

/** Two services of one application, the first of them from a Secret that is rotated. */
async function bound(): Promise<KorifiControllersWorld> {
  const world = await KorifiControllersWorld.begin();
  await world.secret("rotated", { credentials: ALICE }, { metadata: { annotations: { "keyturn.dev/key-id": "k1" } } });
  await world.instance("small", { credentialsFrom: { secretName: "rotated" } });
  await world.secret("big", { credentials: large("bob") });
  await world.instance("big");
  await world.bind("b1", "small");
  await world.bind("b2", "big");
  await world.pass();
  assert.deepEqual(Object.keys((await world.vcap()) ?? {}), ["b1", "b2"]);
  return world;
}

async function rotate(world: KorifiControllersWorld, keyId: string, credentials: string): Promise<void> {
  world.noteVersion(credentials);
  const metadata = { annotations: { "keyturn.dev/key-id": keyId } };
  const body = { metadata, data: { credentials: Buffer.from(credentials).toString("base64") } };
  await world.kube.patch(secretType, { namespace: NAMESPACE, name: "rotated" }, { type: "merge", body });
}

const synced = (world: KorifiControllersWorld, binding: string): Promise<string> =>
  world.condition(cfServiceBinding, binding, "Synced");

test("services that were too large together are current once there is room, and say of which key they are", async () => {
  const world = await bound();
  await rotate(world, "k2", large("carol"));
  await world.pass();
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(ALICE), "what there is stays");
  assert.match((await world.derivedFrom("shop-vcap-services")) ?? "", /rotated@k1/);
  await world.remove(cfServiceBinding, "b2");
  await world.pass();
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(large("carol")));
  assert.equal(await world.derivedFrom("shop-vcap-services"), "rotated@k2,small");
  await world.stop();
});

test("a service that has no room stays out until it has, whatever else changes", async () => {
  const world = await bound();
  await world.secret("huge", { credentials: large("dave") });
  await world.instance("huge");
  await world.bind("b3", "huge");
  await world.pass();
  await rotate(world, "k2", '{"user":"erin"}');
  await world.pass(120_000);
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(ALICE), "nothing is written without one of them");
  await world.remove(cfServiceBinding, "b2");
  await world.pass();
  assert.deepEqual(Object.keys((await world.vcap()) ?? {}), ["b1", "b3"]);
  assert.deepEqual((await world.vcap())?.b1, { user: "erin" });
  await world.stop();
});

test("too large a VCAP_SERVICES is said at every binding of the application, with a remedy, until it fits", async () => {
  const world = await bound();
  await world.bind("k1", "big", { type: "key", appRef: undefined });
  await rotate(world, "k2", large("carol"));
  await world.pass();
  for (const binding of ["b1", "b2"]) {
    assert.match(await synced(world, binding), /^False CredentialsTooLarge VCAP_SERVICES of shop would have .* bytes/);
    assert.equal(await world.condition(cfServiceBinding, binding, "Ready"), "True Available");
  }
  assert.equal(await synced(world, "k1"), "True ReconcileSuccess", "a key has no application");
  const eventType = { ...secretType, group: "events.k8s.io", plural: "events", kind: "Event" };
  const events = await world.kube.list<KubeObject>(eventType, { namespace: NAMESPACE });
  assert.ok(events.items.some(({ reason }) => reason === "CredentialsTooLarge"));
  world.traffic();
  await world.pass(300_000);
  assert.deepEqual(world.traffic().writes, [], "it is said once");
  await rotate(world, "k3", ALICE);
  await world.pass();
  for (const binding of ["b1", "b2"]) assert.equal(await synced(world, binding), "True ReconcileSuccess");
  await world.stop();
});

test("a name for VCAP_SERVICES that is somebody else's is said at the binding, until it is free", async () => {
  const world = await KorifiControllersWorld.begin();
  await world.secret("shop-vcap-services", { VCAP_SERVICES: "{}" });
  await world.secret("db", { credentials: ALICE });
  await world.instance("db");
  await world.bind("b1", "db");
  await world.pass();
  assert.match(await synced(world, "b1"), /^False SecretTaken the Secret shop-vcap-services is somebody else's/);
  const pods = { ...secretType, plural: "pods", kind: "Pod" };
  const containers = [{ name: "app", image: "app" }];
  await world.create(pods, "p", { spec: { containers, volumes: [{ name: "b", secret: { secretName: "b1" } }] } });
  await world.change("db", { credentials: '{"type":"other","user":"bob"}' });
  await world.pass(120_000);
  assert.match(await synced(world, "b1"), /^False SecretTaken /);
  assert.ok(await world.texts("b1"), "a pod uses it");
  await world.remove(pods, "p");
  await world.pass(120_000);
  assert.match(await synced(world, "b1"), /^False SecretTaken /);
  assert.equal(await world.texts("b1"), undefined, "what is left over goes all the same");
  await world.remove(secretType, "shop-vcap-services");
  await world.pass(120_000);
  assert.deepEqual((await world.vcap())?.b1, { type: "other", user: "bob" });
  assert.equal(await synced(world, "b1"), "True ReconcileSuccess");
  await world.stop();
});

test("a Secret with VCAP_SERVICES that has become immutable is said at the binding, and new types leave nothing behind", async () => {
  const world = await bound();
  const ref = { namespace: NAMESPACE, name: "shop-vcap-services" };
  await world.kube.patch(secretType, ref, { type: "merge", body: { immutable: true } });
  for (const type of ["one", "two"]) {
    await rotate(world, `k-${type}`, JSON.stringify({ user: "erin", type }));
    await world.pass(120_000);
    assert.match(await synced(world, "b1"), /^False SecretTaken the Secret shop-vcap-services is immutable: delete it/);
    const { items } = await world.kube.list<KubeObject>(secretType, { namespace: NAMESPACE });
    const mounts = items.filter((secret) => String(secret.type).startsWith("servicebinding.io/"));
    assert.deepEqual(mounts.map((secret) => secret.type).sort(), [
      `servicebinding.io/${type}`,
      "servicebinding.io/user-provided",
    ]);
  }
  await world.remove(secretType, "shop-vcap-services");
  await world.pass();
  assert.deepEqual((await world.vcap())?.b1, { type: "two", user: "erin" });
  assert.equal(await synced(world, "b1"), "True ReconcileSuccess");
  await world.stop();
});
