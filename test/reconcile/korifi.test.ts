import assert from "node:assert/strict";
import { test } from "node:test";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { serviceBindingName, typedSecretName } from "../../src/korifi/names.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { serviceBindingType } from "../../src/reconcile/korifi/korifi-sources.ts";
import { appType, KorifiControllersWorld, NAMESPACE } from "./korifi-world.ts";

const ALICE = '{"user":{"name":"alice"},"port":12345678901234567890}';
const BOB = '{"user":{"name":"bob"},"port":12345678901234567890}';

async function bound(...bindings: readonly string[]): Promise<KorifiControllersWorld> {
  const world = await KorifiControllersWorld.begin();
  await world.secret("db", { credentials: ALICE });
  await world.instance("db");
  for (const name of bindings) await world.bind(name, "db");
  await world.pass();
  return world;
}

test("an instance, a binding, an application: each has its Secret, and the status names it", async () => {
  const world = await bound("b1");
  const { credentials, credentialsObservedVersion } = await world.status(cfServiceInstance, "db");
  assert.deepEqual(credentials, { name: "db" });
  assert.equal(credentialsObservedVersion, (await world.get(secretType, "db"))?.metadata.resourceVersion);
  const { conditions: _, observedGeneration: __, ...references } = await world.status(cfServiceBinding, "b1");
  assert.deepEqual(references, {
    binding: { name: "b1" },
    mountSecretRef: { name: "b1" },
    credentials: { name: "db" },
    envSecretRef: { name: "db" },
  });
  assert.deepEqual(await world.texts("b1"), {
    user: '{"name":"alice"}',
    port: "12345678901234567890",
    type: "user-provided",
  });
  assert.equal((await world.get(secretType, "b1"))?.type, "servicebinding.io/user-provided");
  assert.match((await world.texts("shop-vcap-services"))?.VCAP_SERVICES ?? "", /"port":12345678901234567890/);
  for (const type of [cfServiceInstance, cfServiceBinding] as const) {
    const name = type === cfServiceInstance ? "db" : "b1";
    assert.equal(await world.condition(type, name, "Ready"), "True Available");
    assert.equal(await world.condition(type, name, "Synced"), "True ReconcileSuccess");
  }
  await world.stop();
});

test("what projects a binding is made for an application, owned by the binding, and not for a key", async () => {
  const world = await bound("b1");
  await world.bind("k1", "db", { type: "key", appRef: undefined });
  await world.pass();
  const projection = await world.get(serviceBindingType, serviceBindingName("b1"));
  assert.deepEqual(projection?.spec, {
    name: "b1",
    workload: {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      selector: { matchLabels: { "korifi.cloudfoundry.org/app-guid": "shop" } },
    },
    service: { apiVersion: "korifi.cloudfoundry.org/v1alpha1", kind: "CFServiceBinding", name: "b1" },
  });
  assert.deepEqual(
    projection?.metadata.ownerReferences?.map(({ kind, name }) => [kind, name]),
    [["CFServiceBinding", "b1"]],
  );
  assert.equal(await world.get(serviceBindingType, serviceBindingName("k1")), undefined);
  assert.deepEqual(Object.keys((await world.vcap()) ?? {}), ["b1"]);
  assert.ok(await world.texts("k1"));
  await world.stop();
});

test("one change is one write of each Secret that is made from it, and one status", async () => {
  const world = await bound("b1", "b2", "b3");
  world.traffic();
  await world.pass(60_000);
  assert.deepEqual(world.traffic(), { writes: [], reads: [] });
  await world.change("db", { credentials: BOB });
  await world.pass(60_000);
  const { writes, reads } = world.traffic();
  assert.deepEqual(writes, [
    "patch secrets/b1",
    "patch secrets/b2",
    "patch secrets/b3",
    "patch secrets/shop-vcap-services",
    "replace cfserviceinstances/db/status",
  ]);
  // What this process wrote itself it need not read, and the credentials once for all that is made from them.
  assert.deepEqual(reads, ["get secrets/db"]);
  assert.equal((await world.texts("b2"))?.user, '{"name":"bob"}');
  assert.deepEqual((await world.vcap())?.b3, JSON.parse(BOB));
  await world.stop();
});

