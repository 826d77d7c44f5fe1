import assert from "node:assert/strict";
import { kindOf } from "../../src/restart/workload-kinds.ts";
import {
  type ClockedStage,
  clockedStory,
  type Fields,
  fields,
  type RestartStage,
  type Story,
  story,
} from "./restart-stage.ts";
import { Shop } from "./shop.ts";

const GRADUALLY = { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };

/** A Secret and then the template that uses it: somebody else's rollout, which does not move on. */
async function changedWhilePaused(stage: RestartStage, shop: Shop): Promise<void> {
  await pause(shop, true);
  await stage.calm();
  await shop.secret("db", { password: "two" });
  await edit(shop, "1");
  await stage.until("it to be waited for", async () => (await shop.state("web"))?.left !== undefined);
}

async function pause(shop: Shop, paused: boolean): Promise<void> {
  await shop.merge(kindOf("Deployment")?.type ?? assert.fail(), "web", { spec: { paused } });
}

/** Somebody else changes the pod template, which rolls it. */
async function edit(shop: Shop, mark: string | null, kind = "Deployment", name = "web"): Promise<void> {
  const type = kindOf(kind)?.type ?? assert.fail(kind);
  await shop.merge(type, name, { spec: { template: { metadata: { annotations: { "example.com/mark": mark } } } } });
}

/** All pods are there, and none of them from before. */
async function moved(stage: RestartStage, shop: Shop, before: readonly (string | undefined)[]): Promise<void> {
  await stage.until("all pods to be new", async () => {
    const pods = await shop.pods("web");
    return pods.length === before.length && pods.every(({ metadata }) => !before.includes(metadata.uid));
  });
}

/** A workload that is known, with the ids of its pods. */
async function known(stage: RestartStage, shop: Shop, kind = "Deployment"): Promise<readonly (string | undefined)[]> {
  await shop.secret("db", { password: "one" });
  await shop.workload("web", { kind, ...(kind === "Deployment" && { spec: GRADUALLY }) });
  await shop.adopted("web", kind);
  const pods = await shop.complete("web", 2, kind);
  await stage.calm();
  return pods.map(({ metadata }) => metadata.uid);
}

const sourceOf = async (shop: Shop, kind = "Deployment"): Promise<Fields> =>
  fields(fields((await shop.state("web", kind))?.sources)["secret/db"]);

const noneTwice = (kind: string): Story =>
  story(`a Secret, and then the ${kind} that uses it: one rollout, which is theirs`, async (stage) => {
    const shop = new Shop(stage);
    const before = await known(stage, shop, kind);
    await shop.secret("db", { password: "two" });
    await edit(shop, "1", kind);
    await moved(stage, shop, before);
    await stage.until("it to be known", async () => (await sourceOf(shop, kind)).brought === true);
    await stage.calm();
    assert.deepEqual(await shop.events("Restarted"), []);
    assert.equal(await shop.digests("web", kind), undefined, "nothing of ours is on the pod template");
    await shop.secret("db", { password: "three" });
    await stage.until("it to be restarted", async () => (await shop.digests("web", kind)) !== undefined);
    await stage.until("that to be known", async () => (await sourceOf(shop, kind)).brought === undefined);
  });

/** Rollouts of others that bring what has changed. */
export const broughtStories: readonly Story<ClockedStage>[] = [
  noneTwice("Deployment"),
  noneTwice("StatefulSet"),
  story("a Deployment, and then the Secret that it uses: two rollouts", async (stage) => {
    const shop = new Shop(stage);
    await known(stage, shop);
    await edit(shop, "1");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 2);
    await shop.complete("web", 2);
    assert.equal((await shop.events("Restarted")).length, 1);
  }),
  story("a pod template that is taken back before it is rolled out brings nothing", async (stage) => {
    const shop = new Shop(stage);
    const before = await known(stage, shop);
    await changedWhilePaused(stage, shop);
    assert.equal((await sourceOf(shop)).brought, undefined);
    await edit(shop, null);
    await pause(shop, false);
    await stage.until("it to be restarted", async () => (await shop.digests("web")) !== undefined);
    await moved(stage, shop, before);
    assert.equal((await shop.events("Restarted")).length, 1);
  }),
  story("an operator that comes later knows of it", async (stage) => {
    const shop = new Shop(stage);
    const before = await known(stage, shop);
    await changedWhilePaused(stage, shop);
    await stage.restartOperator();
    await stage.calm();
    await pause(shop, false);
    await moved(stage, shop, before);
    await stage.until("it to be known", async () => (await sourceOf(shop)).brought === true);
    await stage.calm();
    assert.equal(await shop.digests("web"), undefined);
    assert.deepEqual(await shop.events("Restarted"), []);
  }),
  clockedStory("it costs three small lists once, and one write", async (stage) => {
    const shop = new Shop(stage);
    const before = await known(stage, shop);
    stage.traffic();
    await shop.secret("db", { password: "two" });
    await edit(shop, "1");
    await moved(stage, shop, before);
    await stage.calm();
    const traffic = stage.traffic();
    const count = (request: string): number => traffic.filter((one) => one === request).length;
    assert.deepEqual([count("GET secrets"), count("PATCH deployments")], [4, 1], traffic.join(", "));
  }),
];
