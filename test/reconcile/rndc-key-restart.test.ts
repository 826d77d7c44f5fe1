import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import type { CustomResource } from "../../src/api/custom-resource.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import { RESTART_AGAIN_ANNOTATION } from "../../src/restart/annotations.ts";
import { RestartKeyWorld } from "./rndc-key-restart-world.ts";
import { isSame, NAME, NAMESPACE } from "./rndc-key-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FORCE = "rndckey.keyturn.dev/force-rotation";

async function begun(context: TestContext): Promise<RestartKeyWorld> {
  const world = await RestartKeyWorld.begin(0);
  context.after(() => world.stop());
  return world;
}

/** With the first key, and one Deployment that runs on it. */
async function running(context: TestContext): Promise<RestartKeyWorld> {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  await world.run("web");
  await world.pass(10_000);
  assert.equal(world.files.running.length, 2);
  return world;
}

test("a key that is due: everybody who mounts it is restarted once, with nothing asked of the workloads", async (context) => {
  const world = await running(context);
  await world.run("cache", { annotations: { "keyturn.dev/restartOnChange": "true" } });
  await world.run("store", { kind: "StatefulSet", replicas: 2 });
  await world.pass(MINUTE_MS, 5_000);
  const [before, id] = [await world.publishedKey(), await world.activeId()];
  assert.equal(await world.rotatedAt("web"), undefined, "nothing is restarted for its mark");
  await world.patch({ spec: { rotation: { frequency: "3m", ttl: "3m" } } });
  await world.pass(3 * MINUTE_MS, 5_000);
  assert.notEqual(await world.activeId(), id);
  assert.ok(!isSame(await world.publishedKey(), before));
  const { name, algorithm } = await world.publishedKey();
  assert.deepEqual([name, algorithm], [before.name, before.algorithm], "one name for all keys");
  for (const deployment of ["web", "cache"]) {
    assert.equal(await world.rollouts(deployment), 1, deployment);
    assert.equal(await world.markOf(deployment), NAME);
  }
  const publishedAt = (await world.secret())?.metadata.annotations?.["keyturn.dev/published-at"];
  assert.equal(await world.rotatedAt("web"), publishedAt);
  assert.equal(await world.rotatedAt("store", "StatefulSet"), publishedAt);
  await world.assertMoved();
  assert.doesNotMatch(await world.said(), /new key/, "all is said");
});

test("while restarts are under way the resource says for whom, and the old key is kept", async (context) => {
  const world = await running(context);
  await world.annotate({ [FORCE]: "now" });
  for (let looks = 0; looks < 10 && !(await world.said()).includes("new key"); looks++) await world.pass(1_000);
  assert.match(
    await world.said(),
    /Not everybody runs on the new key yet: Deployment default\/web \(is \S+ be restarted/,
  );
  assert.match(await world.problem(), /^True/, "which is how things are");
  const refused = world.refusedAt ?? assert.fail("the old pods do not know the new key");
  await world.pass(MINUTE_MS);
  assert.ok((world.refusedAt ?? 0) - refused < 30_000, "only until the rollout is over");
  assert.ok(await world.isEverywhere());
  assert.doesNotMatch(await world.said(), /new key/);
  assert.equal((await world.ring()).length, 1, "no overlap was promised");
  assert.equal(await world.rollouts("web"), 1);
});

test("an instance of ours: the only failures are between the publication and the end of the rollout", async (context) => {
  const world = await begun(context);
  const make = (type: CustomResource, name: string, spec: object) =>
    world.kube.create<KubeObject>(type, {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name, namespace: NAMESPACE },
      spec,
    } as KubeObject);
  await make(bind9Cluster, "dns", {});
  const rndcKeys = { strategy: "Restart", autoRotate: true, rotateAfter: "2m" };
  await make(bind9Instance, "web", { clusterRef: "dns", role: "primary", replicas: 2, rndcKeys });
  await world.pass(MINUTE_MS, 2_000);
  assert.deepEqual([world.files.running.length, await world.markOf("web")], [2, NAME], "marked before it starts");
  assert.equal(world.refusedAt, undefined);
  const before = await world.publishedKey();
  await world.pass(80_000, 200);
  assert.ok(!isSame(await world.publishedKey(), before));
  assert.equal(await world.rollouts("web"), 1);
  const publishedAt = Date.parse(String(await world.rotatedAt("web")));
  const lastedMs = (world.refusedAt ?? assert.fail("old pods refuse the new key")) - publishedAt;
  assert.ok(lastedMs < 3_000, `${lastedMs} ms`);
  await world.assertMoved();
});

