import assert from "node:assert/strict";
import { test } from "node:test";
import { providerConfig } from "../../src/api/cloudfoundry/provider-config.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { CREDENTIALS_SECRET } from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { installForeignKind, putSecret } from "../../src/reconcile/objects.fixture.ts";
import { CloudFoundryWorld, FORCE_ANNOTATION } from "./cloud-foundry-world.ts";
import { CANARY, SANDBOX_URL } from "./managed-world.ts";

type Fields = Readonly<Record<string, unknown>>;

const foreign = (kind: string, plural: string): ResourceType => ({
  group: "cloudfoundry.crossplane.io",
  version: "v1alpha1",
  plural,
  kind,
  namespaced: false,
});
const apps = foreign("App", "apps");
const serviceInstances = foreign("ServiceInstance", "serviceinstances");

async function started(forProvider: Fields = {}, spec: Fields = {}): Promise<CloudFoundryWorld> {
  const world = new CloudFoundryWorld();
  await world.start();
  await world.create("orders", forProvider, spec);
  await world.reconcile("orders");
  return world;
}

const editForProvider = (world: CloudFoundryWorld, forProvider: Fields): Promise<unknown> =>
  world.patch("orders", { spec: { forProvider } });

/** The parameters that the broker was given, key by key. */
const parametersOf = (world: CloudFoundryWorld): readonly unknown[] =>
  world.sandbox.snapshot().bindings.map(({ parameters }) => parameters);

test("a key is made, its Secret works, and everything says so", async () => {
  const world = await started();
  const object = await world.get("orders");
  const { conditions, atProvider } = await world.statusOf("orders");
  assert.equal(object.metadata.annotations?.["crossplane.io/external-name"], atProvider.guid);
  assert.ok(await world.secretWorks("orders"));
  const words = conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  assert.deepEqual(words, ["Ready=True Available", "Synced=True ReconcileSuccess", "RotationStatus=True Enabled"]);
  assert.doesNotMatch(JSON.stringify(object), new RegExp(CANARY), "key material is nowhere in the resource");
});

test("settled means settled: another reconcile writes nothing and asks nothing outside", async () => {
  const world = await started();
  const { revision } = world.server.store;
  world.sandbox.clearRequestLog();
  await world.reconcile("orders");
  assert.equal(world.server.store.revision, revision);
  assert.deepEqual(world.sandbox.requestLog(), []);
});

test("each value of the force annotation makes one new key, also for a key that is never due", async () => {
  const world = await started({ rotation: undefined });
  const force = async (value: string): Promise<number> => {
    await world.patch("orders", { metadata: { annotations: { [FORCE_ANNOTATION]: value } } });
    await world.reconcile("orders");
    return (await world.statusOf("orders")).sequence;
  };
  assert.equal(await force("monday"), 2);
  assert.equal((await world.get("orders")).metadata.annotations?.[FORCE_ANNOTATION], undefined);
  assert.equal(await force("monday"), 2, "the same value again asks for nothing");
  assert.equal(await force("tuesday"), 3);
  assert.ok(await world.secretWorks("orders"));
});

test("type cannot be changed, and bindings of apps cannot be rotated", async () => {
  const world = await started();
  await assert.rejects(
    editForProvider(world, { type: "app", app: "a-1", rotation: null }),
    /forProvider\.type.*changed/,
  );
  const table: readonly [forProvider: Fields, message: RegExp, reason: string][] = [
    [
      { type: "app", app: "a-1" },
      /forProvider\.rotation.*not rotated/,
      "the document's policy on the binding of an app",
    ],
    [{ type: "app", rotation: undefined }, /forProvider\.app.*say which app/, "an app that is not named"],
    [{ name: undefined }, /forProvider\.name.*a key needs a name/, "a key without a name"],
    [{ type: "route" }, /forProvider\.type/, "a type that there is not"],
  ];
  for (const [forProvider, message, reason] of table) {
    await assert.rejects(world.create("other", forProvider), message, reason);
  }
  await world.create("default-type", { type: undefined });
  await world.reconcile("default-type");
  assert.ok(await world.secretWorks("default-type"), "a key is what is meant where nothing is said");
});

test("parameters are passed on, and a change of them makes a new key", async () => {
  const world = await started({ parameters: { role: "reader" } });
  await editForProvider(world, { parameters: { role: "writer" } });
  await world.reconcile("orders");
  assert.deepEqual(parametersOf(world), [{ role: "reader" }, { role: "writer" }]);
  assert.equal((await world.statusOf("orders")).atProvider.retiredKeys?.length, 1);
  assert.ok(await world.secretWorks("orders"));
});

