import assert from "node:assert/strict";
import { test } from "node:test";
import { inlineSecret } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { BindWorld } from "./bind-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NAME = "dns-primary-0";

test("a cluster, its instance and their key, all by their own controllers: made, rotated, and gone", async () => {
  const world = await BindWorld.begin({ hasKeyController: true, secrets: [`${NAME}-rndc`, `${NAME}-rndc-ring`] });
  const rndcKeys = { autoRotate: true, rotateAfter: "2h", overlap: "10m" };
  await world.create("Bind9Cluster", "dns", { spec: { global: { rndcKeys }, primary: {} } });
  await world.pass(MINUTE_MS);
  assert.equal(await world.condition("Bind9Cluster", "dns", "Ready"), "True Available");
  const first = fieldAt(await world.get("RndcKey", `${NAME}-rndc`), ["status", "atProvider", "id"]);
  const { nextRotation } = await world.choice(NAME);
  assert.match(String(nextRotation), /^2025-11-05T15:14:/);
  assert.equal(world.kubelet?.running.length, 1, "one pod, which has never been restarted");
  const [pod] = world.kubelet.running;
  await world.pass(2 * HOUR_MS + 15 * MINUTE_MS, 20_000);
  const second = fieldAt(await world.get("RndcKey", `${NAME}-rndc`), ["status", "atProvider", "id"]);
  assert.ok(second !== undefined && second !== first, "the key was replaced");
  assert.ok(String((await world.choice(NAME)).nextRotation) > String(nextRotation), "the status says when it is next");
  assert.equal(world.kubelet.running[0]?.name, pod?.name, "in the pod that was there before");
  await world.remove("Bind9Cluster", "dns");
  await world.pass(2 * MINUTE_MS);
  for (const kind of ["Bind9Instance", "RndcKey", "Deployment", "Secret"] as const) {
    assert.deepEqual(await world.names(kind), [], `${kind}s`);
  }
  await world.stop();
});

test("a key that is written out in a spec is the first one that servers and users get", async () => {
  const world = await BindWorld.begin({ hasKeyController: true, secrets: ["office", "office-ring"] });
  const spec = { global: { rndcKeys: { secret: inlineSecret("office") } }, primary: { replicas: 2 } };
  await world.create("Bind9Cluster", "dns", { spec });
  await world.pass(MINUTE_MS);
  assert.equal(await world.condition("Bind9Cluster", "dns", "Ready"), "True Available");
  const names = world.kubelet?.running.map(({ accepted }) => accepted.map(({ name }) => name).join());
  assert.deepEqual(names, ["bindy-operator", "bindy-operator"]);
  world.operator.traffic();
  await world.pass(10 * MINUTE_MS);
  assert.deepEqual(world.operator.traffic().writes, [], "at rest nothing is written");
  await world.stop();
});

test("servers that know nothing of what is in both Secrets, since those were made anew, are replaced", async () => {
  const secrets = [`${NAME}-rndc`, `${NAME}-rndc-ring`] as const;
  const world = await BindWorld.begin({ hasKeyController: true, secrets });
  await world.create("Bind9Cluster", "dns", { spec: { primary: {} } });
  await world.pass(MINUTE_MS);
  const pods = (): readonly string[] => (world.kubelet?.running ?? []).map(({ name }) => name);
  const isLetIn = async (): Promise<boolean> => {
    const published = fieldAt(await world.get("Secret", secrets[0]), ["data", "key-name"]);
    const name = Buffer.from(String(published), "base64").toString();
    return (world.kubelet?.running ?? []).every(({ accepted }) => accepted.some((key) => key.name === name));
  };
  const [first] = pods();
  await world.remove("Secret", secrets[1]);
  await world.pass(MINUTE_MS);
  await world.remove("Secret", secrets[0]);
  await world.pass(MINUTE_MS);
  assert.deepEqual(pods(), [first], "one of them brings back what the other one lacks");
  for (const secret of secrets) await world.remove("Secret", secret);
  await world.pass(2 * MINUTE_MS);
  assert.equal(pods().length, 1);
  assert.notEqual(pods()[0], first);
  assert.ok(await isLetIn());
  const [second] = pods();
  await world.remove("RndcKey", `${NAME}-rndc`);
  await world.pass(3 * MINUTE_MS);
  assert.notEqual(pods()[0], second, "the same with the RndcKey, which takes both along");
  assert.ok(await isLetIn());
  assert.equal(await world.condition("Bind9Instance", NAME, "Synced"), "True ReconcileSuccess");
  await world.stop();
});

test("what keeps a key from being published is said at the instance too, and nothing is started on it", async () => {
  const world = await BindWorld.begin({ hasKeyController: true, secrets: [`${NAME}-rndc`, `${NAME}-rndc-ring`] });
  await world.create("Secret", `${NAME}-rndc`, { stringData: { mine: "yes" } });
  await world.create("Bind9Cluster", "dns", { spec: { primary: {} } });
  await world.pass(MINUTE_MS);
  const said = (await world.condition("Bind9Instance", NAME, "Synced")) ?? "";
  assert.match(said, /^False ObjectNotOurs metadata\.name: .*; status\.rndcKey: RndcKey dns-primary-0-rndc: /);
  assert.deepEqual(await world.names("Deployment"), []);
  await world.remove("Secret", `${NAME}-rndc`);
  await world.pass(10 * MINUTE_MS, 10_000);
  assert.equal(await world.condition("Bind9Instance", NAME, "Synced"), "True ReconcileSuccess");
  assert.equal(await world.condition("Bind9Instance", NAME, "Ready"), "True Available");
  await world.stop();
});
