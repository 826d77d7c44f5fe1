import assert from "node:assert/strict";
import type { KubeObject } from "../../src/kube/objects.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import {
  annotationsIn,
  type ClockedStage,
  clockedStory,
  type RestartStage,
  type Story,
  story,
} from "./restart-stage.ts";
import { isReady, OPT_IN, Shop } from "./shop.ts";

interface Replacement {
  /** Ready at a time. */
  readonly fewest: number;
  /** By UID, those of before included. */
  readonly seen: ReadonlySet<string | undefined>;
}

/** Until all pods of a bare ReplicaSet are others than those of before, looking closely at them meanwhile. */
async function replaced(
  stage: RestartStage,
  shop: Shop,
  what: { readonly name: string; readonly replicas: number; readonly before: readonly (string | undefined)[] },
): Promise<Replacement> {
  const { name, replicas, before } = what;
  const seen = new Set(before);
  let fewest = replicas;
  await stage.until("all of them to be others", async () => {
    for (let look = 0; look < 10; look++) {
      await stage.pause(20);
      const pods = await shop.pods(name);
      for (const { metadata } of pods) seen.add(metadata.uid);
      fewest = Math.min(fewest, pods.filter(isReady).length);
    }
    const state = await shop.state(name, "ReplicaSet");
    const pods = (await shop.pods(name)).filter(isReady);
    const isOther = pods.every(({ metadata }) => !before.includes(metadata.uid));
    return pods.length === replicas && isOther && state?.replacing === undefined;
  });
  return { fewest, seen };
}

/** Of an operator that was paused, or is far away: some of what it sends is overtaken by much. */
const LATE_MS = [0, 1500, 100, 4000, 700];

