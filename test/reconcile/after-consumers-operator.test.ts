import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { deploymentType, podType } from "../../src/restart/workload-kinds.ts";
import { OPT_IN, type RetiredEntry, SECRET, usingAll } from "./consumers-world.ts";
import { RestartingWorld } from "./restarting-world.ts";
import { WorldOperator } from "./world-operator.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const rotation = { frequency: "30m", ttl: "32m", revoke: "AfterConsumers", maxHold: "20m" };
const labels = { app: "web" };
const web = { namespace: "default", name: "web" };
const WEB = "Deployment default/web (it is paused)";

class WholeWorld extends RestartingWorld {
  async retired(): Promise<readonly RetiredEntry[]> {
    const { retiredKeys = [] } = (await this.get("orders")).status as { retiredKeys?: readonly RetiredEntry[] };
    return retiredKeys;
  }

  /** A Deployment that has opted in and mounts the Secret. */
  async deploy(spec: object = {}): Promise<void> {
    const template = { metadata: { labels, annotations: { [OPT_IN]: "true" } }, spec: usingAll(SECRET) };
    await this.kube.create<KubeObject>(deploymentType, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: web,
      spec: { replicas: 2, selector: { matchLabels: labels }, template, ...spec },
    });
    await this.clock.advance(20 * SECOND_MS);
    assert.equal((await this.podNames()).length, 2);
  }

  async podNames(): Promise<readonly string[]> {
    return (await this.kube.list(podType, { namespace: "default" })).items.map(({ metadata }) => metadata.name);
  }

  patchWeb(spec: object): Promise<KubeObject> {
    return this.kube.patch(deploymentType, web, { type: "merge", body: { spec } });
  }
}

async function started(context: { after: (done: () => Promise<void>) => void }): Promise<{
  readonly world: WholeWorld;
  readonly operator: WorldOperator;
}> {
  const world = new WholeWorld();
  const operator = await world.begin(context, rotation);
  assert.ok(await world.secretWorks("orders"));
  return { world, operator };
}

test("a rotation restarts the workload, and the key goes at its time because everybody has moved", async (context) => {
  const { world } = await started(context);
  await world.deploy();
  const before = await world.podNames();
  await world.clock.advance(30 * MINUTE_MS);
  assert.equal((await world.retired()).length, 1);
  await world.clock.advance(MINUTE_MS);
  assert.ok(
    (await world.podNames()).every((name) => !before.includes(name)),
    "all pods are new",
  );
  await world.clock.advance(2 * MINUTE_MS);
  assert.deepEqual(await world.retired(), []);
  assert.equal(world.sandbox.liveBindings().length, 1);
});

test("a workload that stands still keeps the key; when it moves, the key goes within seconds", async (context) => {
  const { world, operator } = await started(context);
  await world.deploy();
  await world.patchWeb({ paused: true });
  await world.clock.advance(30 * MINUTE_MS);
  await world.clock.advance(10 * MINUTE_MS);
  assert.deepEqual(
    (await world.retired()).map(({ heldFor }) => heldFor),
    [WEB],
  );
  operator.traffic();
  await world.clock.advance(4 * MINUTE_MS);
  const { writes, reads } = operator.traffic();
  assert.deepEqual(writes, [], "waiting writes nothing");
  const lists = reads.filter((read) => read === "GET pods").length;
  assert.ok(lists >= 3 && lists <= 8, `${lists} lists of pods in four minutes`);
  await world.patchWeb({ paused: false });
  // The rollout, and the end of the old pods.
  await world.clock.advance(50 * SECOND_MS);
  assert.deepEqual(await world.retired(), []);
  assert.ok(await world.secretWorks("orders"));
});

test("a change of the workload is a reason to look at once, also where the next look is far off", async (context) => {
  const { world, operator } = await started(context);
  await world.deploy();
  await world.patchWeb({ paused: true });
  await world.clock.advance(45 * MINUTE_MS);
  assert.equal((await world.retired())[0]?.heldFor, WEB);
  // Somewhere between two looks, which are a minute apart by now.
  operator.traffic();
  for (let second = 0; second < 70; second++) {
    await world.clock.advance(SECOND_MS);
    if (operator.traffic().reads.includes("GET pods")) break;
  }
  await world.clock.advance(5 * SECOND_MS);
  operator.traffic();
  await world.patchWeb({ replicas: 0 });
  await world.clock.advance(2 * SECOND_MS);
  assert.ok(operator.traffic().reads.includes("GET pods"));
  await world.clock.advance(40 * SECOND_MS);
  assert.deepEqual(await world.retired(), []);
});

test("an operator that starts anew during a hold goes on with it, and ends it when it must", async (context) => {
  const { world, operator } = await started(context);
  await world.deploy();
  await world.patchWeb({ paused: true });
  await world.clock.advance(40 * MINUTE_MS);
  assert.equal((await world.retired())[0]?.heldFor, WEB);
  await operator.stop();
  const other = new WorldOperator(world);
  context.after(() => other.stop());
  await world.clock.advance(5 * MINUTE_MS);
  assert.equal((await world.retired())[0]?.heldFor, WEB);
  await world.clock.advance(10 * MINUTE_MS);
  assert.deepEqual(await world.retired(), []);
});

test("switched on by annotation, on a binding that rotates already", async (context) => {
  const { world } = await started(context);
  await world.deploy();
  await world.patchWeb({ paused: true });
  const annotations = { "keyturn.dev/revoke": "AfterConsumers" };
  const body = { metadata: { annotations }, spec: { rotation: { revoke: null, maxHold: null } } };
  await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
  await world.clock.advance(35 * MINUTE_MS);
  assert.equal((await world.retired())[0]?.heldFor, WEB);
});
