import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { Forbidden } from "../../src/kube/errors.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { RestartSettings } from "../../src/reconcile/restart/restart-settings.ts";
import { deploymentType, jobType, kindOf } from "../../src/restart/workload-kinds.ts";
import { EmbeddedStage } from "../restart/embedded-stage.ts";
import { mount } from "../restart/pod-status-objects.ts";
import { classVolume, OPT_IN, podSpec, Shop, secretVolume } from "../restart/shop.ts";
import { runOn, type Said } from "./command-world.ts";

interface Scene {
  readonly stage: EmbeddedStage;
  readonly shop: Shop;
  run(...words: readonly string[]): Promise<Said>;
  runAs(kube: Kube, ...words: readonly string[]): Promise<Said>;
}

/** The restart controller at work in the namespace `shop`, with the Secret `db`. */
async function scene(
  context: { after: (done: () => Promise<void>) => void },
  settings: Partial<RestartSettings> = {},
): Promise<Scene> {
  const stage = await EmbeddedStage.set({ settings });
  context.after(() => stage.strike());
  const shop = new Shop(stage);
  await shop.secret("db", { user: "shop", password: "canary-1" });
  const runAs = (kube: Kube, ...words: readonly string[]): Promise<Said> =>
    runOn({ kube, clock: new ManualClock(stage.now()) }, words);
  return { stage, shop, runAs, run: (...words) => runAs(stage.kube, ...words) };
}

/** The cells of a table's line that begins with the words. */
function cellsOf(stdout: string, words: string): readonly string[] {
  const line = stdout.split("\n").find((one) => one.startsWith(`${words}  `)) ?? assert.fail(`${words}: ${stdout}`);
  return line.split(/ {3,}/).slice(1);
}

const password = { valueFrom: { secretKeyRef: { name: "db", key: "password" } } };
const envOf = (...env: readonly object[]) => ({ containers: [{ name: "main", image: "example.com/app:1", env }] });

test("each consumer has a line: how it uses the Secret, whether it has opted in, and what a change would do", async (context) => {
  const { stage, shop, run } = await scene(context);
  await shop.workload("web");
  await shop.workload("sts", { kind: "StatefulSet", pod: envOf({ name: "P", ...password }), template: {} });
  await shop.workload("ds", { kind: "DaemonSet", spec: { updateStrategy: { type: "OnDelete" } } });
  await shop.workload("nightly", { kind: "CronJob", own: OPT_IN, template: {} });
  await shop.workload("bare", { kind: "ReplicaSet", replicas: 1 });
  await shop.workload("none", { replicas: 0 });
  await shop.workload("halted", { spec: { paused: true }, replicas: 1 });
  await shop.workload("typo", { template: { "keyturn.dev/restartOnChange": "yes" } });
  await shop.workload("pulls", { pod: { ...podSpec(), imagePullSecrets: [{ name: "db" }] } });
  await shop.workload("stranger", { pod: podSpec(secretVolume("other")) });
  await shop.pod("alone", OPT_IN);
  await shop.pod("mortal", { "keyturn.dev/restartOnChange": "delete" });
  await stage.calm();
  const { code, stdout, stderr } = await run("consumers", "db", "-n", "shop");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(
    stdout,
    /^Secret shop\/db, written 3\ds ago \(2\S+Z\)\n\nWORKLOAD +USES +OPTED IN +RUNS ON +A CHANGE WOULD +ROLLOUT\n/,
  );
  assert.deepEqual(cellsOf(stdout, "Deployment web"), [
    "volume",
    "yes (annotation)",
    "unknown, 2 pods",
    "restart it",
    "complete",
  ]);
  const words = (workload: string): readonly (string | undefined)[] => {
    const [uses, optedIn, , change] = cellsOf(stdout, workload);
    return [uses, optedIn, change];
  };
  assert.deepEqual(words("StatefulSet sts"), ["env (password)", "no", "nothing: it has not opted in"]);
  assert.deepEqual(words("DaemonSet ds")[2], "update the template; pods follow when they are deleted (OnDelete)");
  assert.deepEqual(words("CronJob nightly"), ["volume", "yes (annotation)", "update the template, start nothing"]);
  assert.equal(words("ReplicaSet bare")[2], "delete its pods one by one");
  assert.equal(words("Deployment none")[2], "update the template; there are no pods");
  assert.equal(words("Deployment halted")[2], "restart it, once it is resumed");
  assert.equal(
    words("Deployment typo")[2],
    'nothing: keyturn.dev/restartOnChange must be "true", "false" or "delete", not "yes"',
  );
  assert.deepEqual(words("Deployment pulls"), ["pull", "yes (annotation)", "nothing: it only pulls images with it"]);
  assert.equal(words("Pod alone")[2], 'nothing: nobody makes it again ("delete" has it deleted)');
  assert.deepEqual(words("Pod mortal"), ["volume", "yes (annotation, delete)", "delete the pod"]);
  assert.doesNotMatch(stdout, /stranger|canary/);
});