test("who has opted out is left alone, and the resource says so", async (context) => {
  const world = await running(context);
  await world.run("own", { annotations: { "keyturn.dev/restartOnChange": "false" } });
  await world.pass(10_000);
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(MINUTE_MS);
  assert.deepEqual([await world.rollouts("web"), await world.rollouts("own")], [1, 0]);
  assert.equal(await world.markOf("own"), undefined);
  assert.match(await world.said(), /Not restarted for another key, as .*restartOnChange says: Deployment default\/own/);
  assert.equal((await world.status()).retiredKeys, undefined, "nobody waits for it");
  assert.match(await world.problem(), /^True/);
});

test("one that is made after everybody was prepared, and starts with the old key, is found and restarted", async (context) => {
  const world = await running(context);
  const before = await world.publishedKey();
  let secrets = 0;
  // To the ring, to the ring once everybody is prepared, and then to the published Secret, which it does not come to.
  world.operator.killBy((write) => (write === "PUT secrets" && ++secrets === 3 ? "before" : undefined));
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(30_000);
  assert.ok(world.operator.isDead);
  assert.ok(isSame(await world.publishedKey(), before), "nothing was published");
  assert.deepEqual(
    (await world.ring()).map(({ phase }) => phase),
    ["accepted", "accepted"],
  );
  await world.run("late");
  await world.pass(5_000);
  world.begunAnew();
  await world.pass(2 * MINUTE_MS);
  assert.deepEqual([await world.rollouts("web"), await world.rollouts("late")], [1, 1]);
  assert.equal(await world.markOf("late"), NAME);
  const { annotations } = (await world.workload("late")).metadata;
  assert.equal(annotations?.[RESTART_AGAIN_ANNOTATION], undefined, "asked for, and taken back");
  await world.assertMoved();
});

test("a pod that started after the rotation with an old mount is found by asking it, and replaced", async (context) => {
  const world = await running(context);
  const older = (await world.secret())?.data as Readonly<Record<string, string>>;
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  world.files.startsWith = older;
  await world.pass(20_000);
  assert.equal(await world.rollouts("web"), 1, "it was restarted, and for nothing");
  assert.equal(await world.isEverywhere(), false);
  assert.match(await world.said(), /web \(has pods that were started with the old key\)/);
  world.files.startsWith = undefined;
  await world.pass(2 * MINUTE_MS);
  assert.equal(await world.rollouts("web"), 2);
  await world.assertMoved();
});

test("a rollout that does not come to its end is told of, counted and begun again", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  await world.run("web", { spec: { progressDeadlineSeconds: 30 } });
  await world.pass(10_000);
  await world.annotate({ [FORCE]: "now" });
  await world.pass(3_000);
  const ready = (isReady: string | null) => ({
    spec: { template: { metadata: { annotations: { "embedded.keyturn.dev/ready": isReady } } } },
  });
  await world.patchWorkload("web", ready("false"));
  await world.pass(2 * MINUTE_MS);
  const problem =
    /^False KeyNotReady: not everybody runs on the new key: Deployment default\/web \(its rollout does not/;
  assert.match(await world.problem(), problem);
  assert.equal((await world.events("KeyNotReady")).length, 1);
  assert.equal(await world.stuck(), 1);
  const first = await world.rotatedAt("web");
  await world.pass(12 * MINUTE_MS, 10_000);
  assert.notEqual(await world.rotatedAt("web"), first, "one restart more was asked for");
  assert.equal(await world.stuck(), 2);
  await world.patchWorkload("web", ready(null));
  await world.pass(2 * MINUTE_MS);
  assert.match(await world.problem(), /^True/);
  assert.ok(await world.isEverywhere());
});

