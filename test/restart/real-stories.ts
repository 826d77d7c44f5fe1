import assert from "node:assert/strict";
import type { KubeObject } from "../../src/kube/objects.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { jobType, podType } from "../../src/restart/workload-kinds.ts";
import { mount } from "./pod-status-objects.ts";
import { realPaceStories } from "./real-pace-stories.ts";
import { type RestartStage, type Story, story } from "./restart-stage.ts";
import { classVolume, OPT_IN, podSpec, Shop, type WorkloadWishes } from "./shop.ts";

const { defaults } = DEFAULT_RESTART_SETTINGS;
const UNCAPPED = { maxRollouts: 0, maxRolloutsPerNamespace: 0 };

async function deployments(shop: Shop, count: number, wishes: WorkloadWishes): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `app-${index}`);
  for (const name of names) await shop.workload(name, wishes);
  return names;
}

async function eachOnce(stage: RestartStage, shop: Shop, names: readonly string[]): Promise<void> {
  for (const name of names) await shop.rolled(name, 1);
  await stage.calm();
  for (const name of names) assert.equal(await shop.rolls(name), 1, name);
}

/** What others in the field do badly, where told on the embedded server with the clock in hand: here as time passes. */
const fieldStories: readonly Story[] = [
  ...[
    { count: 1, replicas: 3 },
    { count: 10, replicas: 2 },
    { count: 50, replicas: 1 },
    { count: 200, replicas: 0 },
  ].map(({ count, replicas }) =>
    story(
      `one Secret, ${count} Deployments of ${replicas} pods: each restarted once, followed to its end`,
      async (stage) => {
        const shop = new Shop(stage);
        await shop.secret("db", { password: "one" });
        const names = await deployments(shop, count, { replicas });
        for (const name of names) await shop.adopted(name);
        await shop.secret("db", { password: "two" });
        await eachOnce(stage, shop, names);
        for (const name of names) await shop.complete(name, replicas);
      },
      UNCAPPED,
    ),
  ),
  story(
    "five updates in quick succession are one rollout",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "0" });
      await shop.workload("web");
      await shop.adopted("web");
      for (const password of ["1", "2", "3", "4", "5"]) await shop.secret("db", { password });
      await shop.rolled("web", 1);
      await shop.complete("web", 2);
      await shop.staysAt("web", 1);
    },
    { defaults: { ...defaults, pace: { ...defaults.pace, quietMs: 4000 } } },
  ),
  story("one pod status changes beside a hundred workloads: one restart", async (stage) => {
    const shop = new Shop(stage);
    const names = await deployments(shop, 100, { pod: podSpec(classVolume("vault")), replicas: 1 });
    for (const name of names) for (const pod of await shop.complete(name, 1)) await mount(stage.kube, pod, "vault", V1);
    for (const name of names) await shop.adopted(name);
    // A rotation within the second in which a pod started counts as what it started with.
    await stage.calm();
    for (const pod of await shop.pods("app-7")) await mount(stage.kube, pod, "vault", V2);
    await shop.rolled("app-7", 1);
    await stage.calm();
    for (const name of names) assert.equal(await shop.rolls(name), name === "app-7" ? 1 : 0, name);
  }),
];

/** Reloader takes 18 s here, which is when the fan-out is over. */
const PROMPT_MS = 5000;

const wideStories: readonly Story[] = [
  {
    ...story(
      "an unrelated namespace does not wait behind a fan-out of a hundred",
      async (stage) => {
        const shop = new Shop(stage);
        const name = `${stage.namespace}-other`;
        await stage.kube.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
        const until: RestartStage["until"] = (what, check) => stage.until(what, check);
        const other = new Shop({ kube: stage.kube, namespace: name, until, calm: () => stage.calm() });
        for (const one of [shop, other]) await one.secret("db", { password: "one" });
        const names = await deployments(shop, 100, { replicas: 0 });
        await other.workload("lone", { replicas: 0 });
        for (const one of names) await shop.adopted(one);
        await other.adopted("lone");
        await stage.calm();
        await shop.secret("db", { password: "two" });
        await other.secret("db", { password: "two" });
        const startedAt = performance.now();
        await other.rolled("lone", 1);
        const tookMs = performance.now() - startedAt;
        assert.ok(tookMs < PROMPT_MS, `it took ${tookMs} ms`);
        await eachOnce(stage, shop, names);
        await stage.kube.delete(namespaceType, { name });
      },
      UNCAPPED,
    ),
    isWide: true,
  },
];

