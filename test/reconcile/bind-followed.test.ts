import assert from "node:assert/strict";
import { test } from "node:test";
import { keyFile, SHORT_SECRET } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { readFollowingRing } from "../../src/bind/followed-ring.ts";
import type { KeyRing } from "../../src/bind/key-ring.ts";
import { followedKeyItem } from "../../src/insight/compliance/followed-key.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { BindWorld } from "./bind-world.ts";

const SETTLE_MS = 20_000;
const NAME = "dns-primary-0";
const secretOf = (letter: string): string => Buffer.from(letter.repeat(32)).toString("base64");
const letterOf = (count: number): string => String.fromCharCode("A".charCodeAt(0) + count);
const FOLLOWS = { global: { rndcKeys: { secretRef: { name: "mine" } } }, primary: {} };

const putKey = (world: BindWorld, letter: string, name = "office"): Promise<KubeObject> =>
  world.patch("Secret", "mine", {
    data: null,
    stringData: { "rndc.key": keyFile(secretOf(letter), "hmac-sha256", name) },
  });

async function ringOf(world: BindWorld): Promise<KeyRing> {
  const secret = await world.get("Secret", `${NAME}-rndc-ring`);
  return readFollowingRing((secret?.data ?? {}) as Record<string, string>);
}

const phases = async (world: BindWorld): Promise<readonly string[]> =>
  (await ringOf(world)).keys.map(
    ({ key, phase }) => `${key.name} ${Buffer.from(key.secret.reveal()).toString()[0]} ${phase}`,
  );

async function following(): Promise<BindWorld> {
  const world = await BindWorld.begin({ secrets: ["mine", `${NAME}-rndc-ring`] });
  await world.create("Secret", "mine", { stringData: { "rndc.key": keyFile(secretOf("a"), "hmac-sha256", "office") } });
  await world.create("Bind9Cluster", "dns", { spec: FOLLOWS });
  await world.pass(SETTLE_MS);
  assert.equal(await world.condition("Bind9Instance", NAME, "Ready"), "True Available");
  return world;
}

/** Names and first letters of the keys that each server accepts. */
const acceptedIn = (world: BindWorld): readonly string[] =>
  (world.kubelet?.running ?? []).map(({ accepted }) =>
    accepted
      .map(({ name, secret }) => `${name} ${Buffer.from(secret.reveal()).toString()[0]}`)
      .sort()
      .join(),
  );

test("a followed key is rendered into the ring, and the user's Secret is never touched", async () => {
  const world = await following();
  const before = await world.get("Secret", "mine");
  assert.deepEqual(await phases(world), ["office a accepted"]);
  const ring = await world.get("Secret", `${NAME}-rndc-ring`);
  const file = (name: string): string => Buffer.from(String(fieldAt(ring, ["data", name])), "base64").toString();
  assert.match(file("keys.conf"), /key "office"/);
  assert.match(file("controls.conf"), /keys \{ "office"; \}/);
  assert.deepEqual(await world.names("RndcKey"), []);
  await world.remove("Bind9Cluster", "dns");
  await world.pass(SETTLE_MS);
  assert.deepEqual(await world.get("Secret", "mine"), before);
  assert.equal(await world.get("Secret", `${NAME}-rndc-ring`), undefined);
  await world.stop();
});

test("a new key joins the ring, and the old one leaves once all servers accept the new one", async () => {
  const world = await following();
  await world.patch("Bind9Instance", NAME, { spec: { replicas: 2 } });
  await world.pass(SETTLE_MS);
  assert.deepEqual(acceptedIn(world), ["office a", "office a"]);
  assert.ok(world.kubelet);
  const [slow] = world.kubelet.running;
  world.kubelet.delays.set(slow?.name ?? "", 180_000);
  await putKey(world, "b");
  await world.pass(SETTLE_MS);
  assert.deepEqual(await phases(world), ["former-followed-1 a accepted", "office b adding"]);
  assert.deepEqual(acceptedIn(world), ["office a", "former-followed-1 a,office b"], "one is behind, and keeps its key");
  assert.equal(await world.condition("Bind9Instance", NAME, "Synced"), "True ReconcileSuccess", "that takes its time");
  await world.pass(130_000);
  const said = (await world.condition("Bind9Instance", NAME, "Synced")) ?? "";
  assert.match(said, /^False KeyNotReady spec\.global\.rndcKeys\.secretRef: not every server accepts office: /);
  assert.ok(said.includes(slow?.name ?? "none"), said);
  world.kubelet.delays.clear();
  await world.pass(400_000);
  assert.deepEqual(await phases(world), ["office b accepted"]);
  assert.deepEqual(acceptedIn(world), ["office b", "office b"]);
  assert.equal(await world.condition("Bind9Instance", NAME, "Synced"), "True ReconcileSuccess");
  world.operator.traffic();
  await world.pass(10 * SETTLE_MS);
  assert.deepEqual(world.operator.traffic(), { writes: [], reads: [], outside: [] });
  await world.stop();
});