/** Pods that nobody rolls. */
export const bareStories: readonly Story<ClockedStage>[] = [
  story("the pods of a bare ReplicaSet are replaced one at a time, each successor Ready first", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("old", { kind: "ReplicaSet", replicas: 3 });
    await shop.adopted("old", "ReplicaSet");
    const before = (await shop.complete("old", 3, "ReplicaSet")).map(({ metadata }) => metadata.uid);
    await shop.secret("db", { password: "two" });
    const { fewest } = await replaced(stage, shop, { name: "old", replicas: 3, before });
    assert.ok(fewest >= 2, `${3 - fewest} were missing at a time`);
    await shop.complete("old", 3, "ReplicaSet");
  }),
  story(
    "two operators at one bare ReplicaSet: one pod short at most, and each replaced once for a change",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "one" });
      await shop.workload("old", { kind: "ReplicaSet", replicas: 4 });
      await shop.adopted("old", "ReplicaSet");
      await stage.addOperator(LATE_MS);
      let pods = await shop.complete("old", 4, "ReplicaSet");
      for (const password of ["two", "three", "four"]) {
        const before = pods.map(({ metadata }) => metadata.uid);
        await shop.secret("db", { password });
        const { fewest, seen } = await replaced(stage, shop, { name: "old", replicas: 4, before });
        assert.ok(fewest >= 3, `${4 - fewest} were missing at a time`);
        pods = await shop.complete("old", 4, "ReplicaSet");
        assert.equal(seen.size, 8, "each was replaced once");
      }
      await shop.staysAt("old", 3, "ReplicaSet", "one restart for each change");
      assert.equal((await shop.events("Restarted")).length, 3);
    },
  ),
  clockedStory("a bare ReplicaSet whose pods are replaced rests, under a new operator too", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("old", { kind: "ReplicaSet", replicas: 3 });
    await shop.adopted("old", "ReplicaSet");
    await shop.secret("db", { password: "two" });
    await stage.calm();
    const after = await shop.complete("old", 3, "ReplicaSet");
    stage.traffic();
    await stage.calm();
    assert.deepEqual(stage.traffic(), []);
    await stage.restartOperator();
    await stage.calm();
    const uids = (pods: readonly KubeObject[]): unknown[] => pods.map(({ metadata }) => metadata.uid).sort();
    assert.deepEqual(uids(await shop.pods("old")), uids(after));
  }),
  clockedStory("a bare ReplicaSet is replaced whole, although the operator dies in the midst of it", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("old", { kind: "ReplicaSet", replicas: 3 });
    await shop.adopted("old", "ReplicaSet");
    await stage.calm();
    await shop.secret("db", { password: "two" });
    for (let write = 1; write <= 8; write++) {
      stage.killAt(1, write % 2 === 0 ? "after" : "before");
      await stage.advance(15_000);
      if (stage.isDead) await stage.restartOperator();
    }
    await stage.restartOperator();
    await stage.calm();
    await shop.complete("old", 3, "ReplicaSet");
  }),
  clockedStory("a ReplicaSet whose pods do not get Ready is left with those it has", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    const template = { ...OPT_IN, "embedded.keyturn.dev/ready": "false" };
    await shop.workload("ill", { kind: "ReplicaSet", replicas: 2, template });
    await shop.adopted("ill", "ReplicaSet");
    await shop.secret("db", { password: "two" });
    await stage.advance(120_000);
    const pods = await shop.pods("ill");
    assert.equal(pods.length, 2);
    assert.ok(pods.every((pod) => annotationsIn(pod)["keyturn.dev/digests"] === undefined));
  }),
  story("a pod that nobody makes again is deleted only where that is what was asked for", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.pod("deleted", { "keyturn.dev/restartOnChange": "delete" });
    await shop.pod("kept", OPT_IN);
    await shop.pod("silent", {});
    await stage.calm();
    await shop.secret("db", { password: "two" });
    await stage.until("it to be deleted", async () => !(await shop.exists("Pod", "deleted")));
    await stage.calm();
    assert.equal(await shop.exists("Pod", "kept"), true);
    assert.equal(await shop.exists("Pod", "silent"), true);
    const events = await shop.events("NobodyMakesItAgain");
    assert.equal(events.length, 1);
    assert.match(String(events[0]?.note), /secret\/db/);
  }),
  story("a pod that is over is not deleted for what has changed since", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.pod("done", { "keyturn.dev/restartOnChange": "delete" });
    await stage.calm();
    const ref = { namespace: stage.namespace, name: "done" };
    const body = { status: { phase: "Succeeded" } };
    await stage.kube.patch(podType, ref, { type: "merge", body }, { subresource: "status" });
    await shop.secret("db", { password: "two" });
    await stage.calm();
    assert.equal(await shop.exists("Pod", "done"), true);
  }),
  story("a pod of an owner that nobody knows gets a clear event", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    const owner = { apiVersion: "example.com/v1", kind: "GameServer", name: "arena", uid: "u-1", controller: true };
    await shop.pod("arena-1", OPT_IN, { metadata: { ownerReferences: [owner] } });
    await stage.until("it to be told", async () => (await shop.events("UnknownOwner")).length === 1);
    const [event] = await shop.events("UnknownOwner");
    assert.match(String(event?.note), /GameServer arena/);
    await shop.pod("arena-2", OPT_IN, { metadata: { ownerReferences: [owner] } });
    await shop.secret("db", { password: "two" });
    await stage.calm();
    assert.equal((await shop.events("UnknownOwner")).length, 1, "once for all pods of an owner");
  }),
  story("a ReplicaSet that no Deployment made, and a kind of another group, are nobody whom we know", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    const rollout = { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name: "shop", uid: "u-1", controller: true };
    await shop.workload("shop-1", { kind: "ReplicaSet", replicas: 1, owners: [rollout] });
    await shop.workload("bare", { kind: "ReplicaSet", replicas: 1 });
    const set = { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet", name: "db", uid: "u-2", controller: true };
    await shop.pod("db-0", OPT_IN, { metadata: { ownerReferences: [set] } });
    const told = async (): Promise<string> => {
      const events = await shop.events("UnknownOwner");
      return events
        .map(({ note }) => /belongs to (\w+ [\w-]+)/.exec(String(note))?.[1])
        .sort()
        .join();
    };
    await stage.until("both to be told", async () => (await told()) === "Rollout shop,StatefulSet db");
    await shop.secret("db", { password: "two" });
    await stage.calm();
    assert.equal(await told(), "Rollout shop,StatefulSet db");
  }),
];