const V1 = { key: "v1" };
const V2 = { key: "v2" };

/** One pod on the one node, or as many as are asked for by default. */
const ROLLED: readonly (readonly [kind: string, pods: number])[] = [
  ["StatefulSet", 2],
  ["DaemonSet", 1],
];

const rolloutStories: readonly Story[] = ROLLED.map(([kind, pods]) =>
  story(`the restart of a ${kind} is followed to its end`, async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { kind });
    await shop.adopted("web", kind);
    const before = (await shop.complete("web", pods, kind)).map(({ metadata }) => metadata.uid);
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1, kind);
    const after = await shop.complete("web", pods, kind);
    assert.ok(after.every(({ metadata }) => !before.includes(metadata.uid)));
    await shop.staysAt("web", 1, kind);
  }),
);

/** Later than whoever does not wait, by more than a change takes to get around. */
const LATE_MS = [1500];

const othersStories: readonly Story[] = [
  story(
    "two operators at one workload, whatever its kind: its template is updated once for a change",
    async (stage) => {
      const shop = new Shop(stage);
      const kinds = ["Deployment", "StatefulSet", "DaemonSet", "CronJob"];
      await shop.secret("db", { password: "one" });
      for (const kind of kinds) await shop.workload(kind.toLowerCase(), { kind });
      for (const kind of kinds) await shop.adopted(kind.toLowerCase(), kind);
      await stage.addOperator(LATE_MS);
      await shop.secret("db", { password: "two" });
      const changed = async (kind: string): Promise<boolean> =>
        (await shop.digests(kind.toLowerCase(), kind)) !== undefined;
      for (const kind of kinds) await stage.until(`the template of a ${kind} to change`, () => changed(kind));
      const generations = (): Promise<readonly unknown[]> =>
        Promise.all(kinds.map(async (kind) => (await shop.get(kind, kind.toLowerCase())).metadata.generation));
      const once = await generations();
      await stage.calm();
      assert.deepEqual(await generations(), once);
    },
  ),
  story("the owner of a Job that no CronJob made is unknown; that of another is found", async (stage) => {
    const { namespace } = stage;
    const shop = new Shop(stage);
    const pod = podSpec(classVolume("vault"));
    await shop.workload("nightly", { kind: "CronJob", pod });
    const { uid = "" } = (await shop.get("CronJob", "nightly")).metadata;
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid, controller: true };
    const spec = { template: { metadata: { annotations: OPT_IN }, spec: { ...pod, restartPolicy: "Never" } } };
    for (const [name, ownerReferences] of [["made", [owner]] as const, ["alone", []] as const]) {
      const metadata = { namespace, name, ownerReferences };
      await stage.kube.create(jobType, { apiVersion: "batch/v1", kind: "Job", metadata, spec } as KubeObject);
      const pods = async (): Promise<readonly KubeObject[]> =>
        (await stage.kube.list(podType, { namespace, labelSelector: `batch.kubernetes.io/job-name=${name}` })).items;
      await stage.until("its pod", async () => (await pods()).length === 1);
      for (const one of await pods()) await mount(stage.kube, one, "vault", V1);
    }
    await stage.until("it to be told", async () => (await shop.events("UnknownOwner")).length > 0);
    await stage.calm();
    const told = (await shop.events("UnknownOwner")).map(({ note }) => String(note));
    assert.equal(told.length, 1);
    assert.match(told.join(), /Job alone/);
  }),
];

/** Only where time passes by itself. */
export const realStories: Readonly<Record<string, readonly Story[]>> = {
  "what the field does badly": [...fieldStories, ...wideStories],
  "rollouts by the controllers of Kubernetes": rolloutStories,
  "how they are spread": realPaceStories,
  "who else is at work": othersStories,
};