test("parameters come from a Secret, whole or by one key, and never beside those of the spec", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  const address = { namespace: "default", name: "params" };
  await putSecret(world.kube, address, { role: "reader", limits: '{"connections":5}', all: '{"role":"admin"}' });
  const table: readonly [forProvider: Fields, expected: Fields, reason: string][] = [
    [{ paramsSecretRef: { ...address, key: "all" } }, { role: "admin" }, "one key that holds an object"],
    [
      { paramsSecretRef: address },
      { role: "reader", limits: { connections: 5 }, all: { role: "admin" } },
      "every key, as what it means",
    ],
    [{ paramsSecretRef: address, parameters: { plain: true } }, { plain: true }, "the spec's own count alone"],
  ];
  for (const [index, [forProvider, expected, reason]] of table.entries()) {
    await world.create(`b-${index}`, forProvider);
    await world.reconcile(`b-${index}`);
    assert.deepEqual(parametersOf(world).at(-1), expected, reason);
  }
  await world.create("lost", { paramsSecretRef: { ...address, key: "none" } });
  await assert.rejects(world.reconcile("lost"), /paramsSecretRef: the Secret params has no key "none"/);
});

test("labels and annotations of the resource stand on the key, without what tools keep there for themselves", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  const created = await world.create("orders");
  const labels = { team: "orders", "crossplane.io/claim-name": "c", "keyturn.dev/x": "y" };
  const annotations = {
    "example.org/owner": "somebody",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
    "meta.crossplane.io/description": "d",
  };
  await world.patch("orders", { metadata: { labels, annotations } });
  await world.reconcile("orders");
  const [key] = world.live();
  const theirs = (entries: Readonly<Record<string, string>> = {}): Fields =>
    Object.fromEntries(Object.entries(entries).filter(([name]) => !name.startsWith("keyturn.dev/")));
  assert.deepEqual(theirs(key?.metadata.labels), { team: "orders" });
  assert.deepEqual(theirs(key?.metadata.annotations), { "example.org/owner": "somebody" });
  assert.equal(key?.metadata.labels["keyturn.dev/owner-uid"], created.metadata.uid, "the marks are ours alone");
  await world.patch("orders", { metadata: { labels: { team: "sales" } } });
  await world.clock.advance(3_600_000);
  await world.reconcile("orders");
  assert.equal(world.live().length, 1, "another label is no reason for another key");
  await world.patch("orders", { metadata: { annotations: { [FORCE_ANNOTATION]: "now" } } });
  await world.reconcile("orders");
  assert.deepEqual(theirs(world.live().at(-1)?.metadata.labels), { team: "sales" }, "the next key has it");
});

test("an annotation that Cloud Foundry does not take is said on the resource, and no key is made", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  await world.create("orders");
  await world.patch("orders", { metadata: { annotations: { note: "x".repeat(6000) } } });
  await assert.rejects(
    world.reconcile("orders"),
    /the value of the annotation "note" is none that Cloud Foundry takes/,
  );
  assert.deepEqual(world.live(), []);
});

test("the binding of an app: by GUID or by the App that names it, without a policy, and its Secret works", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  await installForeignKind(world.kube, apps);
  const ids = ["first", "second"].map((name) => world.sandbox.controls.putApp({ name }).id);
  for (const [index, guid] of ids.entries()) {
    await world.kube.create<KubeObject>(apps, {
      apiVersion: apiVersionOf(apps),
      kind: "App",
      metadata: { name: `app-${index}`, labels: { tier: `t${index}` } },
      status: { atProvider: { guid } },
    });
  }
  const ofApp = { type: "app", rotation: undefined, name: undefined };
  const table: readonly [app: Fields, guid: string | undefined, reason: string][] = [
    [{ app: ids[0] }, ids[0], "by GUID"],
    [{ appRef: { name: "app-1" } }, ids[1], "by name"],
    [{ appSelector: { matchLabels: { tier: "t0" } } }, ids[0], "by labels"],
  ];
  for (const [index, [app, guid, reason]] of table.entries()) {
    const name = `binding-${index}`;
    await world.create(name, { ...ofApp, ...app });
    await world.patch(name, { metadata: { labels: { team: "orders" } } });
    await world.reconcile(name);
    const [live, ...others] = world.live();
    assert.deepEqual([live?.type, live?.appId, others], ["app", guid, []], reason);
    assert.match(live?.name ?? "", new RegExp(`^${name}-`), "named after the resource where the spec says nothing");
    assert.equal(live?.metadata.labels.team, "orders");
    assert.ok(await world.secretWorks(name), reason);
    await world.clock.advance(10 * 365 * 86_400_000);
    await world.reconcile(name);
    assert.equal(world.live()[0]?.id, live?.id, "never due");
    await world.kube.delete(serviceCredentialBinding, { name });
    await world.reconcile(name);
    assert.deepEqual(world.live(), [], reason);
  }
});

