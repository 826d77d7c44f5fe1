import assert from "node:assert/strict";
import { test } from "node:test";
import { inlineSecret, keyFile, LONG_SECRET } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { BindWorld } from "./bind-world.ts";

const SETTLE_MS = 20_000;
const ROTATES = { autoRotate: true, rotateAfter: "720h" };

async function begunWith(spec: object): Promise<BindWorld> {
  const world = await BindWorld.begin();
  await world.create("Bind9Cluster", "dns", { spec });
  await world.pass(SETTLE_MS);
  return world;
}

const mountsOf = async (world: BindWorld, name: string): Promise<readonly unknown[]> => {
  const volumes = fieldAt(await world.get("Deployment", name), ["spec", "template", "spec", "volumes"]);
  return (volumes as readonly object[]).flatMap((volume) => fieldAt(volume, ["secret", "secretName"]) ?? []);
};

test("a level that is added or taken away counts at once, and the status says which and why", async () => {
  const world = await begunWith({ primary: { replicas: 1 } });
  const name = "dns-primary-0";
  const levels: unknown[] = [];
  const note = async (): Promise<void> => {
    await world.pass(SETTLE_MS);
    const { level, field, rotates, rotateAfter } = await world.choice(name);
    levels.push([level, field, rotates, rotateAfter]);
  };
  await note();
  await world.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: ROTATES } } });
  await note();
  await world.patch("Bind9Cluster", "dns", {
    spec: { primary: { rndcKey: { autoRotate: true, rotateAfter: "48h" } } },
  });
  await note();
  await world.patch("Bind9Instance", name, { spec: { rndcKeys: { algorithm: "hmac-sha512" } } });
  await note();
  assert.deepEqual(levels, [
    ["default", undefined, false, undefined],
    ["global", "spec.global.rndcKeys", true, "720h"],
    ["role", "spec.primary.rndcKey", true, "48h"],
    ["instance", "spec.rndcKeys", false, undefined],
  ]);
  assert.match(
    String((await world.choice(name)).why),
    /^spec\.rndcKeys of Bind9Instance net\/dns-primary-0 goes before spec\.primary\.rndcKey/,
  );
  await world.patch("Bind9Instance", name, { spec: { rndcKeys: null } });
  await world.patch("Bind9Cluster", "dns", { spec: { primary: { rndcKey: null } } });
  await note();
  assert.deepEqual(levels.at(-1), ["global", "spec.global.rndcKeys", true, "720h"]);
  await world.stop();
});

test("what a setting says no more is taken out of the RndcKey, and the key stays the same object", async () => {
  const world = await begunWith({ global: { rndcKeys: { ...ROTATES, overlap: "2h" } }, primary: {} });
  const before = await world.get("RndcKey", "dns-primary-0-rndc");
  assert.deepEqual(fieldAt(before, ["spec", "rotation"]), { frequency: "720h", ttl: "30d2h" });
  await world.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: { autoRotate: false, overlap: null } } } });
  await world.pass(SETTLE_MS);
  const after = await world.get("RndcKey", "dns-primary-0-rndc");
  assert.equal(fieldAt(after, ["spec", "rotation"]), undefined);
  assert.equal(after?.metadata.uid, before?.metadata.uid);
  assert.equal((await world.choice("dns-primary-0")).rotates, false);
  await world.stop();
});

test("an own key gives way to a shared one, once no pod uses it any more", async () => {
  const world = await begunWith({ primary: { replicas: 2 } });
  assert.deepEqual(await world.names("RndcKey"), ["dns-primary-0-rndc", "dns-primary-1-rndc"]);
  world.keepsKeys = false;
  await world.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: { secret: inlineSecret("shared") } } } });
  await world.pass(SETTLE_MS);
  assert.deepEqual(await world.names("RndcKey"), ["dns-primary-0-rndc", "dns-primary-1-rndc", "shared"]);
  assert.deepEqual(await mountsOf(world, "dns-primary-0"), ["dns-primary-0-rndc", "dns-primary-0-rndc-ring"]);
  assert.match(
    (await world.condition("Bind9Instance", "dns-primary-0", "Ready")) ?? "",
    /^True Available waits for Secret shared of RndcKey shared$/,
  );
  world.keepsKeys = true;
  await world.pass(SETTLE_MS);
  assert.deepEqual(await mountsOf(world, "dns-primary-0"), ["shared", "shared-ring"]);
  assert.deepEqual(await world.names("RndcKey"), ["shared"]);
  assert.equal(await world.ownerOf("RndcKey", "shared"), "Bind9Cluster/dns");
  const shared = fieldAt(await world.get("Bind9Cluster", "dns"), ["status", "sharedKeys"]) as readonly object[];
  assert.deepEqual(fieldAt(shared[0], ["instances"]), ["dns-primary-0", "dns-primary-1"]);
  assert.equal(fieldAt(await world.get("RndcKey", "shared"), ["spec", "initialKey", "name"]), "shared-initial");
  await world.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: null } } });
  await world.pass(2 * SETTLE_MS);
  assert.deepEqual(await world.names("RndcKey"), ["dns-primary-0-rndc", "dns-primary-1-rndc"]);
  assert.ok(!(await world.names("Secret")).some((name) => name.startsWith("shared")), "nothing of it is left");
  await world.stop();
});

