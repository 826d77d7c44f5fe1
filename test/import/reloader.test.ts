import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { configMapType, deploymentType } from "../../src/restart/workload-kinds.ts";
import { configVolume, podSpec, Shop, secretVolume } from "../restart/shop.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { type OpenedStage, openStage } from "../support/opened-stage.ts";
import { pickTarget } from "../support/pick-target.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { PlayedReloader } from "./played-reloader.ts";

const target = await pickTarget();
const CONTROLLERS = ["restart"];
const FLAGS = ["--controllers", "restart", "--reloader-annotations", "--restart-quiet-period", "1s"];
/** Longer than a restart that is owed takes. */
const CALM_MS = 4_000;
const RELOADER = "reloader-reloader";

interface Reported {
  readonly workloads: readonly { readonly name: string; readonly restartsFor: readonly string[] }[];
}

/** The steps of the guide, one after the other, with a Reloader that is at work. */
describe(`Reloader's workloads on the ${target.name} server`, { concurrency: 1, timeout: 180_000 }, () => {
  const namespace = `import-reloader-${randomUUID().slice(0, 8)}`;
  const own = { namespace: `${namespace}-own`, name: RELOADER };
  let stage: OpenedStage;
  let shop: Shop;
  let reloader: PlayedReloader;
  let operator: KeyturnOperator | undefined;

  before(async () => {
    stage = await openStage({ target, controllers: CONTROLLERS }, async (opened) => opened);
    const { kube, ends } = stage;
    for (const name of [namespace, own.namespace]) {
      await kube.create<KubeObject>(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      ends.defer(async () => void (await kube.delete(namespaceType, { name }).catch(ignoreMissing)));
    }
    const until = async (what: string, check: () => Promise<boolean>): Promise<void> =>
      void (await eventually(what, async () => (await check()) || undefined));
    shop = new Shop({ kube, namespace, until, calm: () => sleep(CALM_MS) });
    await shop.secret("db", { password: "canary-1" });
    await shop.configMap("settings", { level: "info" });
    const [auto, reload] = ["reloader.stakater.com/auto", "secret.reloader.stakater.com/reload"];
    const bothVolumes = podSpec(secretVolume("db"), configVolume("settings"));
    await shop.workload("web", { own: { [auto]: "true" }, template: {}, replicas: 1, pod: bothVolumes });
    await shop.workload("worker", { own: { [reload]: "db" }, template: {}, replicas: 1 });
    await shop.workload("plain", { template: {}, replicas: 1 });
    await shop.workload(RELOADER, { template: {}, replicas: 1, namespace: own.namespace, pod: podSpec() });
    reloader = new PlayedReloader({ kube, namespace, own });
    ends.defer(() => reloader.stop());
    await eventually("Reloader to be at work", async () => reloader.isAtWork || undefined);
  });
  after(async () => {
    if (operator && !operator.hasEnded) await operator.stop("SIGTERM");
    await stage.ends.disposeAsync();
  });

  const keyturn = (...words: readonly string[]) => sayKeyturn([...words, "--kubeconfig", stage.server.kubeconfig]);
  const rolls = (): Promise<readonly number[]> =>
    Promise.all(["web", "worker", "plain"].map((name) => shop.rolls(name)));
  /** What anybody could have written, without what the cluster itself says of it. */
  const picture = async (): Promise<unknown> => {
    const lists = await Promise.all(
      [deploymentType, secretType, configMapType].map((type) => stage.kube.list(type, { namespace })),
    );
    return lists.flatMap(({ items }) =>
      items.map(({ metadata: { name, labels, annotations }, spec, data }) => ({
        name,
        labels,
        annotations,
        spec,
        data,
      })),
    );
  };

  test("Reloader restarts them", async () => {
    // A template that changes before its controller has seen it is no restart.
    const isSeen = async (): Promise<true | undefined> => {
      const all = await Promise.all(["web", "worker", "plain"].map((name) => shop.get("Deployment", name)));
      const revision = "deployment.kubernetes.io/revision";
      return all.every(({ metadata }) => metadata.annotations?.[revision] !== undefined) || undefined;
    };
    await eventually("first pods", isSeen);
    await shop.secret("db", { password: "canary-2" });
    for (const name of ["web", "worker"]) await shop.rolled(name, 1);
    assert.equal(await shop.rolls("plain"), 0);
  });

  test("the report says what each is restarted for, and writes nothing", async () => {
    const before = await picture();
    const { code, stdout, stderr } = await keyturn("import", "reloader", "-n", namespace, "-o", "json");
    assert.deepEqual([code, stderr], [0, ""]);
    assert.doesNotMatch(stdout, /canary/);
    const { workloads } = JSON.parse(stdout) as Reported;
    assert.deepEqual(
      workloads.map(({ name, restartsFor }) => [name, restartsFor]),
      [
        ["web", ["configmap/settings", "secret/db"]],
        ["worker", ["secret/db"]],
      ],
    );
    assert.equal((await keyturn("migrate", "reloader", "-n", namespace, "-o", "json")).stdout, stdout);
    assert.deepEqual(await picture(), before);
  });

  test("switched on, the operator takes down what is there, and restarts nothing", async () => {
    const end = (done: () => Promise<void>): void => void stage.ends.defer(done);
    operator = startKeyturnOperator({ ...stage.access, flags: FLAGS, after: end });
    await operator.ready();
    for (const name of ["web", "worker"]) await shop.adopted(name);
    await shop.staysAt("web", 1);
    assert.deepEqual(await rolls(), [1, 1, 0]);
  });

  test("a change while both are there is not lost, and restarts twice at most", async () => {
    const before = await rolls();
    await shop.secret("db", { password: "canary-3" });
    await eventually("both to be restarted", async () => {
      const [web = 0, worker = 0] = await rolls();
      return (web > 1 && worker > 1) || undefined;
    });
    await sleep(CALM_MS);
    const more = (await rolls()).map((count, index) => count - (before[index] ?? 0));
    assert.ok(
      more.slice(0, 2).every((count) => count === 1 || count === 2),
      more.join(),
    );
    assert.equal(more[2], 0);
  });

  test("without Reloader nothing restarts, and the next changes do, each once and just those that use them", async () => {
    const [web = 0, worker = 0, plain = 0] = await rolls();
    await stage.kube.patch(deploymentType, own, { type: "merge", body: { spec: { replicas: 0 } } });
    await eventually("Reloader to have stopped", async () => !reloader.isAtWork || undefined);
    await shop.staysAt("web", web);
    await shop.secret("db", { password: "canary-4" });
    await shop.rolled("web", web + 1);
    await shop.rolled("worker", worker + 1);
    await shop.configMap("settings", { level: "debug" });
    await shop.rolled("web", web + 2);
    await sleep(CALM_MS);
    assert.deepEqual(await rolls(), [web + 2, worker + 1, plain]);
    assert.ok((await shop.digests("web")) !== undefined, "by Keyturn");
    assert.doesNotMatch(operator?.text ?? "", /canary/);
  });
});
