import assert from "node:assert/strict";
import type { KubeObject } from "../../src/kube/objects.ts";
import { deploymentType, jobType } from "../../src/restart/workload-kinds.ts";
import { mount } from "./pod-status-objects.ts";
import { type ClockedStage, clockedStory, type RestartStage, type Story, story } from "./restart-stage.ts";
import { classVolume, OPT_IN, podSpec, Shop } from "./shop.ts";

const VAULT = { pod: podSpec(classVolume("vault")) };

async function settled(stage: RestartStage, shop: Shop, name: string, replicas: number, kind?: string) {
  await stage.calm();
  return shop.complete(name, replicas, kind);
}

/** The driver mounts these versions into all of these pods. */
async function mountAll(
  stage: RestartStage,
  pods: readonly KubeObject[],
  className: string,
  versions: Readonly<Record<string, string>>,
): Promise<void> {
  for (const pod of pods) await mount(stage.kube, pod, className, versions);
}

const knows = async (shop: Shop, name: string, className: string, kind?: string): Promise<boolean> =>
  JSON.stringify((await shop.state(name, kind)) ?? {}).includes(`class/${className}`);

/** Secrets that the Secrets Store driver rotates. */
export const classStories: readonly Story<ClockedStage>[] = [
  story("what the driver has rotated in N pods is one restart", async (stage) => {
    const shop = new Shop(stage);
    await shop.workload("web", { ...VAULT, replicas: 3 });
    const pods = await settled(stage, shop, "web", 3);
    await mountAll(stage, pods, "vault", { key: "v1" });
    await stage.until("the class to be known", () => knows(shop, "web", "vault"));
    assert.equal(await shop.rolls("web"), 0);
    for (const pod of pods) {
      await mount(stage.kube, pod, "vault", { key: "v2" });
      await stage.pause(700);
    }
    await shop.rolled("web", 1);
    const fresh = await settled(stage, shop, "web", 3);
    await mountAll(stage, fresh, "vault", { key: "v2" });
    await shop.staysAt("web", 1, "Deployment", "what fresh pods have mounted is what they started with");
  }),
  story("two classes in three pods, rotating in any order, are at most two restarts", async (stage) => {
    const shop = new Shop(stage);
    await shop.workload("web", { pod: podSpec(classVolume("vault"), classVolume("cloud")), replicas: 3 });
    let pods = await settled(stage, shop, "web", 3);
    for (const className of ["vault", "cloud"]) await mountAll(stage, pods, className, { key: "v1" });
    await stage.until(
      "both to be known",
      async () => (await knows(shop, "web", "vault")) && knows(shop, "web", "cloud"),
    );
    const order: readonly (readonly [number, string])[] = [
      [2, "vault"],
      [0, "cloud"],
      [1, "vault"],
      [1, "cloud"],
      [0, "vault"],
      [2, "cloud"],
    ];
    for (const [index, className] of order) {
      const pod = pods[index];
      if (pod) await mount(stage.kube, pod, className, { key: "v2" });
      await stage.pause(1500);
    }
    await stage.calm();
    pods = await settled(stage, shop, "web", 3);
    for (const className of ["vault", "cloud"]) await mountAll(stage, pods, className, { key: "v2" });
    await stage.calm();
    const rolls = await shop.rolls("web");
    assert.ok(rolls >= 1 && rolls <= 2, `${rolls} restarts`);
  }),
  story("a fresh pod of a StatefulSet, under its old name, is no reason", async (stage) => {
    const shop = new Shop(stage);
    await shop.workload("db", { ...VAULT, kind: "StatefulSet", replicas: 2 });
    const pods = await settled(stage, shop, "db", 2, "StatefulSet");
    await mountAll(stage, pods, "vault", { key: "v1" });
    await stage.until("the class to be known", () => knows(shop, "db", "vault", "StatefulSet"));
    const [first] = pods;
    const { namespace = "", name = "" } = first?.metadata ?? {};
    await stage.kube.delete({ ...PODS }, { namespace, name });
    const again = await settled(stage, shop, "db", 2, "StatefulSet");
    const fresh = again.find(({ metadata }) => metadata.name === name);
    assert.notEqual(fresh?.metadata.uid, first?.metadata.uid);
    if (fresh) await mount(stage.kube, fresh, "vault", { key: "v1" });
    await shop.staysAt("db", 0, "StatefulSet");
    await mountAll(stage, again, "vault", { key: "v2" });
    await shop.rolled("db", 1, "StatefulSet");
  }),
  story("an object that is added to a class was not rotated", async (stage) => {
    const shop = new Shop(stage);
    await shop.workload("web", VAULT);
    const pods = await settled(stage, shop, "web", 2);
    await mountAll(stage, pods, "vault", { key: "v1" });
    await stage.until("the class to be known", () => knows(shop, "web", "vault"));
    await mountAll(stage, pods, "vault", { key: "v1", other: "v1" });
    await shop.staysAt("web", 0);
    await mountAll(stage, pods, "vault", { key: "v1", other: "v2" });
    await shop.rolled("web", 1);
  }),
  story("a rotation while the operator was down is rolled out once", async (stage) => {
    const shop = new Shop(stage);
    await shop.workload("web", VAULT);
    const pods = await settled(stage, shop, "web", 2);
    await mountAll(stage, pods, "vault", { key: "v1" });
    await stage.until("the class to be known", () => knows(shop, "web", "vault"));
    await stage.stopOperator();
    await mountAll(stage, pods, "vault", { key: "v2" });
    await stage.startOperator();
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1);
  }),
  clockedStory("one pod status changes beside a hundred workloads: a handful of requests", async (stage) => {
    const shop = new Shop(stage);
    const names = Array.from({ length: 100 }, (_, index) => `app-${index}`);
    for (const name of names) await shop.workload(name, { ...VAULT, replicas: 1 });
    await stage.calm();
    for (const name of names) await mountAll(stage, await shop.pods(name), "vault", { key: "v1" });
    await stage.calm();
    stage.traffic();
    const [pod] = await shop.pods("app-7");
    if (pod) await mount(stage.kube, pod, "vault", { key: "v2" });
    await stage.calm();
    assert.equal(await shop.rolls("app-7"), 1);
    assert.equal(await shop.rolls("app-8"), 0);
    const requests = stage.traffic();
    assert.ok(requests.length <= 15, `${requests.length} requests: ${requests.join(", ")}`);
    await shop.merge(deploymentType, "app-8", { spec: { replicas: 2 } });
    await stage.calm();
    assert.deepEqual(stage.traffic(), [], "what goes its way costs nothing");
  }),
  // A real Job makes its pods itself, and lets go of those that it did not make.
  clockedStory("the owner of a Job that no CronJob made is unknown; that of another is found", async (stage) => {
    const shop = new Shop(stage);
    await shop.workload("nightly", { ...VAULT, kind: "CronJob" });
    const cronJob = await shop.get("CronJob", "nightly");
    const job = async (name: string, owners: readonly object[]): Promise<KubeObject> => {
      const template = { metadata: { annotations: OPT_IN }, spec: { ...VAULT.pod, restartPolicy: "Never" } };
      const body = { apiVersion: "batch/v1", kind: "Job", spec: { template } };
      const metadata = { namespace: stage.namespace, name, ownerReferences: owners };
      const { metadata: made } = await stage.kube.create(jobType, { ...body, metadata } as KubeObject);
      const owner = { apiVersion: "batch/v1", kind: "Job", name, uid: made.uid ?? "", controller: true };
      const pod = { metadata: { ownerReferences: [owner] }, spec: VAULT.pod };
      await shop.pod(`${name}-pod`, OPT_IN, pod);
      await stage.pause(2000);
      return shop.get("Pod", `${name}-pod`);
    };
    const { uid = "" } = cronJob.metadata;
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid, controller: true };
    const [made, alone] = [await job("made", [owner]), await job("alone", [])];
    await mountAll(stage, [made], "vault", { key: "v1" });
    await stage.until("the class to be known", () => knows(shop, "nightly", "vault", "CronJob"));
    await stage.pause(5000);
    await mountAll(stage, [made, alone], "vault", { key: "v2" });
    await stage.until("its template to change", async () => (await shop.digests("nightly", "CronJob")) !== undefined);
    await stage.until("it to be told", async () => (await shop.events("UnknownOwner")).length === 1);
    assert.match(String((await shop.events("UnknownOwner"))[0]?.note), /Job alone/);
  }),
];

const PODS = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
