import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isSame, NAME, RndcKeyWorld } from "./rndc-key-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FORCE = "rndckey.keyturn.dev/force-rotation";

async function begun(context: TestContext, pods?: number): Promise<RndcKeyWorld> {
  const world = await RndcKeyWorld.begin(pods);
  context.after(() => world.stop());
  return world;
}

test("the first key is published in the four fields, and every server starts with it", async (context) => {
  const world = await begun(context);
  await world.create({ secret: { name: NAME, labels: { team: "dns" } } });
  await world.pass(5_000);
  const { metadata, data, type } = (await world.secret()) ?? assert.fail();
  assert.equal(type, "Opaque");
  assert.deepEqual(Object.keys(data as object).sort(), ["algorithm", "key-name", "rndc.key", "secret"]);
  const { team, "app.kubernetes.io/managed-by": manager } = metadata.labels ?? {};
  assert.deepEqual([team, manager], ["dns", "bindy"]);
  assert.equal(metadata.labels?.["bindy.firestoned.io/rotation-enabled"], "true");
  assert.equal(metadata.annotations?.["bindy.firestoned.io/rotate-after"], "2h");
  assert.equal(metadata.annotations?.["bindy.firestoned.io/created-at"], (await world.status()).atProvider?.createdAt);
  assert.equal(world.kubelet.running.length, 2);
  await world.assertAtRest();
});

test("a rotation that is due: both keys are accepted, then the new one is published, later the old one is refused", async (context) => {
  const world = await begun(context);
  world.kubelet.delayMs = 70_000;
  await world.create();
  await world.pass(5_000);
  const [before, first] = [await world.publishedKey(), await world.activeId()];
  await world.pass(2 * HOUR_MS - 5_000, 10_000);
  await world.pass(30_000);
  assert.ok(isSame(await world.publishedKey(), before), "mounts are behind: the old key stays published");
  assert.match(await world.problem(), /^True/, "which is how things are");
  await world.pass(2 * MINUTE_MS);
  assert.ok(!isSame(await world.publishedKey(), before), "and then the new one is");
  assert.match(await world.problem(), /^True/);
  for (const { accepted } of world.kubelet.running)
    assert.ok(
      accepted.some((key) => isSame(key, before)),
      "an overlap",
    );
  await world.pass(40 * MINUTE_MS, 10_000);
  assert.notEqual(await world.activeId(), first);
  await world.assertAtRest();
});

test("a rotation by force", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  const first = await world.activeId();
  await world.annotate({ [FORCE]: "now" });
  await world.pass(10_000);
  assert.notEqual(await world.activeId(), first);
  assert.deepEqual(
    (await world.status()).retiredKeys?.map(({ id, cause }) => [id, cause]),
    [[first, "forced"]],
  );
  await world.pass(3 * HOUR_MS, 20_000);
  assert.deepEqual(world.lockouts, []);
});

test("a compromised key is refused as soon as its successor is published", async (context) => {
  const world = await begun(context);
  world.kubelet.delayMs = 20_000;
  await world.create();
  await world.pass(5_000);
  const before = await world.publishedKey();
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(2 * MINUTE_MS);
  assert.ok(!isSame(await world.publishedKey(), before));
  await world.assertAtRest();
});

test("a server that goes on accepting the old key is named until it follows", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(2 * HOUR_MS + MINUTE_MS, 20_000);
  world.kubelet.delays.set("web-1", 20 * MINUTE_MS);
  await world.pass(30 * MINUTE_MS, 20_000);
  assert.deepEqual(
    (await world.ring()).map(({ phase }) => phase),
    ["removing", "accepted"],
  );
  assert.match(await world.problem(), /^True/, "which is how things are");
  await world.pass(10 * MINUTE_MS, 20_000);
  assert.match(await world.problem(), /^False KeyNotReady: not every server refuses .*: web-1 \(still accepts it/);
  await world.pass(15 * MINUTE_MS, 20_000);
  await world.assertAtRest();
});