test("on which value they run: by dates, by digests, and while a rollout is under way", async (context) => {
  const { stage, shop, run } = await scene(context, { maxRollouts: 1 });
  const runsOn = async (workload: string): Promise<string | undefined> =>
    cellsOf((await run("consumers", "secret/db", "-n", "shop")).stdout, workload)[2];
  await stage.advance(2000);
  await shop.workload("web");
  await shop.workload("partly", { pod: envOf({ name: "P", ...password }) });
  await shop.workload("loner", { template: {} });
  await stage.calm();
  assert.equal(await runsOn("Deployment web"), "current, 2 pods", "created after the write");
  await shop.secret("db", { user: "shop", password: "canary-2" });
  await stage.advance(2000);
  assert.equal(await runsOn("Deployment web"), "older, 2 pods", "the quiet period is not over");
  assert.equal(await runsOn("Deployment partly"), "unknown, 2 pods", "whether its key has changed, the operator knows");
  await stage.calm();
  for (const name of ["web", "partly"]) await shop.complete(name, 2);
  assert.equal(await runsOn("Deployment web"), "current, 2 pods");
  assert.equal(await runsOn("Deployment partly"), "current, 2 pods");
  assert.equal(await runsOn("Deployment loner"), "older, 2 pods", "it has not opted in");
  await shop.merge(deploymentType, "web", { spec: { paused: true } });
  await shop.secret("db", { user: "shop", password: "canary-3" });
  await stage.calm();
  const [, , older, change, rollout] = cellsOf((await run("consumers", "db", "-n", "shop")).stdout, "Deployment web");
  assert.deepEqual([older, change], ["older, 2 pods", "restart it, once it is resumed"]);
  assert.equal(rollout, "paused, 0 of 2 pods updated");
});

test("a workload that was stopped, one that has left the Secret, and one that Reloader's annotations name", async (context) => {
  const { stage, shop, run } = await scene(context);
  await shop.workload("stopped", { own: { "keyturn.dev/restart-stopped": "by hand" } });
  await shop.workload("leaving");
  await shop.workload("named", { template: {}, own: { "secret.reloader.stakater.com/reload": "d.*" }, pod: podSpec() });
  await shop.workload("other", { template: {}, own: { "secret.reloader.stakater.com/reload": "else" } });
  await shop.workload("foreign", { template: { "my.controller/restartOnChange": "true" } });
  await stage.calm();
  const pod = podSpec(secretVolume("other"));
  await shop.merge(deploymentType, "leaving", { spec: { paused: true, template: { spec: pod } } });
  await stage.advance(3000);
  const { stdout } = await run("consumers", "db", "-n", "shop", "-o", "wide");
  assert.equal(
    cellsOf(stdout, "Deployment stopped")[3],
    "nothing: its restarts are stopped (keyturn.dev/restart-stopped)",
  );
  assert.equal(cellsOf(stdout, "Deployment leaving")[0], "volume, older pods alone");
  assert.deepEqual(cellsOf(stdout, "Deployment named").slice(0, 4), [
    "named",
    "unknown (Reloader)",
    "unknown, 2 pods",
    "unknown: nothing shows that the operator reads annotations of Reloader",
  ]);
  assert.equal(cellsOf(stdout, "Deployment other")[3], "nothing: its annotations leave it out");
  assert.equal(cellsOf(stdout, "Deployment foreign")[1], "unknown (my.controller/restartOnChange)");
  assert.match(
    stdout,
    /\n\nDeployment foreign, Deployment named: nothing shows that the operator reads these annotations \(--reloader-annotations, --restart-prefix\)\.\n$/,
  );
});