test("a process that starts on what is in order writes nothing", async () => {
  const world = await bound("b1", "b2");
  await world.operator.stop();
  world.begunAnew();
  await world.pass(10_000);
  assert.deepEqual(world.traffic().writes, []);
  // What it has not written itself is looked at once more before it is written over.
  await world.change("db", { credentials: BOB });
  await world.pass();
  assert.equal((await world.texts("b2"))?.user, '{"name":"bob"}');
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(BOB));
  await world.stop();
});

test("another type is another Secret, named before the old one goes, and not while a pod has that mounted", async () => {
  const world = await bound("b1");
  const pod = { name: "app", image: "app" };
  const volumes = [{ name: "b", secret: { secretName: "b1" } }];
  const pods = { ...secretType, plural: "pods", kind: "Pod" };
  await world.create(pods, "shop-0", { spec: { containers: [pod], volumes } });
  await world.change("db", { credentials: '{"type":"postgres"}' });
  await world.pass();
  const typed = typedSecretName("b1", "servicebinding.io/postgres");
  assert.deepEqual((await world.status(cfServiceBinding, "b1")).binding, { name: typed });
  assert.deepEqual(await world.texts(typed), { type: "postgres" });
  assert.ok(await world.texts("b1"), "a pod uses it");
  await world.pass(60_000);
  assert.ok(await world.texts("b1"), "a pod uses it still");
  await world.remove(pods, "shop-0");
  await world.pass(120_000);
  assert.equal(await world.texts("b1"), undefined);
  await world.change("db", { credentials: '{"type":"postgres","user":"carol"}' });
  await world.pass();
  assert.deepEqual(await world.texts(typed), { type: "postgres", user: "carol" });
  await world.stop();
});

test("VCAP_SERVICES is written before a reference moves", async () => {
  const world = await bound("b1");
  world.operator.traffic();
  await world.change("db", { credentials: '{"type":"postgres"}' });
  await world.pass(1_000);
  const writes = world.operator.requests
    .filter(({ method }) => method !== "GET")
    .map(({ path }) => path.split("?")[0] ?? "");
  const vcap = writes.findIndex((path) => path.endsWith("/shop-vcap-services"));
  const reference = writes.findIndex((path) => path.endsWith("/cfservicebindings/b1/status"));
  assert.ok(vcap >= 0 && vcap < reference, writes.join("\n"));
  await world.stop();
});

const refused = [
  { text: "", reason: "CredentialsMissing" },
  { text: "[1]", reason: "CredentialsNotObject" },
  { text: "no JSON", reason: "CredentialsNotJson" },
  { text: '{"no key":"canary-5d20"}', reason: "InvalidKey" },
] as const;

for (const { text, reason } of refused) {
  test(`refused credentials (${reason}) change nothing, and the condition says why without a value`, async () => {
    const world = await bound("b1");
    await world.change("db", { credentials: text });
    await world.pass();
    assert.equal((await world.texts("b1"))?.user, '{"name":"alice"}');
    assert.deepEqual((await world.vcap())?.b1, JSON.parse(ALICE));
    assert.deepEqual((await world.status(cfServiceBinding, "b1")).binding, { name: "b1" });
    assert.match(await world.condition(cfServiceInstance, "db", "Synced"), new RegExp(`^False ${reason} `));
    assert.match(await world.condition(cfServiceInstance, "db", "Ready"), new RegExp(`^False ${reason} `));
    assert.match(await world.condition(cfServiceBinding, "b1", "Synced"), new RegExp(`^False ${reason} `));
    assert.equal(await world.condition(cfServiceBinding, "b1", "Ready"), "True Available");
    const all = JSON.stringify([await world.get(cfServiceInstance, "db"), await world.get(cfServiceBinding, "b1")]);
    assert.ok(!all.includes("canary-5d20"));
    await world.change("db", { credentials: BOB });
    await world.pass();
    assert.equal((await world.texts("b1"))?.user, '{"name":"bob"}');
    assert.equal(await world.condition(cfServiceBinding, "b1", "Synced"), "True ReconcileSuccess");
    await world.stop();
  });
}

