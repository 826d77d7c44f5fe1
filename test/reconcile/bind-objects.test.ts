import assert from "node:assert/strict";
import { test } from "node:test";
import { inlineSecret, keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { BindWorld, type Kind, kinds } from "./bind-world.ts";

const SETTLE_MS = 20_000;
const MINUTE_MS = 60_000;

async function begunWith(spec: object): Promise<BindWorld> {
  const world = await BindWorld.begin();
  await world.create("Bind9Cluster", "dns", { spec });
  await world.pass(SETTLE_MS);
  return world;
}

test("a cluster is scaled up and down; instances of others are left, and counted", async () => {
  const world = await begunWith({ primary: {}, secondary: { replicas: 2 } });
  await world.create("Bind9Instance", "dns-extra", { spec: { clusterRef: "dns", role: "secondary" } });
  await world.patch("Bind9Cluster", "dns", { spec: { secondary: { replicas: 3 } } });
  await world.pass(SETTLE_MS);
  const all = ["dns-extra", "dns-primary-0", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2"];
  assert.deepEqual(await world.names("Bind9Instance"), all);
  assert.deepEqual(await world.names("Deployment"), all);
  assert.equal(fieldAt(await world.get("Bind9Cluster", "dns"), ["status", "readyInstances"]), 5);
  await world.patch("Bind9Cluster", "dns", { spec: { secondary: { replicas: 0 } } });
  await world.pass(SETTLE_MS);
  assert.deepEqual(await world.names("Bind9Instance"), ["dns-extra", "dns-primary-0"]);
  for (const kind of ["Deployment", "Service", "ConfigMap"] as const) {
    const names = (await world.names(kind)).filter((name) => name.startsWith("dns-"));
    assert.deepEqual(names, ["dns-extra", "dns-primary-0"], `${kind}s`);
  }
  assert.deepEqual(await world.names("RndcKey"), ["dns-extra-rndc", "dns-primary-0-rndc"]);
  await world.stop();
});

/** Objects that stand in the way, and who says so. */
const inTheWay: readonly (readonly [Kind, string, object, Kind, string])[] = [
  ["ConfigMap", "dns-primary-0", { data: { mine: "yes" } }, "Bind9Instance", "dns-primary-0"],
  ["Service", "dns-primary-0", { spec: { ports: [{ port: 80 }] } }, "Bind9Instance", "dns-primary-0"],
  [
    "Deployment",
    "dns-primary-0",
    {
      spec: {
        selector: { matchLabels: { app: "mine" } },
        template: { metadata: { labels: { app: "mine" } }, spec: { containers: [{ name: "mine", image: "mine" }] } },
      },
    },
    "Bind9Instance",
    "dns-primary-0",
  ],
  [
    "RndcKey",
    "dns-primary-0-rndc",
    { spec: { secret: { name: "x" }, keyName: "x", strategy: "Restart", instances: ["x"] } },
    "Bind9Instance",
    "dns-primary-0",
  ],
  ["Secret", "dns-primary-0-rndc", { stringData: { "rndc.key": keyFile() } }, "Bind9Instance", "dns-primary-0"],
  ["Bind9Instance", "dns-primary-0", { spec: { clusterRef: "other", role: "primary" } }, "Bind9Cluster", "dns"],
];

for (const [kind, name, fields, teller, tellerName] of inTheWay) {
  test(`a ${kind} of somebody else's that has the name is left alone and named, and made when it is gone`, async () => {
    const world = await BindWorld.begin();
    const before = await world.create(kind, name, fields);
    await world.create("Bind9Cluster", "dns", { spec: { primary: {} } });
    await world.pass(SETTLE_MS);
    const after = await world.get(kind, name);
    const { spec, data, metadata } = after ?? before;
    assert.deepEqual(
      [spec, data, metadata.labels, metadata.ownerReferences],
      [before.spec, before.data, undefined, undefined],
    );
    const said = (await world.condition(teller, tellerName, "Synced")) ?? "";
    assert.match(
      said,
      new RegExp(
        `^False ObjectNotOurs [a-z.]+(\\.[a-zA-Z]+)?: there is a ${kind} net/${name} that somebody else has made`,
        "i",
      ),
    );
    assert.equal((await world.events("ObjectNotOurs")).length, 1);
    await world.pass(5 * MINUTE_MS);
    assert.equal((await world.events("ObjectNotOurs")).length, 1, "told once, however long it lasts");
    await world.remove(kind, name);
    await world.pass(2 * MINUTE_MS);
    assert.equal(await world.condition("Bind9Cluster", "dns", "Ready"), "True Available");
    assert.equal(await world.condition(teller, tellerName, "Synced"), "True ReconcileSuccess");
    await world.stop();
  });
}

test("what is in the way of a key is said of the field that names it, and nothing is said of another one's key", async () => {
  const world = await BindWorld.begin();
  const instances = ["other"];
  const status = { nextRotation: "2026-01-01T00:00:00Z" };
  const spec = { secret: { name: "dns-primary-0-rndc" }, keyName: "x", strategy: "Restart", instances };
  const theirs = await world.create("RndcKey", "dns-primary-0-rndc", { spec });
  await world.kube.replace(kinds.RndcKey, { ...theirs, status }, { subresource: "status" });
  await world.create("Bind9Cluster", "dns", { spec: { global: { rndcKeys: { autoRotate: true } }, primary: {} } });
  await world.pass(SETTLE_MS);
  const said = (await world.condition("Bind9Instance", "dns-primary-0", "Synced")) ?? "";
  assert.match(said, /^False ObjectNotOurs metadata\.name: there is a RndcKey/, "there is no inline secret");
  assert.equal((await world.choice("dns-primary-0")).nextRotation, undefined);
  await world.stop();
});

test("a Bind9Cluster of somebody else's is not a provider's, and a namespace that is missing is said", async () => {
  const world = await BindWorld.begin();
  await world.create("Bind9Cluster", "platform", { spec: { secondary: {} } });
  await world.create("ClusterBind9Provider", "platform", { spec: { namespace: "net", primary: {} } });
  await world.create("ClusterBind9Provider", "nowhere", { spec: { namespace: "missing", primary: {} } });
  await world.pass(SETTLE_MS);
  assert.match(
    (await world.condition("ClusterBind9Provider", "platform", "Synced")) ?? "",
    /^False ObjectNotOurs spec\.namespace/,
  );
  assert.match(
    (await world.condition("ClusterBind9Provider", "nowhere", "Synced")) ?? "",
    /^False ObjectRefused spec\.namespace/,
  );
  assert.equal(fieldAt(await world.get("Bind9Cluster", "platform"), ["spec", "primary"]), undefined);
  await world.addNamespace("missing");
  await world.pass(2 * MINUTE_MS);
  assert.equal(await world.condition("ClusterBind9Provider", "nowhere", "Ready"), "True Available");
  await world.stop();
});

test("what somebody changes or deletes is put right; what they add stays", async () => {
  const world = await begunWith({ primary: {} });
  const name = "dns-primary-0";
  const extra = { labels: { team: "dns" }, annotations: { note: "kept" } };
  await world.patch("Deployment", name, { metadata: extra, spec: { replicas: 0 } });
  await world.patch("ConfigMap", name, { data: { "named.conf": "broken" } });
  await world.patch("Service", name, { metadata: { labels: { "app.kubernetes.io/managed-by": "helm" } } });
  await world.remove("RndcKey", `${name}-rndc`);
  await world.pass(2 * SETTLE_MS);
  const deployment = await world.get("Deployment", name);
  assert.equal(fieldAt(deployment, ["spec", "replicas"]), 1);
  assert.equal(deployment?.metadata.labels?.team, "dns");
  assert.equal(deployment?.metadata.annotations?.note, "kept");
  assert.match(String(fieldAt(await world.get("ConfigMap", name), ["data", "named.conf"])), /^options/);
  assert.equal((await world.get("Service", name))?.metadata.labels?.["app.kubernetes.io/managed-by"], "bindy");
  assert.ok(await world.get("RndcKey", `${name}-rndc`));
  await world.stop();
});

test("what somebody puts beside ours in a list of ours is fought once, and then left", async () => {
  const world = await begunWith({ primary: {} });
  const name = "dns-primary-0-rndc";
  await world.patch("RndcKey", name, { spec: { instances: ["dns-primary-0", "theirs"] } });
  await world.pass(SETTLE_MS);
  world.operator.traffic();
  await world.pass(10 * MINUTE_MS);
  assert.deepEqual(world.operator.traffic(), { writes: [], reads: [], outside: [] });
  assert.ok((fieldAt(await world.get("RndcKey", name), ["spec", "instances"]) as string[]).includes("dns-primary-0"));
  await world.stop();
});

test("a spec that changes reaches what was made: image, port, recursion, and what is taken out again", async () => {
  const world = await begunWith({ primary: {}, image: { image: "bind:1", imagePullSecrets: ["pull"] }, port: 5353 });
  const name = "dns-primary-0";
  const imageOf = async (): Promise<unknown> => {
    const spec = fieldAt(await world.get("Deployment", name), ["spec", "template", "spec"]);
    return [fieldAt(spec, ["imagePullSecrets"]), (fieldAt(spec, ["containers"]) as { image: string }[])[0]?.image];
  };
  assert.deepEqual(await imageOf(), [[{ name: "pull" }], "bind:1"]);
  await world.patch("Bind9Cluster", "dns", {
    spec: { image: { image: "bind:2", imagePullSecrets: null }, global: { recursion: true } },
  });
  await world.pass(SETTLE_MS);
  assert.deepEqual(await imageOf(), [undefined, "bind:2"]);
  assert.match(JSON.stringify(await world.get("ConfigMap", name)), /recursion yes/);
  assert.equal((fieldAt(await world.get("Service", name), ["spec", "ports"]) as { port: number }[])[0]?.port, 5353);
  await world.stop();
});

test("a provider that goes takes everything along that was made for it, and nothing of a user's", async () => {
  const world = await BindWorld.begin();
  await world.create("Secret", "mine", { stringData: { "rndc.key": keyFile() } });
  const secondary = { rndcKeys: { secretRef: { name: "mine" } } };
  const spec = { namespace: "net", global: { rndcKeys: { secret: inlineSecret("shared") } }, primary: {}, secondary };
  await world.create("ClusterBind9Provider", "platform", { spec });
  await world.pass(SETTLE_MS);
  assert.equal(await world.condition("ClusterBind9Provider", "platform", "Ready"), "True Available");
  await world.remove("ClusterBind9Provider", "platform");
  await world.pass(2 * SETTLE_MS);
  for (const kind of ["Bind9Cluster", "Bind9Instance", "RndcKey", "Deployment", "Service"] as const) {
    assert.deepEqual(await world.names(kind), [], `${kind}s`);
  }
  assert.deepEqual(await world.names("Secret"), ["mine"]);
  await world.stop();
});

test("a provider that moves to another namespace leaves the servers that run, and names them", async () => {
  const world = await BindWorld.begin();
  await world.addNamespace("other");
  const spec = { namespace: "net", global: { rndcKeys: { autoRotate: true } }, primary: {} };
  await world.create("ClusterBind9Provider", "platform", { spec });
  await world.pass(SETTLE_MS);
  const before = await world.get("RndcKey", "platform-primary-0-rndc");
  await world.patch("ClusterBind9Provider", "platform", { spec: { namespace: "other" } });
  await world.pass(SETTLE_MS);
  assert.match(
    (await world.condition("ClusterBind9Provider", "platform", "Warning")) ?? "",
    /Bind9Cluster net\/platform was made before/,
  );
  assert.deepEqual((await world.get("RndcKey", "platform-primary-0-rndc"))?.spec, before?.spec);
  assert.equal((await world.names("Deployment", "other")).length, 1);
  assert.equal((await world.names("Deployment")).length, 1);
  await world.stop();
});

for (const kind of ["Deployment", "StatefulSet"] as const) {
  test(`an existing ${kind} is used where it refers to the Secret, and nothing is made beside the key`, async () => {
    const world = await begunWith({});
    const deploymentRef = { name: "legacy", ...(kind !== "Deployment" && { kind }) };
    await world.create("Bind9Instance", "old", { spec: { clusterRef: "dns", role: "primary", deploymentRef } });
    await world.pass(SETTLE_MS);
    const synced = async (): Promise<string> => (await world.condition("Bind9Instance", "old", "Synced")) ?? "";
    assert.match(await synced(), new RegExp(`spec\\.deploymentRef\\.name: there is no ${kind} net/legacy`));
    const template = (secretName: string): object => ({
      metadata: { labels: { app: "legacy" } },
      spec: { containers: [{ name: "named", image: "bind" }], volumes: [{ name: "key", secret: { secretName } }] },
    });
    // A pod that waited for it would hold the StatefulSet up, whatever its template says later.
    await world.create("Secret", "other", {});
    const spec = { selector: { matchLabels: { app: "legacy" } }, template: template("other") };
    await world.create(kind, "legacy", { spec: kind === "Deployment" ? spec : { ...spec, serviceName: "legacy" } });
    await world.pass(SETTLE_MS);
    assert.match(await synced(), /does not refer to the Secret old-rndc/);
    await world.patch(kind, "legacy", { spec: { template: template("old-rndc") } });
    await world.pass(SETTLE_MS);
    assert.equal(await synced(), "True ReconcileSuccess");
    assert.equal(await world.condition("Bind9Instance", "old", "Ready"), "True Available");
    assert.equal(fieldAt(await world.get("RndcKey", "old-rndc"), ["spec", "strategy"]), "Restart");
    assert.deepEqual([...(await world.names("Deployment")), ...(await world.names("StatefulSet"))], ["legacy"]);
    assert.deepEqual(await world.names("Service"), []);
    await world.stop();
  });
}

test("from a Deployment to a StatefulSet and back: the one goes when the other one serves, and not before", async () => {
  const world = await begunWith({ primary: {} });
  const name = "dns-primary-0";
  const secret = await world.get("Secret", `${name}-rndc`);
  for (const [former, next] of [
    ["Deployment", "StatefulSet"],
    ["StatefulSet", "Deployment"],
  ] as const) {
    await world.patch("Bind9Cluster", "dns", { spec: { workload: next } });
    for (let looks = 0; looks < 40; looks++) {
      await world.pass(500, 500);
      const ready = fieldAt(await world.get(next, name), ["status", "readyReplicas"]);
      if (ready !== 1) assert.deepEqual(await world.names(former), [name], `${next} does not serve yet`);
      assert.equal(await world.condition("Bind9Instance", name, "Ready"), "True Available");
    }
    assert.deepEqual([await world.names(former), await world.names(next)], [[], [name]]);
  }
  assert.equal((await world.get("Secret", `${name}-rndc`))?.metadata.uid, secret?.metadata.uid, "the key stays");
  await world.stop();
});

test("whoever changes his mind again and again is never left without servers", async () => {
  const world = await begunWith({ primary: {} });
  const name = "dns-primary-0";
  for (let look = 0; look < 60; look++) {
    // At other moments of each change.
    if (look % 7 === 0) {
      await world.patch("Bind9Cluster", "dns", { spec: { workload: look % 2 ? "StatefulSet" : "Deployment" } });
    }
    await world.pass(200, 200);
    const found = [await world.get("Deployment", name), await world.get("StatefulSet", name)];
    assert.ok(
      found.some((workload) => fieldAt(workload, ["status", "readyReplicas"]) === 1),
      `look ${look}`,
    );
  }
  await world.stop();
});

test("what somebody else has made under the name of the instance is no former one, and stays", async () => {
  const world = await BindWorld.begin();
  const template = { metadata: { labels: { app: "mine" } }, spec: { containers: [{ name: "mine", image: "mine" }] } };
  const spec = { serviceName: "mine", selector: { matchLabels: { app: "mine" } }, template };
  await world.create("StatefulSet", "dns-primary-0", { spec });
  await world.create("Bind9Cluster", "dns", { spec: { primary: {} } });
  await world.pass(2 * SETTLE_MS);
  assert.equal(await world.condition("Bind9Cluster", "dns", "Ready"), "True Available");
  assert.deepEqual(await world.names("StatefulSet"), ["dns-primary-0"]);
  await world.stop();
});