test("however often it changes while servers are behind, the ring stays small and servers keep their key", async () => {
  const world = await following();
  if (world.kubelet) world.kubelet.delayMs = 3_600_000;
  for (let count = 0; count < 40; count++) {
    await putKey(world, letterOf(count));
    await world.pass(3_000);
  }
  assert.ok((await ringOf(world)).keys.length <= 4, (await phases(world)).join());
  assert.deepEqual(acceptedIn(world), ["office a"]);
  await world.stop();
});

test("a ring that is full, since nobody answers, is said and stays as it is", async () => {
  const world = await following();
  for (const { name } of world.kubelet?.running ?? []) world.kubelet?.silent.add(name);
  for (let count = 0; count < 36; count++) {
    await putKey(world, letterOf(count));
    await world.pass(18_000);
  }
  assert.match((await world.condition("Bind9Instance", NAME, "Synced")) ?? "", /secretRef: a ring has at most 32 keys/);
  assert.equal((await ringOf(world)).keys.length, 32);
  assert.deepEqual(acceptedIn(world), ["office a"]);
  await world.stop();
});

const unusable: readonly (readonly [why: string, change: (world: BindWorld) => Promise<unknown>, says: RegExp])[] = [
  ["the Secret is gone", (world) => world.remove("Secret", "mine"), /there is no Secret net\/mine/],
  [
    "it has no fields",
    (world) => world.patch("Secret", "mine", { data: null }),
    /the Secret net\/mine: there is neither rndc\.key nor key-name/,
  ],
  [
    "its file is malformed",
    (world) => world.patch("Secret", "mine", { stringData: { "rndc.key": "key office" } }),
    /the Secret net\/mine: /,
  ],
  [
    "its algorithm is weak",
    (world) => world.patch("Secret", "mine", { stringData: { "rndc.key": keyFile(secretOf("b"), "hmac-md5") } }),
    /too weak/,
  ],
];

for (const [why, change, says] of unusable) {
  test(`where ${why} it is said, and what runs stays as it is`, async () => {
    const world = await following();
    const objects = async () => [
      await world.get("Deployment", NAME),
      await world.get("ConfigMap", NAME),
      await world.get("Secret", `${NAME}-rndc-ring`),
    ];
    const before = await objects();
    await change(world);
    await world.pass(SETTLE_MS);
    const said = (await world.condition("Bind9Instance", NAME, "Synced")) ?? "";
    assert.match(said, /^False ReferenceProblem spec\.global\.rndcKeys\.secretRef: /);
    assert.match(said, says);
    assert.ok(!said.includes(secretOf("a")) && !said.includes(secretOf("b")));
    assert.equal(await world.condition("Bind9Instance", NAME, "Ready"), "True Available");
    assert.deepEqual(await objects(), before);
    await world.stop();
  });
}

test("a Secret that comes later is picked up; until then nothing is started", async () => {
  const world = await BindWorld.begin();
  await world.create("Bind9Cluster", "dns", { spec: FOLLOWS });
  await world.pass(SETTLE_MS);
  assert.deepEqual(await world.names("Deployment"), []);
  await world.create("Secret", "mine", { stringData: { "rndc.key": keyFile(SHORT_SECRET) } });
  await world.pass(SETTLE_MS);
  assert.equal(await world.condition("Bind9Instance", NAME, "Ready"), "True Available");
  assert.match((await world.condition("Bind9Instance", NAME, "Warning")) ?? "", /shorter than its HMAC/);
  await world.stop();
});

test("from a key of our own to somebody else's and back; one that cannot be followed takes nothing away", async () => {
  const world = await BindWorld.begin();
  await world.create("Bind9Cluster", "dns", { spec: { primary: {} } });
  await world.pass(SETTLE_MS);
  await world.patch("Bind9Cluster", "dns", { spec: FOLLOWS });
  await world.pass(SETTLE_MS);
  assert.match((await world.condition("Bind9Instance", NAME, "Synced")) ?? "", /there is no Secret net\/mine/);
  assert.deepEqual(await world.names("RndcKey"), [`${NAME}-rndc`], "the key that servers have stays");
  await world.create("Secret", "mine", { stringData: { "rndc.key": keyFile(secretOf("a"), "hmac-sha256", "office") } });
  await world.pass(2 * SETTLE_MS);
  assert.deepEqual(await world.names("RndcKey"), []);
  assert.deepEqual(await phases(world), ["office a accepted"]);
  assert.equal(await world.condition("Bind9Instance", NAME, "Ready"), "True Available");
  await world.patch("Bind9Cluster", "dns", { spec: { global: null } });
  await world.pass(2 * SETTLE_MS);
  assert.equal(await world.ownerOf("Secret", `${NAME}-rndc-ring`), `RndcKey/${NAME}-rndc`);
  assert.equal(await world.condition("Bind9Instance", NAME, "Synced"), "True ReconcileSuccess");
  assert.equal(await world.condition("Bind9Instance", NAME, "Ready"), "True Available");
  await world.stop();
});

