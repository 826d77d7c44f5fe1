import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fieldAt } from "../../bind/fields.ts";
import { deploymentType, podType } from "../../restart/workload-kinds.ts";
import { NamedWorld } from "./named-world.fixture.ts";

async function running(context: TestContext): Promise<NamedWorld> {
  const folder = mkdtempSync(join(tmpdir(), "keyturn-named-"));
  const world = await NamedWorld.running(folder);
  context.after(async () => {
    await world.kubelet.stop();
    await world.server.stop();
    rmSync(folder, { recursive: true });
  });
  return world;
}

/** Phase, address and readiness of the pods. */
const seen = async (world: NamedWorld): Promise<readonly string[]> =>
  (await world.pods()).map(({ status }) => {
    const conditions = (fieldAt(status, ["conditions"]) ?? []) as { readonly type: string; readonly status: string }[];
    const ready = conditions.find(({ type }) => type === "Ready")?.status ?? "unknown";
    return `${fieldAt(status, ["phase"])} ${fieldAt(status, ["podIP"]) ?? "nowhere"} ${ready}`;
  });

const mounted = (world: NamedWorld, path: string, file: string): string => {
  const [start] = world.program.starts;
  assert.ok(start, "named was started");
  return readFileSync(join(dirname(dirname(start.configPath)), path, file), "utf8");
};

test("a pod waits without an address until all that it mounts is there, and is ready once its named listens", async (context) => {
  const world = await running(context);
  await world.addInstance();
  await world.putSecret("dns-primary-0-rndc", { "rndc.key": "published" });
  await world.clock.advance(60_000);
  assert.deepEqual(await seen(world), ["Pending nowhere unknown"]);
  world.program.isBroken = true;
  await world.putSecrets("one");
  assert.deepEqual(await seen(world), ["Running 127.7.7.1 False"]);
  world.program.isBroken = false;
  await world.clock.advance(500);
  assert.deepEqual(await seen(world), ["Running 127.7.7.1 True"]);
  const [pod] = await world.pods();
  assert.equal(pod?.metadata.annotations?.["embedded.keyturn.dev/dns"], "127.7.7.1:1053");
});

test("what is mounted is what the pod asks for, for nobody else's eyes, with the paths and the address that it has here", async (context) => {
  const world = await running(context);
  await world.addInstance();
  await world.putSecrets("one");
  const conf = mounted(world, "etc-keyturn-config", "named.conf");
  assert.match(conf, /listen-on port 1053 \{ 127\.7\.7\.1; \};/);
  assert.doesNotMatch(conf, /"\/etc\/keyturn|"\/var\/cache/);
  assert.ok(conf.includes(`include "${world.folder}`));
  assert.match(mounted(world, "etc-keyturn-ring", "controls.conf"), /inet 127\.7\.7\.1 port 9953/);
  assert.throws(() => mounted(world, "etc-keyturn-ring", "ring.json"), /ENOENT/);
  const [start] = world.program.starts;
  assert.equal(statSync(start?.configPath ?? "").mode & 0o777, 0o600);
});

test("a mount shows a change a moment later, as it is by then", async (context) => {
  const world = await running(context);
  await world.addInstance();
  await world.putSecrets("one");
  await world.putSecrets("two");
  await world.clock.advance(1000);
  await world.putSecrets("three");
  await world.clock.advance(499);
  assert.equal(mounted(world, "etc-keyturn-ring", "keys.conf"), "one");
  await world.clock.advance(1);
  assert.equal(mounted(world, "etc-keyturn-ring", "keys.conf"), "three");
  await world.putSecrets("four");
  await world.clock.advance(1500);
  assert.equal(mounted(world, "etc-keyturn-ring", "keys.conf"), "four");
  assert.equal(world.program.starts.length, 1, "named is not started for it");
  assert.equal(world.clock.timerCount, 0);
});

test("a named that ends is started again, and the pod is not ready meanwhile", async (context) => {
  const world = await running(context);
  await world.addInstance();
  await world.putSecrets("one");
  world.program.starts[0]?.end();
  assert.deepEqual(await seen(world), ["Running 127.7.7.1 False"]);
  await world.clock.advance(500);
  assert.deepEqual(await seen(world), ["Running 127.7.7.1 True"]);
  assert.equal(world.program.starts.length, 2);
});

test("a named that cannot be started is tried with growing pauses", async (context) => {
  const world = await running(context);
  world.program.isBroken = true;
  await world.addInstance();
  await world.putSecrets("one");
  await world.clock.advance(120_000);
  const ticks = world.program.starts.map(({ startedAt }) => startedAt);
  const pauses = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
  assert.deepEqual(pauses.slice(0, 8), [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test("named ends with its pod, and nothing is left of it", async (context) => {
  const world = await running(context);
  await world.addInstance();
  await world.putSecrets("one");
  assert.equal(world.program.running, 1);
  for (const { metadata } of await world.deployments()) {
    await world.kube.delete(deploymentType, { namespace: "net", name: metadata.name });
  }
  await world.clock.advance(1000);
  assert.deepEqual(await seen(world), []);
  assert.equal(world.program.running, 0);
  await world.kubelet.stop();
  assert.deepEqual(readdirSync(world.folder), []);
});

test("the next run finds the pods, on the addresses that they had, and they are not ready before they listen", async (context) => {
  const world = await running(context);
  for (const name of ["dns-primary-0", "dns-secondary-0"]) {
    await world.addInstance(name);
    await world.putSecrets("one", name);
  }
  const before = await seen(world);
  await world.kubelet.stop();
  assert.equal(world.program.running, 0);
  world.program.isBroken = true;
  world.startKubelet();
  const unready = before.map((words) => words.replace("True", "False"));
  assert.deepEqual(await seen(world), unready);
  world.program.isBroken = false;
  await world.clock.advance(500);
  assert.deepEqual(await seen(world), before);
  assert.deepEqual(world.program.preferred.slice(2).sort(), ["127.7.7.1", "127.7.7.2"]);
});

test("pods of others are none of its business", async (context) => {
  const world = await running(context);
  const labels = { "app.kubernetes.io/name": "bind9" };
  const spec = { containers: [{ name: "named", image: "theirs:1" }] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { namespace: "net", name: "theirs", labels }, spec };
  await world.kube.create(podType, pod);
  await world.clock.advance(1000);
  assert.match((await seen(world)).join(), /^Running 10\.244\.\d+\.\d+ True$/);
  assert.equal(world.program.starts.length, 0);
});