test("the binding of an app follows its reference to another one", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  const [first, second] = ["first", "second"].map((name) => world.sandbox.controls.putApp({ name }).id);
  await world.create("orders", { type: "app", rotation: undefined, app: first });
  await world.reconcile("orders");
  await editForProvider(world, { app: second });
  await world.reconcile("orders");
  const { guid } = (await world.statusOf("orders")).atProvider;
  assert.equal(world.live().find(({ id }) => id === guid)?.appId, second);
});

test("what can be no id is refused by its field: at admission, and where somebody else's status says it", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  for (const id of ["../../../etc?x=y", "a/b", "..", "a b", "ü", "x".repeat(256)]) {
    await assert.rejects(world.create("orders", { serviceInstance: id }), /spec\.forProvider\.serviceInstance/, id);
    const ofApp = { type: "app", rotation: undefined, app: id };
    await assert.rejects(world.create("orders", ofApp), /spec\.forProvider\.app/, id);
  }
  await installForeignKind(world.kube, serviceInstances);
  await world.kube.create<KubeObject>(serviceInstances, {
    apiVersion: apiVersionOf(serviceInstances),
    kind: "ServiceInstance",
    metadata: { name: "odd" },
    status: { atProvider: { id: "../../../etc?x=y" } },
  });
  await world.create("orders", { serviceInstance: undefined, serviceInstanceRef: { name: "odd" } });
  await assert.rejects(
    world.reconcile("orders"),
    /spec\.forProvider\.serviceInstanceRef: the ServiceInstance odd has a status\.atProvider\.id that is none: "\.\.\/\.\.\/\.\.\/etc\?x=y" has/,
  );
});

const late: readonly [type: ResourceType, forProvider: Fields, field: string, id: string][] = [
  [apps, { type: "app", rotation: undefined, appRef: { name: "late" } }, "appRef", "guid"],
  [serviceInstances, { serviceInstance: undefined, serviceInstanceRef: { name: "late" } }, "serviceInstanceRef", "id"],
];

for (const [type, forProvider, field, id] of late) {
  test(`${field}: what is not there yet, or has no ${id} yet, is named and waited for`, async () => {
    const world = new CloudFoundryWorld();
    await world.start();
    await world.create("orders", forProvider);
    const missing = new RegExp(`spec\\.forProvider\\.${field}: there is no ${type.kind} late`);
    await assert.rejects(world.reconcile("orders"), new RegExp(`${field}: this cluster has no kind ${type.kind}`));
    await installForeignKind(world.kube, type);
    await assert.rejects(world.reconcile("orders"), missing);
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: "late" } };
    await world.kube.create<KubeObject>(type, object);
    await assert.rejects(world.reconcile("orders"), new RegExp(`late has no status\\.atProvider\\.${id} yet`));
    assert.deepEqual(world.live(), []);
    const found = type === apps ? world.sandbox.controls.putApp().id : world.instanceId;
    const body = { status: { atProvider: { [id]: found } } };
    await world.kube.patch(type, { name: "late" }, { type: "merge", body });
    await world.reconcile("orders");
    assert.ok(await world.secretWorks("orders"));
  });
}

test("the Secret has a key for each value however deep, or all of it as JSON; a change of mind makes no new key", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  world.sandbox.controls.putInstance({ credentials: "nested" }, world.instanceId);
  await world.create("orders");
  await world.reconcile("orders");
  const flat = (await world.secretOf("orders")) ?? {};
  assert.equal(flat.endpoints_primary_hostname, flat.hostname);
  assert.equal(flat.endpoints_primary_port, flat.port);
  assert.equal(flat.endpoints_readOnly_0, flat.hostname);
  assert.equal(flat.tls, "true");
  for (const spec of [
    { connectionDetailsAsJSON: true },
    { connectionDetailsAsJSON: false, forProvider: { connectionDetailsAsJSON: true } },
  ]) {
    await world.patch("orders", { spec });
    await world.reconcile("orders");
    const whole = (await world.secretOf("orders")) ?? {};
    assert.deepEqual(Object.keys(whole), ["credentials"]);
    assert.equal((JSON.parse(whole.credentials ?? "") as { readonly password: string }).password, flat.password);
    assert.ok(await world.secretWorks("orders"));
  }
  assert.equal(world.live().length, 1);
});