test("a setting that cannot be followed is said where it stands and where it counts, and what runs stays as it is", async () => {
  const world = await BindWorld.begin();
  await world.create("Bind9Cluster", "dns", {
    spec: { global: { rndcKeys: { autoRotate: true, rotateAfter: "720h" } }, primary: {} },
  });
  await world.pass(SETTLE_MS);
  const before = [await world.get("RndcKey", `${NAME}-rndc`), await world.get("Deployment", NAME)];
  const table: readonly (readonly [setting: object, says: RegExp])[] = [
    [{ rotateAfter: "5m" }, /spec\.global\.rndcKeys\.rotateAfter: must be at least 1h/],
    [
      {
        rotateAfter: "720h",
        secret: { metadata: { name: "x" }, data: { "rndc.key": Buffer.from("nonsense").toString("base64") } },
      },
      /spec\.global\.rndcKeys\.secret: /,
    ],
  ];
  for (const [setting, says] of table) {
    await world.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: setting } } });
    await world.pass(SETTLE_MS);
    assert.match((await world.condition("Bind9Cluster", "dns", "Synced")) ?? "", says);
    assert.match((await world.condition("Bind9Instance", NAME, "Synced")) ?? "", says);
    assert.deepEqual([await world.get("RndcKey", `${NAME}-rndc`), await world.get("Deployment", NAME)], before);
  }
  assert.equal(await world.condition("Bind9Instance", NAME, "Ready"), "True Available");
  await world.stop();
});

test("an instance whose cluster is not there decides nothing", async () => {
  const world = await BindWorld.begin();
  await world.create("Bind9Instance", "lone", { spec: { clusterRef: "later", role: "primary" } });
  await world.pass(SETTLE_MS);
  assert.match(
    (await world.condition("Bind9Instance", "lone", "Synced")) ?? "",
    /^False ReferenceProblem spec\.clusterRef: there is no Bind9Cluster net\/later$/,
  );
  assert.deepEqual(await world.names("RndcKey"), []);
  await world.create("Bind9Cluster", "later", { spec: {} });
  await world.pass(SETTLE_MS);
  assert.equal(await world.condition("Bind9Instance", "lone", "Ready"), "True Available");
  await world.stop();
});

test("a Secret that an RndcKey publishes for others is followed, with a warning; that of its own key is refused", async () => {
  const world = await BindWorld.begin({ hasKeyController: true });
  await world.create("Bind9Cluster", "dns", { spec: { primary: {} } });
  await world.pass(SETTLE_MS);
  const follows = (name: string) => ({ spec: { rndcKeys: { secretRef: { name } } } });
  const { spec } = follows(`${NAME}-rndc`);
  await world.create("Bind9Instance", "other", { spec: { clusterRef: "dns", role: "primary", ...spec } });
  await world.pass(SETTLE_MS);
  assert.equal(await world.condition("Bind9Instance", "other", "Ready"), "True Available");
  assert.match(
    (await world.condition("Bind9Instance", "other", "Warning")) ?? "",
    /spec\.rndcKeys\.secretRef names the Secret of RndcKey dns-primary-0-rndc, which is rotated here/,
  );
  const other = await world.get("Bind9Instance", "other");
  assert.equal(fieldAt(other, ["status", "rndcKey", "name"]), `${NAME}-rndc`);
  assert.match(
    followedKeyItem(other ?? assert.fail())?.exceptions[0]?.words ?? "",
    /that of RndcKey dns-primary-0-rndc/,
  );
  await world.patch("Bind9Instance", NAME, follows(`${NAME}-rndc`));
  await world.pass(SETTLE_MS);
  assert.match((await world.condition("Bind9Instance", NAME, "Synced")) ?? "", /of this instance's own key/);
  assert.deepEqual(await world.names("RndcKey"), [`${NAME}-rndc`], "what servers have stays");
  await world.stop();
});

test("pods start without a Secret that its owner has taken away, and with what was followed of it", async () => {
  const world = await following();
  await world.remove("Secret", "mine");
  await world.pass(SETTLE_MS);
  assert.match((await world.condition("Bind9Instance", NAME, "Synced")) ?? "", /there is no Secret net\/mine/);
  const volumes = fieldAt(await world.get("Deployment", NAME), ["spec", "template", "spec", "volumes"]);
  const key = (volumes as readonly { readonly name: string; readonly secret?: { readonly optional?: boolean } }[]).find(
    ({ name }) => name === "key",
  );
  assert.equal(key?.secret?.optional, true);
  assert.deepEqual(await phases(world), ["office a accepted"]);
  await world.stop();
});