test("what the operator has not taken up is said", async (context) => {
  const { stage, shop, run } = await scene(context);
  await stage.stopOperator();
  await shop.workload("web");
  await stage.calm();
  const { stdout } = await run("consumers", "db", "-n", "shop");
  assert.match(
    stdout,
    /\nDeployment web: the operator has not taken it up: is it running, with the restart controller\?\n$/,
  );
});

test("a Secret that is not there: who refers to it is shown; one that nobody means is a mistake", async (context) => {
  const { stage, shop, run } = await scene(context);
  await shop.workload("web", { pod: podSpec(secretVolume("later")) });
  await stage.calm();
  const { code, stdout } = await run("consumers", "later", "-n", "shop");
  assert.equal(code, 0);
  assert.match(stdout, /^Secret shop\/later is not there\n/);
  assert.deepEqual(cellsOf(stdout, "Deployment web").slice(0, 2), ["volume", "yes (annotation)"]);
  assert.match(stdout, /\nSecret shop\/later is not there; this is who refers to it\.\n$/);
  await assert.rejects(run("consumers", "latter", "-n", "shop"), {
    name: "NotFound",
    message: 'there is no Secret "latter" in namespace shop, and nobody refers to one (-n NAMESPACE looks elsewhere)',
  });
  await assert.rejects(run("consumers", "sercet/db"), {
    name: "NotFound",
    message: /^there is no Secret "db" in namespace sercet, .*; "sercet" was read as a namespace, since it is no kind/,
  });
  await shop.configMap("settings", { level: "info" });
  const unused = await run("consumers", "configmap", "settings", "-n", "shop");
  assert.match(unused.stdout, /^ConfigMap shop\/settings, written .*\n\nNobody uses this ConfigMap\.\n$/);
});

test("what may not be looked at is named, and the rest is shown", async (context) => {
  const { stage, shop, runAs } = await scene(context);
  await shop.workload("web");
  await shop.workload("sts", { kind: "StatefulSet" });
  await stage.calm();
  const { kube } = stage;
  const limited = (...plurals: readonly string[]): Kube => {
    const refuse = (plural: string) => Promise.reject(new Forbidden(`${plural} is forbidden: you cannot`));
    return {
      ...kube,
      get: (type, ref, options) => (plurals.includes(type.plural) ? refuse(type.plural) : kube.get(type, ref, options)),
      list: (type, options) => (plurals.includes(type.plural) ? refuse(type.plural) : kube.list(type, options)),
    };
  };
  const noDeployments = await runAs(limited("deployments", "secrets"), "consumers", "db", "-n", "shop");
  assert.equal(noDeployments.code, 0);
  assert.match(noDeployments.stdout, /^Secret shop\/db could not be looked at\n/);
  assert.match(noDeployments.stdout, /\nNot looked at: Secret: secrets is forbidden: you cannot\n/);
  assert.match(noDeployments.stdout, /\nNot looked at: Deployment\.apps: deployments is forbidden: you cannot\n/);
  assert.deepEqual(
    cellsOf(noDeployments.stdout, "Deployment web").slice(1, 4),
    ["yes (annotation)", "unknown, 2 pods", "unknown: the Deployment could not be looked at"],
    "its pods tell of it",
  );
  assert.equal(cellsOf(noDeployments.stdout, "StatefulSet sts")[3], "restart it");
  const noPods = await runAs(limited("pods"), "consumers", "db", "-n", "shop");
  assert.equal(cellsOf(noPods.stdout, "Deployment web")[2], "unknown");
});