test("one that could not be restarted keeps the old key published", async (context) => {
  const world = await running(context);
  const before = await world.publishedKey();
  await world.patchWorkload("web", { metadata: { annotations: { "keyturn.dev/restart-stopped": "by hand" } } });
  await world.annotate({ [FORCE]: "now" });
  await world.pass(30_000);
  assert.ok(isSame(await world.publishedKey(), before));
  assert.match(
    await world.problem(),
    /^False KeyNotReady: the key is not replaced yet: .*web \(its restarts are stopped/,
  );
  await world.patchWorkload("web", { metadata: { annotations: { "keyturn.dev/restart-stopped": null } } });
  await world.pass(2 * MINUTE_MS);
  assert.ok(!isSame(await world.publishedKey(), before));
  assert.ok(await world.isEverywhere());
});

type Wish = Parameters<RestartKeyWorld["run"]>[1];
const OFTEN = "keyturn.dev/restart-max-per-hour";
const unrestartable: readonly (readonly [why: string, wish: Wish, mend: object, says: RegExp])[] = [
  ["is paused", { spec: { paused: true } }, { spec: { paused: null } }, /is paused/],
  [
    "was restarted as often as it may be",
    { annotations: { [OFTEN]: "1" } },
    { metadata: { annotations: { [OFTEN]: null } } },
    /web \(it was restarted as often as it may be within an hour/,
  ],
];

for (const [why, wish, mend, says] of unrestartable) {
  test(`a Deployment that ${why} keeps the old key published`, async (context) => {
    const world = await begun(context);
    await world.create();
    await world.pass(5_000);
    const { spec = {}, ...rest } = wish ?? {};
    await world.run("web", rest);
    await world.pass(10_000);
    await world.annotate({ [FORCE]: "first" });
    await world.pass(MINUTE_MS);
    await world.assertMoved("the first one");
    await world.patchWorkload("web", { spec });
    const before = await world.publishedKey();
    await world.annotate({ [FORCE]: "second" });
    await world.pass(5 * MINUTE_MS, 5_000);
    assert.ok(isSame(await world.publishedKey(), before));
    assert.ok(await world.isEverywhere(), "nobody is turned away");
    assert.match(await world.problem(), /^False KeyNotReady: the key is not replaced yet: /);
    assert.match(await world.problem(), says);
    await world.patchWorkload("web", mend as Readonly<Record<string, unknown>>);
    await world.pass(3 * MINUTE_MS, 2_000);
    assert.ok(!isSame(await world.publishedKey(), before));
    await world.assertMoved("the second one");
  });
}

test("so does a StatefulSet whose pods somebody has to delete", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  await world.run("web", { kind: "StatefulSet", spec: { updateStrategy: { type: "OnDelete" } } });
  await world.pass(10_000);
  const before = await world.publishedKey();
  await world.annotate({ [FORCE]: "now" });
  await world.pass(2 * MINUTE_MS, 5_000);
  assert.ok(isSame(await world.publishedKey(), before));
  assert.match(await world.problem(), /^False KeyNotReady: .*web \(its pods run on until somebody deletes them/);
});

test("a restart that others have used up since is waited for, and then had", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  await world.run("web", { annotations: { [OFTEN]: "1" } });
  await world.pass(10_000);
  const before = await world.publishedKey();
  // To the ring, and again once everybody is prepared; then the Secret, which it does not come to.
  let secrets = 0;
  world.operator.killBy((write) => (write === "PUT secrets" && ++secrets === 3 ? "before" : undefined));
  await world.annotate({ [FORCE]: "now" });
  await world.pass(30_000);
  assert.ok(world.operator.isDead && isSame(await world.publishedKey(), before));
  await world.spendRestart("web");
  world.begunAnew();
  await world.pass(2 * MINUTE_MS);
  assert.ok(isSame(await world.publishedKey(), before));
  assert.match(
    await world.problem(),
    /^False KeyNotReady: .*web \(it was restarted as often as it may be within an hour/,
  );
  await world.pass(60 * MINUTE_MS, 20_000);
  assert.ok(!isSame(await world.publishedKey(), before));
  await world.assertMoved();
  assert.equal((await world.workload("web")).metadata.annotations?.["keyturn.dev/restart-stopped"], undefined);
});

test("a window of the workload puts off its restart, and the resource says so", async (context) => {
  const world = await begun(context);
  await world.create();
  await world.pass(5_000);
  // It is a quarter past one.
  await world.run("web", { annotations: { "keyturn.dev/restart-window": "30 13 * * *; 1h" } });
  await world.pass(10_000);
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(10 * MINUTE_MS, 20_000);
  assert.equal(await world.rollouts("web"), 0);
  assert.match(
    await world.said(),
    /Not everybody runs on the new key yet: Deployment default\/web \(waits for its window\)/,
  );
  await world.pass(10 * MINUTE_MS, 20_000);
  assert.equal(await world.rollouts("web"), 1);
  await world.assertMoved();
});

test("while the restart controller is off the key is not replaced, unless it is compromised, and the resource says why", async (context) => {
  const world = await running(context);
  await world.operator.stop();
  world.isOff = true;
  world.begunAnew();
  await world.pass(5_000);
  assert.match(
    await world.said(),
    /The restart controller is off: switch it on .*; until then the key is not replaced/,
  );
  const before = await world.publishedKey();
  await world.annotate({ [FORCE]: "now" });
  await world.pass(MINUTE_MS);
  assert.ok(isSame(await world.publishedKey(), before));
  assert.match(
    await world.problem(),
    /^False KeyNotReady: the key is not replaced yet: the restart controller \(is off/,
  );
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(2 * MINUTE_MS);
  assert.ok(!isSame(await world.publishedKey(), before));
  assert.match(await world.problem(), /^False KeyNotReady: .*web \(is restarted by nobody while/);
  await world.operator.stop();
  world.isOff = false;
  world.begunAnew();
  await world.pass(3 * MINUTE_MS);
  assert.ok(await world.isEverywhere(), "and whoever switches it on sees them moved");
  assert.match(await world.problem(), /^True/);
});

test("the mark goes with the resource, and with the strategy", async (context) => {
  const world = await running(context);
  await world.annotate({ [FORCE]: "now" });
  await world.pass(MINUTE_MS);
  assert.equal(await world.markOf("web"), NAME);
  await world.patch({ spec: { strategy: "Overlap" } });
  await world.pass(20_000);
  assert.equal(await world.markOf("web"), undefined);
  await world.patch({ spec: { strategy: "Restart" } });
  await world.annotate({ [FORCE]: "again" });
  await world.pass(MINUTE_MS);
  assert.equal(await world.markOf("web"), NAME);
  await world.kube.delete(rndcKey, { namespace: NAMESPACE, name: NAME });
  await world.pass(MINUTE_MS);
  assert.equal((await world.kube.list(rndcKey)).items.length, 0);
  assert.equal(await world.markOf("web"), undefined);
});

test("at rest nothing is asked of anybody", async (context) => {
  const world = await running(context);
  await world.annotate({ "keyturn.dev/compromised": "leaked" });
  await world.pass(2 * MINUTE_MS);
  await world.assertMoved();
  world.operator.traffic();
  await world.pass(HOUR_MS, 20_000);
  const { writes, reads } = world.operator.traffic();
  assert.deepEqual([writes, reads], [[], []]);
});
