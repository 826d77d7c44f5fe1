import assert from "node:assert/strict";
import { NotFound } from "../../src/kube/errors.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { type ClockedStage, clockedStory, type Story } from "./restart-stage.ts";
import { Shop } from "./shop.ts";

const KEY = { namespace: "default", name: "keyturn-fingerprint-key" };
const PATIENCE_MS = 600_000;
const WAITING = 'keyturn_restart_waiting{reason="OtherOperator"}';

const writesOf = (stage: ClockedStage): number =>
  stage.traffic().filter((request) => request === "PATCH deployments").length;

/** One workload that is known, with what it uses. */
async function known(stage: ClockedStage): Promise<Shop> {
  const shop = new Shop(stage);
  await shop.secret("db", { password: "one" });
  await shop.workload("web");
  await shop.adopted("web");
  await stage.calm();
  return shop;
}

/** Digests are kept under a key of the operator's own, which may be lost, and which another one may not have. */
export const keyStories: readonly Story<ClockedStage>[] = [
  clockedStory("an operator with another key takes the state over once, and no change is lost", async (stage) => {
    const shop = await known(stage);
    stage.traffic();
    await stage.addForeignOperator("kube-system");
    await stage.calm();
    assert.equal(writesOf(stage), 1, "it is written by the newcomer, and by nobody in answer");
    assert.equal(await stage.metric(WAITING), "1", "the first one stands aside");
    assert.equal((await shop.events("OtherOperator")).length, 1);
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1, "Deployment", "by the newcomer alone");
    assert.equal(writesOf(stage), 1);
  }),
  clockedStory(
    "when the other operator is gone, what it left undone is rolled out after ten minutes",
    async (stage) => {
      const shop = await known(stage);
      await stage.addForeignOperator("kube-system");
      await stage.calm();
      await stage.stopNewest();
      await shop.secret("db", { password: "two" });
      await shop.staysAt("web", 0, "Deployment", "the other one has its time");
      await stage.advance(PATIENCE_MS);
      await shop.rolled("web", 1);
      assert.equal(await stage.metric(WAITING), "0");
      await shop.secret("db", { password: "three" });
      await shop.rolled("web", 2);
      await shop.staysAt("web", 2);
    },
  ),
  clockedStory("a label on what is used is nothing that another operator has left undone", async (stage) => {
    const shop = await known(stage);
    await stage.addForeignOperator("kube-system");
    await stage.calm();
    await shop.merge(secretType, "db", { metadata: { labels: { touched: "yes" } } });
    await stage.advance(2 * PATIENCE_MS);
    await shop.staysAt("web", 0);
  }),
  clockedStory("a change while there was no operator is not lost with the key", async (stage) => {
    const shop = await known(stage);
    await stage.stopOperator();
    await stage.kube.delete(secretType, KEY);
    await stage.startOperator();
    await shop.staysAt("web", 0, "Deployment", "nothing was written meanwhile");
    await stage.stopOperator();
    await stage.kube.delete(secretType, KEY);
    await shop.secret("db", { password: "two" });
    await stage.startOperator();
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1);
  }),
  clockedStory("a key that is deleted while the operator runs is written again", async (stage) => {
    const shop = await known(stage);
    const { data } = await stage.kube.get(secretType, KEY);
    await stage.kube.delete(secretType, KEY);
    await stage.until("the key to be there again", () => isThere(stage));
    assert.deepEqual((await stage.kube.get(secretType, KEY)).data, data);
    await stage.restartOperator();
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1);
  }),
];

async function isThere({ kube }: ClockedStage): Promise<boolean> {
  try {
    await kube.get(secretType, KEY, { metadataOnly: true });
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}
