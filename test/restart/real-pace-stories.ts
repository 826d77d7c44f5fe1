import assert from "node:assert/strict";
import type { KubeObject } from "../../src/kube/objects.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { annotationsIn, fields, type RestartStage, type Story, story } from "./restart-stage.ts";
import { Shop } from "./shop.ts";

const STOPPED = "keyturn.dev/restart-stopped";
const NAMES = ["a", "b", "c", "d", "e"];
/** So that a rollout takes a while. */
const SLOW = { minReadySeconds: 2 };
const MINUTE_MS = 60_000;

/** Restarted, and not yet all over, by one look at all of them at once. */
async function underWay({ kube, namespace }: RestartStage): Promise<number> {
  const { items } = await kube.list(deploymentType, { namespace });
  return items.filter((workload) => isRestarted(workload) && !isOver(workload)).length;
}

const isRestarted = ({ spec }: KubeObject): boolean => {
  const { annotations } = fields(fields(fields(spec).template).metadata);
  return fields(annotations)["keyturn.dev/digests"] !== undefined;
};

/** As `kubectl rollout status` sees it. */
const isOver = ({ metadata, spec, status }: KubeObject): boolean => {
  const { replicas } = fields(spec);
  const { observedGeneration = 0, updatedReplicas, availableReplicas, replicas: all } = fields(status);
  const isSeen = Number(observedGeneration) >= (metadata.generation ?? 0);
  return isSeen && updatedReplicas === replicas && availableReplicas === replicas && all === replicas;
};

/** Five that use one Secret: how many of them are restarted at a time, at most. */
async function mostAtATime(stage: RestartStage): Promise<number> {
  const shop = new Shop(stage);
  await shop.secret("db", { password: "one" });
  for (const name of NAMES) await shop.workload(name, { spec: SLOW });
  for (const name of NAMES) await shop.complete(name, 2);
  for (const name of NAMES) await shop.adopted(name);
  await shop.secret("db", { password: "two" });
  let most = 0;
  await stage.until("all to be restarted", async () => {
    most = Math.max(most, await underWay(stage));
    const rolls = await Promise.all(NAMES.map((name) => shop.rolls(name)));
    return rolls.every((count) => count > 0) && (await underWay(stage)) === 0;
  });
  for (const name of NAMES) assert.equal(await shop.rolls(name), 1, name);
  return most;
}

/** The cron line of the first minute that begins in ten seconds or later, and when that is. */
function nextMinute(now: number): { readonly schedule: string; readonly opensAt: number } {
  const opensAt = Math.ceil((now + 10_000) / MINUTE_MS) * MINUTE_MS;
  const at = new Date(opensAt);
  return { schedule: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`, opensAt };
}

const { defaults } = DEFAULT_RESTART_SETTINGS;
const FIGHT = { defaults: { ...defaults, pace: { ...defaults.pace, quietMs: 0, perHour: 3 } } };

/** How restarts are spread, with the controllers of Kubernetes and as time passes. */
export const realPaceStories: readonly Story[] = [
  story(
    "no more rollouts at a time than the cap of the cluster",
    async (stage) => {
      assert.equal(await mostAtATime(stage), 2);
    },
    { maxRollouts: 2, maxRolloutsPerNamespace: 0 },
  ),
  story("nor than the cap that a Namespace bears", async (stage) => {
    const annotations = { "keyturn.dev/restart-max-rollouts": "1" };
    const ref = { name: stage.namespace };
    await stage.kube.patch(namespaceType, ref, { type: "merge", body: { metadata: { annotations } } });
    await stage.calm();
    assert.equal(await mostAtATime(stage), 1);
  }),
  story("outside of its window a change waits until that opens", async (stage) => {
    const shop = new Shop(stage);
    const { schedule, opensAt } = nextMinute(Date.now());
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { own: { "keyturn.dev/restart-window": `${schedule}; 5m` } });
    await shop.workload("any");
    for (const name of ["web", "any"]) await shop.adopted(name);
    await shop.secret("db", { password: "two" });
    await shop.rolled("any", 1);
    await stage.until("the window to open", async () => {
      const rolls = await shop.rolls("web");
      assert.ok(rolls === 0 || Date.now() >= opensAt, "not before");
      return rolls > 0;
    });
    await shop.complete("web", 2);
    await shop.staysAt("web", 1);
  }),
  story(
    "a fight is stopped and said, and goes on when a person takes the mark away",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "0" });
      await shop.workload("web");
      await shop.adopted("web");
      for (const [index, password] of ["1", "2", "3"].entries()) {
        await shop.secret("db", { password });
        await shop.rolled("web", index + 1);
        await shop.complete("web", 2);
      }
      await shop.secret("db", { password: "4" });
      const mark = async () => annotationsIn(await shop.get("Deployment", "web"))[STOPPED];
      await stage.until("it to be stopped", async () => (await mark()) !== undefined);
      assert.match((await mark()) ?? "", /3 restarts within an hour/);
      await shop.secret("db", { password: "5" });
      await shop.staysAt("web", 3, "Deployment", "it runs on");
      await stage.restartOperator();
      await shop.staysAt("web", 3, "Deployment", "under a new operator, too");
      assert.equal((await shop.events("RestartsStopped")).length, 1);
      await shop.annotate(deploymentType, "web", { [STOPPED]: null });
      await shop.rolled("web", 4);
      await shop.complete("web", 2);
    },
    FIGHT,
  ),
];