test("a binding that goes takes its Secrets along, and is out of VCAP_SERVICES; the last one leaves {}", async () => {
  const world = await bound("b1", "b2");
  await world.remove(cfServiceBinding, "b1");
  await world.pass(10_000);
  assert.deepEqual(Object.keys((await world.vcap()) ?? {}), ["b2"]);
  assert.equal(await world.texts("b1"), undefined);
  await world.remove(cfServiceBinding, "b2");
  await world.pass(10_000);
  assert.deepEqual(await world.texts("shop-vcap-services"), { VCAP_SERVICES: "{}" });
  await world.stop();
});

test("a binding that goes while nobody works is out of VCAP_SERVICES at the next start", async () => {
  const world = await bound("b1");
  await world.operator.stop();
  await world.remove(cfServiceBinding, "b1");
  world.begunAnew();
  // Without any instance or binding nothing is watched.
  await world.pass(10_000);
  assert.deepEqual(await world.texts("shop-vcap-services"), { VCAP_SERVICES: "{}" });
  await world.stop();
});

test("what somebody deletes or edits is put right", async () => {
  const world = await bound("b1");
  await world.remove(secretType, "shop-vcap-services");
  await world.pass();
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(ALICE));
  await world.kube.patch(
    secretType,
    { namespace: NAMESPACE, name: "b1" },
    { type: "merge", body: { data: { extra: "eA==" } } },
  );
  world.wrongs.length = 0;
  await world.pass();
  assert.equal((await world.texts("b1"))?.extra, undefined);
  await world.remove(serviceBindingType, serviceBindingName("b1"));
  await world.pass();
  assert.ok(await world.get(serviceBindingType, serviceBindingName("b1")));
  await world.stop();
});

test("credentials that are taken from another Secret follow it, and everything says of which key it was made", async () => {
  const world = await KorifiControllersWorld.begin();
  const metadata = (keyId: string) => ({ metadata: { annotations: { "keyturn.dev/key-id": keyId } } });
  await world.secret("rotated", { credentials: ALICE, user: "x" }, metadata("k 1"));
  await world.instance("db", { credentialsFrom: { secretName: "rotated" } });
  await world.bind("b1", "db");
  await world.pass();
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(ALICE));
  assert.equal(await world.derivedFrom("db"), "rotated@k%201");
  assert.equal(await world.derivedFrom("b1"), "db,rotated@k%201");
  assert.equal(await world.derivedFrom("shop-vcap-services"), "db,rotated@k%201");
  world.traffic();
  await world.kube.patch(
    secretType,
    { namespace: NAMESPACE, name: "rotated" },
    {
      type: "merge",
      body: { ...metadata("k2"), data: { credentials: Buffer.from(BOB).toString("base64") } },
    },
  );
  world.noteVersion(BOB);
  await world.pass();
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(BOB));
  assert.equal(await world.derivedFrom("shop-vcap-services"), "db,rotated@k2");
  assert.deepEqual(world.traffic().writes, [
    "patch secrets/b1",
    "patch secrets/db",
    "patch secrets/shop-vcap-services",
    "replace cfserviceinstances/db/status",
  ]);
  await world.remove(secretType, "rotated");
  await world.pass();
  assert.match(await world.condition(cfServiceInstance, "db", "Synced"), /^False SecretMissing /);
  assert.equal(await world.condition(cfServiceInstance, "db", "Ready"), "True Available");
  await world.stop();
});