test("a SecretProviderClass: what the driver has mounted since a pod started is newer than what it runs on", async (context) => {
  const { stage, shop, run } = await scene(context);
  await stage.stopOperator();
  await shop.workload("web", { pod: podSpec(classVolume("vault")) });
  await stage.calm();
  const [first, second] = await shop.pods("web");
  assert.ok(first && second);
  await mount(stage.kube, first, "vault", { key: "v2" });
  const { stdout } = await run("consumers", "secretproviderclass", "vault", "-n", "shop");
  assert.deepEqual(cellsOf(stdout, "Deployment web").slice(0, 4), [
    "csi",
    "yes (annotation)",
    "older 1, unknown 1 of 2 pods",
    "restart it",
  ]);
});

test("-o json has it all for programs; no value of the Secret is read", async (context) => {
  const { stage, shop, runAs } = await scene(context);
  await shop.workload("web", { pod: envOf({ name: "P", ...password }) });
  await stage.calm();
  const reads: string[] = [];
  const { kube } = stage;
  const recording: Kube = {
    ...kube,
    get: (type, ref, options) => {
      reads.push(`${type.kind} ${options?.metadataOnly === true}`);
      return kube.get(type, ref, options);
    },
    list: (type, options) => {
      if (type === secretType) assert.equal(options?.metadataOnly, true);
      return kube.list(type, options);
    },
  };
  const { stdout } = await runAs(recording, "consumers", "shop/db", "-o", "json");
  assert.deepEqual(reads, ["Secret true"]);
  const { writtenAt, consumers, ...rest } = JSON.parse(stdout) as Record<string, unknown>;
  assert.match(String(writtenAt), /^20\S+Z$/);
  assert.deepEqual(rest, { kind: "Secret", namespace: "shop", name: "db", isThere: true, notLookedAt: [], notes: [] });
  assert.deepEqual(consumers, [
    {
      kind: "Deployment",
      namespace: "shop",
      name: "web",
      uses: [{ way: "env", keys: ["password"] }],
      isUsedByOlderPodsAlone: false,
      optedIn: { isIn: true, by: "annotation", annotation: "keyturn.dev/restartOnChange" },
      isTakenUp: true,
      runsOn: { current: 0, older: 0, unknown: 2, pods: 2 },
      aChangeWould: "restart",
      aChangeWouldWords: "restart it",
      rollout: { isComplete: true, isStuck: false, updated: 2, total: 2 },
    },
  ]);
});

test("what is asked for wrongly is one line", async (context) => {
  const { run } = await scene(context);
  const cases: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [[], /^give the name of a Secret, or secret, configmap or secretproviderclass and a name$/],
    [["secret"], /^"secret" needs a name/],
    [["pod", "web"], /^"pod" is nothing that workloads are restarted for/],
    [["Db"], /^"Db" cannot be a name in Kubernetes/],
    [["a/b/c"], /^"a\/b\/c" cannot be a name in Kubernetes/],
    [
      ["sercet/db", "-n", "shop"],
      /^"sercet\/db" is in namespace sercet, and -n says shop; if a kind is meant: secret, configmap or secretproviderclass$/,
    ],
    [["db", "-n", "a/b"], /^--namespace: "a\/b" cannot be a namespace/],
    [["secret", "shop/db", "-n", "other"], /^"shop\/db" is in namespace shop, and -n says other/],
  ];
  for (const [words, message] of cases) {
    await assert.rejects(run("consumers", ...words), { name: "UsageError", message }, words.join(" "));
  }
});