test("while one replica lags behind, the old key stays and the condition names the replica", async (context) => {
  const world = await begun(context, 3);
  await world.create();
  await world.pass(5_000);
  const before = await world.publishedKey();
  world.kubelet.delays.set("web-1", 15 * MINUTE_MS);
  await world.annotate({ [FORCE]: "now" });
  await world.pass(10 * MINUTE_MS, 5_000);
  assert.ok(isSame(await world.publishedKey(), before));
  const said = await world.problem();
  assert.match(said, /^False KeyNotReady: not every server accepts bindy-operator-\w{8}: web-1 \(does not know it yet/);
  assert.doesNotMatch(said, /web-0|web-2/);
  await world.pass(7 * MINUTE_MS, 5_000);
  assert.ok(!isSame(await world.publishedKey(), before));
  assert.deepEqual(world.lockouts, []);
});

test("one that does not answer keeps the key from being published, and nobody else from being told", async (context) => {
  const world = await begun(context, 3);
  await world.create();
  await world.pass(5_000);
  const before = await world.publishedKey();
  world.kubelet.silent.add("web-0");
  await world.annotate({ [FORCE]: "now" });
  await world.pass(3 * MINUTE_MS);
  assert.ok(isSame(await world.publishedKey(), before));
  assert.match(await world.problem(), /^False KeyNotReady: .*: web-0 \(10\.\S+ gave no answer in 5000 ms\)$/);
  const told = world.kubelet.running.filter(({ accepted }) => accepted.length === 2).map(({ name }) => name);
  assert.deepEqual(told.sort(), ["web-1", "web-2"]);
  world.kubelet.silent.clear();
  await world.pass(MINUTE_MS);
  assert.ok(!isSame(await world.publishedKey(), before));
  assert.deepEqual(world.lockouts, []);
});

test("pods that appear in the middle of a rotation are waited for", async (context) => {
  const world = await begun(context);
  world.kubelet.delayMs = 30_000;
  await world.create();
  await world.pass(5_000);
  await world.annotate({ [FORCE]: "now" });
  await world.pass(10_000);
  await world.addPod("web-2");
  await world.pass(10_000);
  await world.addPod("web-3");
  await world.pass(2 * MINUTE_MS);
  assert.match(await world.problem(), /^True/);
  assert.equal((await world.status()).pending, undefined);
  assert.equal(world.kubelet.running.length, 4);
  await world.pass(3 * HOUR_MS, 20_000);
  assert.deepEqual(world.lockouts, []);
});

test("a pod that appears later with an older ring is told, and until it follows the resource says so", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  const older = await world.ringData();
  await world.annotate({ [FORCE]: "now" });
  await world.pass(20_000);
  world.kubelet.startsWith = older;
  world.kubelet.delayMs = 4 * MINUTE_MS;
  await world.addPod("web-2");
  await world.pass(3 * MINUTE_MS, 5_000);
  const id = await world.activeId();
  assert.match(await world.problem(), /^False KeyNotReady: not every server accepts .*: web-2 \(does not know it yet/);
  await world.pass(2 * MINUTE_MS, 5_000);
  assert.match(await world.problem(), /^True/);
  assert.ok(world.kubelet.running.every(({ accepted }) => accepted.length === 2));
  assert.equal(await world.activeId(), id, "no key is replaced for it");
});

test("one that cannot be told, since it knows no key that is left, is named until it is gone", async (context) => {
  const world = await begun(context);
  await world.create({ rotation: undefined });
  await world.pass(5_000);
  const older = await world.ringData();
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(MINUTE_MS);
  await world.assertAtRest();
  world.kubelet.startsWith = older;
  world.kubelet.delayMs = 50_000;
  await world.addPod("web-2");
  await world.pass(20_000);
  assert.match(await world.problem(), /^False KeyNotReady: not every server accepts .*: web-2 \(hangs up on every key/);
  const id = await world.activeId();
  await world.kube.delete(
    { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true },
    { namespace: "default", name: "web-2" },
  );
  await world.pass(MINUTE_MS);
  assert.match(await world.problem(), /^True/);
  assert.equal(await world.activeId(), id, "no key is replaced for it");
});

test("an algorithm that changes is a rotation, a period that changes is none", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  const first = await world.activeId();
  await world.patch({ spec: { rotation: { frequency: "3h", ttl: "4h" } } });
  await world.pass(10_000);
  assert.equal(await world.activeId(), first);
  assert.equal((await world.secret())?.metadata.annotations?.["bindy.firestoned.io/rotate-after"], "3h");
  await world.patch({ spec: { algorithm: "hmac-sha512" } });
  await world.pass(10_000);
  assert.equal((await world.publishedKey()).algorithm, "hmac-sha512");
  await world.patch({ spec: { rotation: null } });
  await world.pass(10_000);
  const { labels = {}, annotations = {} } = (await world.secret())?.metadata ?? {};
  assert.equal(labels["bindy.firestoned.io/rotation-enabled"], undefined);
  assert.equal(annotations["bindy.firestoned.io/rotate-after"], undefined);
  assert.deepEqual(world.lockouts, []);
});

test("the first key is replaced earlier by its lead, those after it are not, and nothing is taken from the overlap", async (context) => {
  const world = await begun(context);
  await world.create({ lead: "20m" });
  await world.pass(5_000);
  const first = await world.activeId();
  await world.pass(95 * MINUTE_MS, 20_000);
  assert.equal(await world.activeId(), first);
  await world.pass(10 * MINUTE_MS, 20_000);
  const second = await world.activeId();
  assert.notEqual(second, first);
  await world.pass(20 * MINUTE_MS, 20_000);
  assert.equal((await world.ring()).length, 2);
  await world.pass(15 * MINUTE_MS, 20_000);
  await world.assertAtRest();
  await world.pass(75 * MINUTE_MS, 20_000);
  assert.equal(await world.activeId(), second, "its period is the one that was said");
  await world.pass(15 * MINUTE_MS, 20_000);
  assert.notEqual(await world.activeId(), second);
});

test("a rotation by hand leaves the old key the overlap, however often it is asked for", async (context) => {
  const world = await begun(context);
  await world.create({ rotation: { frequency: "90d", ttl: "2160h30m" } });
  await world.pass(5_000);
  for (let asked = 0; asked < 3; asked++) {
    await world.annotate({ [FORCE]: `${asked}` });
    await world.pass(MINUTE_MS, 5_000);
  }
  assert.equal((await world.ring()).length, 4);
  await world.patch({ spec: { rotation: { frequency: "180d", ttl: "4320h30m" } } });
  await world.pass(31 * MINUTE_MS, 20_000);
  await world.assertAtRest();
  await world.patch({ spec: { rotation: null } });
  await world.annotate({ [FORCE]: "once more" });
  await world.pass(55 * MINUTE_MS, 20_000);
  assert.equal((await world.ring()).length, 2);
  await world.pass(7 * MINUTE_MS, 20_000);
  await world.assertAtRest("an hour where nothing is said");
});

test("with strategy Restart there is one name, and nobody is asked", async (context) => {
  const world = await begun(context, 0);
  await world.create({ strategy: "Restart", rotation: { frequency: "2h", ttl: "2h" } });
  await world.pass(5_000);
  const before = await world.publishedKey();
  assert.equal(before.name, "bindy-operator");
  await world.pass(2 * HOUR_MS + 10_000, 20_000);
  const after = await world.publishedKey();
  assert.ok(!isSame(after, before));
  assert.equal(after.name, "bindy-operator");
  assert.deepEqual(world.commands, []);
  await world.assertAtRest();
});

test("at rest nothing is asked of anybody", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(MINUTE_MS);
  world.operator.traffic();
  world.commands = [];
  await world.pass(HOUR_MS, 20_000);
  const { writes, reads } = world.operator.traffic();
  assert.deepEqual([writes, reads, world.commands], [[], [], []]);
});

test("a resource that goes takes its ring and its Secret along", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  await world.annotate({ [FORCE]: "now" });
  await world.pass(20_000);
  const { rndcKey } = await import("../../src/api/keyturn/rndc-key.ts");
  await world.kube.delete(rndcKey, { namespace: "default", name: NAME });
  await world.pass(MINUTE_MS);
  assert.equal((await world.kube.list(rndcKey, {})).items.length, 0);
  assert.deepEqual([await world.secret(), await world.secret(`${NAME}-ring`)], [undefined, undefined]);
});