test("what is taken from the Secret of a binding follows it", async () => {
  const world = await bound("b1");
  await world.instance("copy", { credentialsFrom: { secretName: "b1", keys: ["user"] } });
  await world.bind("c1", "copy", { appRef: { name: "desk" } });
  world.noteVersion('{"user":"{\\"name\\":\\"alice\\"}"}');
  world.noteVersion('{"user":"{\\"name\\":\\"bob\\"}"}');
  await world.pass();
  assert.equal((await world.texts("c1"))?.user, '{"name":"alice"}');
  world.traffic();
  await world.change("db", { credentials: BOB });
  await world.pass();
  assert.equal((await world.texts("c1"))?.user, '{"name":"bob"}');
  assert.deepEqual((await world.vcap("desk"))?.c1, { user: '{"name":"bob"}' });
  assert.deepEqual(world.traffic().writes, [
    "patch secrets/b1",
    "patch secrets/c1",
    "patch secrets/copy",
    "patch secrets/desk-vcap-services",
    "patch secrets/shop-vcap-services",
    "replace cfserviceinstances/copy/status",
    "replace cfserviceinstances/db/status",
  ]);
  await world.stop();
});

test("a service of a broker's is left alone, and says so", async () => {
  const world = await KorifiControllersWorld.begin();
  await world.instance("db", { type: "managed" });
  await world.bind("b1", "db");
  await world.pass();
  assert.match(await world.condition(cfServiceInstance, "db", "Ready"), /^Unknown Managed /);
  assert.match(await world.condition(cfServiceBinding, "b1", "Ready"), /^Unknown Managed /);
  assert.equal(await world.texts("b1"), undefined);
  assert.equal(await world.texts("shop-vcap-services"), undefined);
  await world.stop();
});

test("a CFApp owns the Secret of its services", async () => {
  const world = await bound();
  const { installForeignKind } = await import("../../src/reconcile/objects.fixture.ts");
  await installForeignKind(world.kube, appType);
  await world.pass(1_000);
  const app = await world.create(appType, "shop", {});
  await world.bind("b1", "db");
  await world.pass();
  const owners = (await world.get(secretType, "shop-vcap-services"))?.metadata.ownerReferences;
  assert.deepEqual(
    owners?.map(({ uid }) => uid),
    [app.metadata.uid],
  );
  await world.stop();
});

test("where nothing projects bindings they are given out all the same, and projected once something does", async () => {
  const world = await KorifiControllersWorld.begin({ hasRuntime: false });
  await world.secret("db", { credentials: ALICE });
  await world.instance("db");
  await world.bind("b1", "db");
  await world.pass();
  assert.equal(await world.condition(cfServiceBinding, "b1", "Ready"), "True Available");
  const { installForeignKind } = await import("../../src/reconcile/objects.fixture.ts");
  await installForeignKind(world.kube, serviceBindingType);
  await world.pass(120_000);
  assert.ok(await world.get(serviceBindingType, serviceBindingName("b1")));
  await world.stop();
});

test("a binding may be called as the Secret of its application's services", async () => {
  const world = await bound("shop-vcap-services");
  const texts = await world.texts("shop-vcap-services");
  const typed = typedSecretName("shop-vcap-services", "servicebinding.io/user-provided");
  const isOfApp = texts?.VCAP_SERVICES !== undefined;
  const { binding } = await world.status(cfServiceBinding, "shop-vcap-services");
  assert.deepEqual(binding, { name: isOfApp ? typed : "shop-vcap-services" });
  world.traffic();
  await world.pass(120_000);
  assert.deepEqual(world.traffic().writes, []);
  await world.stop();
});

test("a Secret of somebody else's under a name that is needed is never written", async () => {
  const world = await KorifiControllersWorld.begin();
  await world.secret("db", { credentials: ALICE });
  await world.secret("b1", { theirs: "x" });
  await world.secret("shop-vcap-services", { VCAP_SERVICES: "{}" });
  await world.instance("db");
  await world.bind("b1", "db");
  await world.pass();
  assert.deepEqual(await world.texts("b1"), { theirs: "x" });
  const typed = typedSecretName("b1", "servicebinding.io/user-provided");
  assert.deepEqual((await world.status(cfServiceBinding, "b1")).binding, { name: typed });
  assert.deepEqual(await world.texts("shop-vcap-services"), { VCAP_SERVICES: "{}" });
  await world.remove(secretType, "shop-vcap-services");
  await world.pass(120_000);
  assert.deepEqual((await world.vcap())?.b1, JSON.parse(ALICE));
  await world.stop();
});