test("pods stand for what makes them again, and for others where nobody here does", async (context) => {
  const { stage, shop, run } = await scene(context);
  const { kube, namespace } = stage;
  const uid = "00000000-0000-4000-8000-000000000001";
  const owner = { apiVersion: "example.com/v1", kind: "Kafka", name: "broker", uid, controller: true };
  await shop.workload("owned", { kind: "StatefulSet", replicas: 1 });
  const statefulSet = { apiVersion: "apps/v1", kind: "StatefulSet", name: "owned", controller: true };
  await shop.merge(kindOf("StatefulSet")?.type ?? assert.fail(), "owned", { metadata: { ownerReferences: [owner] } });
  await shop.pod("owned-9", OPT_IN, {
    metadata: { ownerReferences: [{ ...statefulSet, uid: (await shop.get("StatefulSet", "owned")).metadata.uid }] },
  });
  await shop.pod("broker-0", OPT_IN, { metadata: { ownerReferences: [owner] } });
  const template = {
    metadata: { annotations: OPT_IN },
    spec: { ...podSpec(secretVolume("db")), restartPolicy: "Never" },
  };
  await kube.create(jobType, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace, name: "once" },
    spec: { template },
  });
  const job = { apiVersion: "batch/v1", kind: "Job", name: "once", controller: true };
  const { metadata } = await kube.get(jobType, { namespace, name: "once" });
  await shop.pod("once-x", OPT_IN, { metadata: { ownerReferences: [{ ...job, uid: metadata.uid }] } });
  const { stdout } = await run("consumers", "db", "-n", "shop");
  assert.equal(cellsOf(stdout, "Kafka broker")[3], "nothing: a Kafka cannot be restarted");
  assert.equal(cellsOf(stdout, "StatefulSet owned")[3], "restart it", "whoever made it, its pods are its own");
  assert.equal(cellsOf(stdout, "Job once")[3], "nothing: a Job runs to its end");
  assert.doesNotMatch(stdout, /^Pod /m);
});

test("a workload that has left a Secret is waited for while pods of it use the Secret", async (context) => {
  const { stage, shop, run } = await scene(context);
  await shop.workload("leaving");
  await shop.workload("quitter");
  await stage.calm();
  const spec = podSpec(secretVolume("other"));
  await shop.merge(deploymentType, "leaving", { spec: { paused: true, template: { spec } } });
  const annotations = { "keyturn.dev/restartOnChange": null };
  await shop.merge(deploymentType, "quitter", { spec: { paused: true, template: { metadata: { annotations } } } });
  await stage.advance(2000);
  const { stdout } = await run("consumers", "db", "-n", "shop", "-o", "json");
  const { consumers } = JSON.parse(stdout) as {
    readonly consumers: readonly {
      readonly name: string;
      readonly aChangeWouldWords: string;
      readonly notWaitedFor?: string;
    }[];
  };
  assert.deepEqual(
    consumers.map(({ name, aChangeWouldWords, notWaitedFor }) => [name, aChangeWouldWords, notWaitedFor]),
    [
      ["leaving", "nothing: its next pods do not use it", undefined],
      ["quitter", "nothing: it has not opted in", undefined],
    ],
  );
});

test("who uses a Secret that was made from it is shown with the way, on the screen and for programs", async (context) => {
  const { stage, shop, run } = await scene(context);
  const made = async (name: string, from: string): Promise<void> => {
    await shop.secret(name, { VCAP_SERVICES: "canary-2" });
    const annotations = { "keyturn.dev/derived-from": from };
    await shop.merge(secretType, name, { metadata: { labels: { "keyturn.dev/derived": "true" }, annotations } });
  };
  await made("web-vcap-services", "db,other@k-1");
  await made("elses", "other@k-1");
  const env = (name: string) => ({ valueFrom: { secretKeyRef: { name, key: "VCAP_SERVICES" } } });
  await shop.workload("web", { pod: envOf({ name: "V", ...env("web-vcap-services") }) });
  await shop.workload("else", { pod: podSpec(secretVolume("elses")) });
  await shop.workload("both", { pod: podSpec(secretVolume("db"), secretVolume("web-vcap-services")) });
  await stage.calm();
  const { stdout } = await run("consumers", "db", "-n", "shop");
  assert.equal(cellsOf(stdout, "Deployment web")[0], "env (VCAP_SERVICES) through web-vcap-services");
  assert.doesNotMatch(stdout, /else|canary/);
  const json = await run("consumers", "db", "-n", "shop", "-o", "json");
  const { consumers } = JSON.parse(json.stdout) as {
    readonly consumers: readonly { readonly name: string; readonly through?: string }[];
  };
  assert.deepEqual(
    consumers.map(({ name, through }) => `${name} ${through}`),
    ["both undefined", "both web-vcap-services", "web web-vcap-services"],
  );
});