test("a setting that moves from the cluster to its only instance takes its key along, and back", async () => {
  const setting = { secret: inlineSecret("office") };
  const world = await begunWith({ global: { rndcKeys: setting }, primary: { replicas: 1 } });
  const before = await world.get("RndcKey", "office");
  assert.equal(await world.ownerOf("RndcKey", "office"), "Bind9Cluster/dns");
  await world.patch("Bind9Instance", "dns-primary-0", { spec: { rndcKeys: setting } });
  await world.pass(SETTLE_MS);
  assert.equal(await world.ownerOf("RndcKey", "office"), "Bind9Instance/dns-primary-0");
  assert.equal(await world.ownerOf("Secret", "office-initial"), "Bind9Instance/dns-primary-0");
  assert.equal((await world.get("RndcKey", "office"))?.metadata.uid, before?.metadata.uid, "it is the very same key");
  assert.equal((await world.choice("dns-primary-0")).level, "instance");
  await world.patch("Bind9Instance", "dns-primary-0", { spec: { rndcKeys: null } });
  await world.pass(SETTLE_MS);
  assert.equal(await world.ownerOf("RndcKey", "office"), "Bind9Cluster/dns");
  assert.equal((await world.get("RndcKey", "office"))?.metadata.uid, before?.metadata.uid);
  assert.equal((await world.choice("dns-primary-0")).level, "global");
  await world.stop();
});

test("an instance does not take a key away from others that share it", async () => {
  const world = await begunWith({ global: { rndcKeys: { secret: inlineSecret("office") } }, primary: { replicas: 2 } });
  const other = { secret: inlineSecret("office", keyFile(LONG_SECRET, "hmac-sha256", "another")) };
  await world.patch("Bind9Instance", "dns-primary-0", { spec: { rndcKeys: other } });
  await world.pass(SETTLE_MS);
  assert.equal(await world.ownerOf("RndcKey", "office"), "Bind9Cluster/dns");
  assert.match(
    (await world.condition("Bind9Instance", "dns-primary-0", "Synced")) ?? "",
    /^False ObjectNotOurs spec\.rndcKeys\.secret\.metadata\.name: /,
  );
  assert.match(
    (await world.condition("Bind9Cluster", "dns", "Synced")) ?? "",
    /^False SpecProblem spec\.global\.rndcKeys\.secret\.metadata\.name: .*Bind9Instance dns-primary-0/,
  );
  assert.equal(await world.condition("Bind9Instance", "dns-primary-0", "Ready"), "True Available");
  assert.deepEqual(await mountsOf(world, "dns-primary-0"), ["office", "office-ring"]);
  await world.stop();
});

test("a provider's settings are inherited, its cluster's own go before, and a forged cluster gets nothing", async () => {
  const world = await BindWorld.begin();
  const spec = { namespace: "net", global: { rndcKeys: ROTATES }, primary: {} };
  const provider = await world.create("ClusterBind9Provider", "platform", { spec });
  await world.pass(SETTLE_MS);
  assert.equal((await world.choice("platform-primary-0")).source, "ClusterBind9Provider platform");
  assert.equal(fieldAt(await world.get("ClusterBind9Provider", "platform"), ["status", "cluster"]), "net/platform");
  await world.patch("Bind9Cluster", "platform", { spec: { global: { rndcSecretRef: { name: "mine" } } } });
  await world.pass(SETTLE_MS);
  const choice = await world.choice("platform-primary-0");
  assert.deepEqual([choice.source, choice.mode], ["Bind9Cluster net/platform", "referenced"], "object before field");
  const owner = {
    apiVersion: provider.apiVersion,
    kind: provider.kind,
    name: "platform",
    uid: provider.metadata.uid ?? "",
    controller: true,
  };
  await world.addNamespace("tenant");
  const metadata = { name: "platform", namespace: "tenant", ownerReferences: [owner] };
  await world.create("Bind9Cluster", "platform", { metadata, spec: { primary: {} } }, "tenant");
  await world.pass(SETTLE_MS);
  assert.match(
    (await world.condition("Bind9Cluster", "platform", "Synced", "tenant")) ?? "",
    /^False ReferenceProblem metadata\.ownerReferences/,
  );
  assert.deepEqual(await world.names("RndcKey", "tenant"), []);
  await world.stop();
});

test("a deprecated setting is honoured, warned about in a condition, and told once", async () => {
  const world = await BindWorld.begin();
  await world.create("Secret", "mine", { stringData: { "rndc.key": keyFile() } });
  await world.create("Bind9Cluster", "dns", { spec: { global: { rndcSecretRef: { name: "mine" } }, primary: {} } });
  await world.pass(SETTLE_MS);
  const warning = "True DeprecatedSetting spec.global.rndcSecretRef is deprecated: say rndcKeys.secretRef";
  assert.equal(await world.condition("Bind9Cluster", "dns", "Warning"), warning);
  assert.equal(await world.condition("Bind9Instance", "dns-primary-0", "Warning"), warning);
  assert.equal(await world.condition("Bind9Instance", "dns-primary-0", "Ready"), "True Available");
  await world.operator.stop();
  world.begunAnew();
  await world.pass(SETTLE_MS);
  assert.equal((await world.events("DeprecatedSetting")).length, 2, "one for the cluster and one for the instance");
  await world.patch("Bind9Cluster", "dns", {
    spec: { global: { rndcSecretRef: null, rndcKeys: { secretRef: { name: "mine" } } } },
  });
  await world.pass(SETTLE_MS);
  assert.equal(await world.condition("Bind9Cluster", "dns", "Warning"), undefined);
  await world.stop();
});
