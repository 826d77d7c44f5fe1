import assert from "node:assert/strict";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { templateAway, undo } from "./once-stories.ts";
import { type ClockedStage, clockedStory, type Story, story } from "./restart-stage.ts";
import { Shop } from "./shop.ts";

/** One after the other, each at its leisure where the server knows of that. */
const SLOWLY = { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }, minReadySeconds: 1 };

/** What others take off a pod template before a restart is over. */
export const againStories: readonly Story<ClockedStage>[] = [
  story(
    "a restart that is undone before it is over is begun again, and what changes then is rolled out",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "one" });
      await shop.workload("web", { replicas: 4, spec: SLOWLY });
      await shop.adopted("web");
      const former = (await shop.complete("web", 4)).map(({ metadata }) => metadata.uid);
      const before = await shop.get("Deployment", "web");
      await shop.secret("db", { password: "two" });
      await stage.until("it to be restarted", async () => (await shop.digests("web")) !== undefined);
      await undo(stage, before);
      await stage.until("it to be begun again", async () => (await shop.digests("web")) !== undefined);
      const after = await shop.complete("web", 4);
      assert.ok(after.every(({ metadata }) => !former.includes(metadata.uid)));
      await stage.calm();
      assert.equal((await shop.events("Restarted")).length, 2, "begun, and begun again");
      await undo(stage, before);
      await shop.secret("db", { password: "three" });
      await stage.until("the change of after that", async () => (await shop.events("Restarted")).length === 3);
      await shop.complete("web", 4);
    },
  ),
  story("a restart that is undone to the one before it is begun again", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { replicas: 4, spec: SLOWLY });
    await shop.adopted("web");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    const former = (await shop.complete("web", 4)).map(({ metadata }) => metadata.uid);
    await stage.calm();
    const before = await shop.get("Deployment", "web");
    const earlier = await shop.digests("web");
    await shop.secret("db", { password: "three" });
    await stage.until("it to be restarted", async () => (await shop.digests("web")) !== earlier);
    await undo(stage, before);
    await stage.until("it to be begun again", async () => (await shop.digests("web")) !== earlier);
    const after = await shop.complete("web", 4);
    assert.ok(after.every(({ metadata }) => !former.includes(metadata.uid)));
    await stage.calm();
    assert.equal((await shop.events("Restarted")).length, 3, "once, begun, and begun again");
    await undo(stage, before);
    await stage.calm();
    assert.equal(await shop.digests("web"), earlier, "once it is over, whoever goes back may");
    assert.equal((await shop.events("Restarted")).length, 3);
    assert.deepEqual(await shop.events("RestartReverted"), []);
  }),
  story("a restart that is reverted before it is over is begun again, and comes to its end", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { replicas: 4, spec: SLOWLY });
    await shop.adopted("web");
    const before = (await shop.complete("web", 4)).map(({ metadata }) => metadata.uid);
    await shop.secret("db", { password: "two" });
    await stage.until("it to be restarted", async () => (await shop.digests("web")) !== undefined);
    await templateAway(shop);
    await stage.until("it to be begun again", async () => (await shop.digests("web")) !== undefined);
    const after = await shop.complete("web", 4);
    assert.ok(after.every(({ metadata }) => !before.includes(metadata.uid)));
    await stage.calm();
    assert.equal((await shop.events("Restarted")).length, 2, "begun, and begun again");
    await templateAway(shop);
    await stage.calm();
    assert.equal(await shop.digests("web"), undefined, "once it is over, whoever takes it off may");
    assert.deepEqual(await shop.events("RestartReverted"), []);
  }),
  story("who reverts it twice is not fought, and it is said", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    // Nothing moves while it is paused, so that everybody is left.
    await shop.merge(deploymentType, "web", { spec: { paused: true } });
    await shop.secret("db", { password: "two" });
    for (let time = 0; time < 2; time++) {
      await stage.until("it to be restarted", async () => (await shop.digests("web")) !== undefined);
      await templateAway(shop);
    }
    await stage.until("it to be said", async () => (await shop.events("RestartReverted")).length > 0);
    await stage.calm();
    await stage.restartOperator();
    await stage.calm();
    assert.equal(await shop.digests("web"), undefined);
    assert.equal((await shop.events("Restarted")).length, 2);
    assert.equal((await shop.events("RestartReverted")).length, 1, "once");
    await shop.merge(deploymentType, "web", { spec: { paused: false } });
    await shop.secret("db", { password: "three" });
    await shop.rolled("web", 1);
    await shop.complete("web", 2);
  }),
  clockedStory("a restart that is reverted when it is over is not begun again, and costs one look", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    await shop.complete("web", 2);
    stage.traffic();
    for (let round = 0; round < 3; round++) {
      await templateAway(shop);
      await stage.calm();
    }
    assert.equal(await shop.rolls("web"), 2, "ours, and that of who reverted it");
    assert.equal(stage.traffic().filter((request) => request === "GET pods").length, 1);
    await shop.merge(deploymentType, "web", { spec: { replicas: 4 } });
    await stage.calm();
    assert.deepEqual(stage.traffic(), []);
  }),
];