test("a Secret in the form of the Crossplane provider leads to Cloud Foundry, wherever it says where the API is", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  const { data } = await world.kube.get(secretType, CREDENTIALS_SECRET);
  const given = data as Readonly<Record<string, string>>;
  const read = (key: string): string => Buffer.from(given[key] ?? "", "base64").toString();
  const login = JSON.stringify({ email: read("username"), password: read("password") });
  await putSecret(world.kube, { namespace: "default", name: "login" }, { credentials: login, where: SANDBOX_URL });
  await putSecret(world.kube, { namespace: "default", name: "address" }, { endpoint: `${SANDBOX_URL}\n` });
  const secretRef = { namespace: "default", name: "login", key: "credentials" };
  const table: readonly [spec: Fields, reason: string][] = [
    [{ endpoint: { source: "Secret", secretRef: { ...secretRef, key: "where" } } }, "beside the credentials"],
    [{ apiEndpoint: SANDBOX_URL }, "in the ProviderConfig"],
    [
      { endpoint: { source: "Secret", secretRef: { ...secretRef, name: "address", key: "endpoint" } } },
      "in a Secret of its own",
    ],
  ];
  for (const [index, [spec, reason]] of table.entries()) {
    const name = `config-${index}`;
    await world.kube.create<KubeObject>(providerConfig, {
      apiVersion: apiVersionOf(providerConfig),
      kind: providerConfig.kind,
      metadata: { name },
      spec: { credentials: { source: "Secret", secretRef }, ...spec },
    });
    await world.create(name, {}, { providerConfigRef: { name } });
    await world.reconcile(name);
    assert.ok(await world.secretWorks(name), reason);
  }
  const { metadata } = await world.kube.get(secretType, { namespace: "default", name: "address" });
  assert.deepEqual(metadata.finalizers, ["keyturn.dev/in-use"], "held like the credentials");
});

test("a ProviderConfig that says nowhere where the API is, is named with what is missing", async () => {
  const world = await started();
  await world.kube.patch(secretType, CREDENTIALS_SECRET, { type: "merge", body: { data: { apiEndpoint: null } } });
  await world.create("lost");
  await assert.rejects(world.reconcile("lost"), /ProviderConfig default: .*neither the ProviderConfig nor the Secret/);
  const spec = { endpoint: { source: "Secret", secretRef: { ...CREDENTIALS_SECRET, key: "where" } } };
  await world.kube.patch(providerConfig, { name: "default" }, { type: "merge", body: { spec } });
  await assert.rejects(
    world.reconcile("lost"),
    /ProviderConfig default: .*the Secret of spec\.endpoint has no key "where"/,
  );
});

test("a pause that a foundation asks for is kept by all ProviderConfigs of the same user, and by no other user", async () => {
  const world = await started();
  const secretRef = CREDENTIALS_SECRET;
  const other = world.sandbox.controls.issueLogin(SANDBOX_URL);
  await putSecret(world.kube, { namespace: "default", name: "other" }, other);
  const configs: readonly [name: string, secretRef: Fields][] = [
    ["same", secretRef],
    ["other", { namespace: "default", name: "other" }],
  ];
  for (const [name, reference] of configs) {
    await world.kube.create<KubeObject>(providerConfig, {
      apiVersion: apiVersionOf(providerConfig),
      kind: providerConfig.kind,
      metadata: { name },
      spec: { credentials: { source: "Secret", secretRef: reference } },
    });
    await world.create(name, {}, { providerConfigRef: { name } });
  }
  world.sandbox.controls.set({ outage: "throttled" });
  await world.clock.advance(3_600_000);
  await assert.rejects(world.reconcile("orders"), /too many requests/);
  world.sandbox.controls.set({ outage: "none" });
  world.sandbox.clearRequestLog();
  await assert.rejects(world.reconcile("same"), /too many requests/);
  const asked = world.sandbox.requestLog().filter(({ pattern }) => pattern.startsWith("/v3/"));
  assert.deepEqual(asked, [], "no request that would only prolong the pause");
  await world.reconcile("other");
  assert.ok(await world.secretWorks("other"));
});

test("deletionPolicy Orphan leaves the keys, without our marks", async () => {
  const world = await started({}, { deletionPolicy: "Orphan" });
  await world.kube.delete(serviceCredentialBinding, { name: "orders" });
  await world.reconcile("orders");
  await assert.rejects(world.get("orders"), /not found/);
  const [key] = world.live();
  assert.ok(key?.credentialsWork);
  assert.deepEqual(Object.keys(key?.metadata.labels ?? {}), []);
});

test("a broker that takes its time: the old key is published until the new one works, across a restart too", async () => {
  const world = await started();
  const before = await world.secretOf("orders");
  world.sandbox.controls.putInstance({ broker: "asynchronous", brokerWorkMs: 25_000 }, world.instanceId);
  await world.patch("orders", { metadata: { annotations: { [FORCE_ANNOTATION]: "now" } } });
  await world.reconcile("orders");
  assert.deepEqual(await world.secretOf("orders"), before);
  world.restart();
  await world.clock.advance(30_000);
  await world.reconcile("orders");
  assert.notDeepEqual(await world.secretOf("orders"), before);
  assert.ok(await world.secretWorks("orders"));
  assert.equal(world.live().length, 2, "the key that was under way, not a third one");
});
