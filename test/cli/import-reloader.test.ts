import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { Forbidden } from "../../src/kube/errors.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { classType, jobType } from "../../src/restart/workload-kinds.ts";
import { EmbeddedStage } from "../restart/embedded-stage.ts";
import { installClasses } from "../restart/pod-status-objects.ts";
import { classVolume, configVolume, podSpec, Shop, secretVolume, type WorkloadWishes } from "../restart/shop.ts";
import { runOn, type Said } from "./command-world.ts";

interface Workload {
  readonly kindName: string;
  readonly name: string;
  readonly annotations: readonly { readonly name: string; readonly means: string }[];
  readonly restartsFor: readonly string[];
  readonly problems: readonly string[];
  readonly changes: readonly string[];
  readonly toDo: readonly string[];
}

interface Scene {
  readonly stage: EmbeddedStage;
  readonly shop: Shop;
  run(words?: readonly string[], kube?: Kube): Promise<Said>;
  reported(...words: readonly string[]): Promise<readonly Workload[]>;
}

/** A namespace where Reloader was at work, with the Secrets `db` and `api` and the ConfigMap `settings`. */
async function scene(context: { after: (done: () => Promise<void>) => void }): Promise<Scene> {
  const stage = await EmbeddedStage.set();
  context.after(() => stage.strike());
  const shop = new Shop(stage);
  await shop.secret("db", { user: "shop", password: "canary" });
  await shop.secret("api", { token: "canary" });
  await shop.configMap("settings", { level: "info" });
  const run: Scene["run"] = (words = [], kube = stage.kube) =>
    runOn({ kube, clock: new ManualClock(stage.now()) }, ["import", "reloader", "-n", "shop", ...words]);
  const reported = async (...words: readonly string[]): Promise<readonly Workload[]> =>
    (JSON.parse((await run(["-o", "json", ...words])).stdout) as { readonly workloads: readonly Workload[] }).workloads;
  return { stage, shop, run, reported };
}

const AUTO = "reloader.stakater.com/auto";
const RELOAD = "secret.reloader.stakater.com/reload";
const CLASS_RELOAD = "secretproviderclass.reloader.stakater.com/reload";
const bothVolumes = podSpec(secretVolume("db"), configVolume("settings"));
const envOf = (...env: readonly object[]) => ({ containers: [{ name: "main", image: "example.com/app:1", env }] });
const password = { name: "P", valueFrom: { secretKeyRef: { name: "db", key: "password" } } };

interface Case {
  readonly reason: string;
  readonly wishes: WorkloadWishes;
  readonly expected: Partial<Pick<Workload, "restartsFor" | "problems" | "changes" | "toDo">>;
}

const CASES: readonly Case[] = [
  {
    reason: "auto means whatever it uses",
    wishes: { own: { [AUTO]: "true" }, pod: bothVolumes },
    expected: {
      restartsFor: ["configmap/settings", "secret/db"],
      changes: [],
      toDo: ['nothing; or write keyturn.dev/restartOnChange: "true" instead of reloader.stakater.com/auto'],
    },
  },
  {
    reason: "auto of one kind",
    wishes: { own: { "configmap.reloader.stakater.com/auto": "true" }, pod: bothVolumes },
    expected: { restartsFor: ["configmap/settings"], toDo: ["nothing: the annotations stay"] },
  },
  {
    reason: "chosen keys",
    wishes: { own: { [AUTO]: "true" }, pod: envOf(password) },
    expected: {
      restartsFor: ["secret/db"],
      changes: ["only a change of what it uses restarts it: secret/db (only password)"],
    },
  },
  {
    reason: "names and patterns count, used or not, there or not",
    wishes: { own: { [RELOAD]: "api, d.*, soon" } },
    expected: {
      restartsFor: ["secret/api", "secret/db", "secret/soon"],
      changes: ["named, and neither used nor there: secret/soon"],
    },
  },
  {
    reason: "a pattern that is not understood",
    wishes: { own: { [RELOAD]: "api,(db|cache)" } },
    expected: {
      restartsFor: ["secret/api"],
      problems: [`${RELOAD}: "(db|cache)" is neither a name nor a pattern of names and .*`],
      toDo: ["mend what is unclear, which counts for nothing now"],
    },
  },
  {
    reason: "a pause that is none",
    wishes: { own: { [AUTO]: "true", "deployment.reloader.stakater.com/pause-period": "soon" } },
    expected: {
      problems: [
        'deployment.reloader.stakater.com/pause-period: "soon" is not a duration: a duration is numbers with units (w, d, h, m, s, ms, us, ns), such as 14d, 336h or 1h30m, without sign or spaces',
      ],
      toDo: ["mend what is unclear, which counts for nothing now"],
    },
  },
  {
    reason: "names nothing",
    wishes: { own: { [RELOAD]: "" } },
    expected: {
      restartsFor: [],
      problems: [`${RELOAD} names nothing`],
      toDo: ["look whether it is a slip: mend it, or take it away; it counts for nothing"],
    },
  },
  {
    reason: "search without a match",
    wishes: { own: { "reloader.stakater.com/search": "true" } },
    expected: { restartsFor: [], changes: ["nothing that is there leads to a restart"], toDo: [] },
  },
  {
    reason: "a class counts where it is mounted, by name or by a pattern",
    wishes: { own: { [CLASS_RELOAD]: "va.*, cloud" }, pod: podSpec(classVolume("vault"), classVolume("plain")) },
    expected: {
      restartsFor: ["class/vault"],
      changes: ["a SecretProviderClass counts only where it is mounted: class/cloud"],
      toDo: ["nothing: the annotations stay"],
    },
  },
  {
    reason: "a class that says ignore",
    wishes: { own: { [AUTO]: "true" }, pod: podSpec(classVolume("ignored")) },
    expected: {
      restartsFor: ["class/ignored"],
      changes: ["reloader.stakater.com/ignore on class/ignored is not looked at"],
      toDo: ['write secretproviderclasses.exclude.reloader.stakater.com/reload: "ignored" on it'],
    },
  },
  {
    reason: "a class that says match",
    wishes: { own: { "reloader.stakater.com/search": "true" }, pod: podSpec(classVolume("matched")) },
    expected: {
      restartsFor: [],
      changes: [
        "nothing that is there leads to a restart",
        "reloader.stakater.com/match on class/matched is not looked at",
      ],
      toDo: ['write secretproviderclass.reloader.stakater.com/reload: "matched" on it'],
    },
  },
  {
    reason: "a name that nobody knows",
    wishes: { own: { "reloader.stakater.com/autoo": "true" } },
    expected: {
      restartsFor: [],
      problems: ["reloader.stakater.com/autoo is no annotation of Reloader's that is known"],
      toDo: ["look whether it is a slip: mend it, or take it away; it counts for nothing"],
    },
  },
  {
    reason: "a switch that is neither on nor off",
    wishes: { own: { [AUTO]: "yes", "secret.reloader.stakater.com/auto": "F" } },
    expected: {
      restartsFor: [],
      problems: ['reloader.stakater.com/auto: "yes" is neither "true" nor "false"'],
      toDo: ["look whether it is a slip: mend it, or take it away; it counts for nothing"],
    },
  },
  {
    reason: "a pause period",
    wishes: { own: { [AUTO]: "true", "deployment.reloader.stakater.com/pause-period": "5m" } },
    expected: {
      changes: [
        "its pause period becomes a minimum interval of 5m between restarts; the Deployment itself is not paused any more",
      ],
    },
  },
  {
    reason: "marks of the strategy with environment variables",
    wishes: {
      own: { [AUTO]: "true" },
      pod: envOf(password, { name: "STAKATER_DB_SECRET", value: "2f9a" }),
      template: { "reloader.stakater.com/last-reloaded-from": "{}" },
    },
    expected: {
      toDo: [
        'nothing; or write keyturn.dev/restartOnChange: "true" instead of reloader.stakater.com/auto',
        "take out STAKATER_DB_SECRET, reloader.stakater.com/last-reloaded-from together with some other change: by itself that is one more restart",
      ],
    },
  },
  {
    reason: "a CronJob",
    wishes: { kind: "CronJob", own: { [AUTO]: "true" } },
    expected: { changes: ["its template is updated; Reloader starts a Job at once, Keyturn starts nothing"] },
  },
  {
    reason: "opted out of Keyturn",
    wishes: { own: { [AUTO]: "true", "keyturn.dev/restartOnChange": "false" } },
    expected: {
      restartsFor: [],
      changes: ['keyturn.dev/restartOnChange is "false": it takes no part, whatever Reloader\'s annotations say'],
    },
  },
];

test("what would change, workload by workload", async (context) => {
  const { stage, shop, run, reported } = await scene(context);
  await installClasses(stage.kube);
  for (const mark of ["ignore", "match"]) {
    const annotations = { [`reloader.stakater.com/${mark}`]: "true" };
    const metadata = { namespace: "shop", name: mark === "ignore" ? "ignored" : "matched", annotations };
    await stage.kube.create(classType, {
      apiVersion: "secrets-store.csi.x-k8s.io/v1",
      kind: classType.kind,
      metadata,
    });
  }
  for (const [index, { wishes }] of CASES.entries()) {
    await shop.workload(`case-${index}`, { template: {}, replicas: 0, ...wishes });
  }
  await shop.workload("stranger", { replicas: 0 });
  const all = await reported();
  assert.equal(all.length, CASES.length, "what has nothing of Reloader's is left out");
  for (const [index, { reason, expected }] of CASES.entries()) {
    const found = all.find(({ name }) => name === `case-${index}`) ?? assert.fail(reason);
    const said = Object.fromEntries(Object.keys(expected).map((field) => [field, found[field as keyof Workload]]));
    assert.deepEqual(said, expected, reason);
  }
  const { stdout } = await run();
  assert.match(stdout, /^ {2}SecretProviderClass shop\/ignored: reloader\.stakater\.com\/ignore: not looked at/m);
});

test("each annotation is put into words", async (context) => {
  const { shop, reported } = await scene(context);
  const meanings: Readonly<Record<string, readonly [value: string, means: string]>> = {
    [AUTO]: ["true", "a restart for every Secret, ConfigMap and SecretProviderClass that it uses"],
    "secret.reloader.stakater.com/auto": ["false", "nothing: it is not on"],
    "configmap.reloader.stakater.com/reload": ["a,b", "a restart for ConfigMap a,b, used or not"],
    "secretproviderclass.reloader.stakater.com/auto": ["true", "a restart for every SecretProviderClass that it uses"],
    "secrets.exclude.reloader.stakater.com/reload": ["x", "no restart for Secret x"],
    "reloader.stakater.com/search": ["true", "a restart for what it uses and bears reloader.stakater.com/match"],
    "reloader.stakater.com/match": ["true", "something on a Secret or ConfigMap; nothing on a workload"],
    "deployment.reloader.stakater.com/pause-period": ["5m", "no other restart within 5m of the one before"],
    "configmaps.exclude.reloader.stakater.com/reload": [" ,", "nothing: it names nothing"],
    "reloader.stakater.com/rollout-strategy": ["restart", "how Reloader restarts an Argo Rollout; nothing here"],
    "reloader.stakater.com/new-thing": ["1", "nothing that is known: it counts for nothing"],
  };
  const own = Object.fromEntries(Object.entries(meanings).map(([name, [value]]) => [name, value]));
  await shop.workload("web", { own, template: {}, replicas: 0 });
  const [web] = await reported();
  const said = Object.fromEntries(web?.annotations.map(({ name, means }) => [name, means]) ?? []);
  for (const [name, [, means]] of Object.entries(meanings)) assert.equal(said[name], means, name);
});

test("sources that say match or ignore are listed, and count", async (context) => {
  const { shop, run, reported } = await scene(context);
  await shop.annotate(secretType, "db", { "reloader.stakater.com/match": "true" });
  await shop.annotate(secretType, "api", { "reloader.stakater.com/ignore": "true" });
  const pod = podSpec(secretVolume("db"), secretVolume("api"));
  await shop.workload("searches", { own: { "reloader.stakater.com/search": "true" }, template: {}, pod, replicas: 0 });
  const [searches] = await reported();
  assert.deepEqual(searches?.restartsFor, ["secret/db"]);
  assert.deepEqual(searches?.changes, ["reloader.stakater.com/ignore keeps its meaning on secret/api"]);
  const { stdout } = await run();
  assert.match(stdout, /^ {2}Secret shop\/api: reloader\.stakater\.com\/ignore: never leads to a restart$/m);
  assert.match(stdout, /^ {2}Secret shop\/db: reloader\.stakater\.com\/match: restarts those that use it and search$/m);
});

test("what Reloader restarts and Keyturn does not is said", async (context) => {
  const { stage, reported } = await scene(context);
  await stage.kube.create(jobType, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace: "shop", name: "once", annotations: { [AUTO]: "true" } },
    spec: { template: { spec: { ...podSpec(secretVolume("db")), restartPolicy: "Never" } } },
  });
  const [once] = await reported();
  assert.deepEqual(
    [once?.kindName, once?.restartsFor, once?.changes, once?.toDo],
    [
      "Job",
      [],
      ["Reloader deletes a Job and makes it again; Keyturn leaves it to run to its end"],
      ["have whoever makes it restart it"],
    ],
  );
});

test("for people: the workloads, what holds for all, and how to go on; nothing is written", async (context) => {
  const { stage, shop, run } = await scene(context);
  await stage.stopOperator();
  await shop.workload("web", { own: { [AUTO]: "true", [RELOAD]: "[ab]" }, template: {}, replicas: 0 });
  const { resourceVersion } = (await shop.get("Deployment", "web")).metadata;
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(
    stdout,
    /^Deployment shop\/web\n {2}says {10}reloader\.stakater\.com\/auto: "true": a restart for every/,
  );
  assert.match(stdout, /^ {2}restarts for {2}secret\/db$/m);
  assert.match(stdout, /^ {2}unclear {7}secret\.reloader\.stakater\.com\/reload: "\[ab\]" is neither/m);
  assert.match(stdout, /^For every workload\n {2}Several changes in quick succession are one restart/m);
  assert.match(stdout, /^How to go on\n {2}1\. Look through/m);
  assert.match(
    stdout,
    /\n1 workload bears marks of Reloader; 1 with something that is not understood; nothing was written\.\n$/,
  );
  assert.equal((await shop.get("Deployment", "web")).metadata.resourceVersion, resourceVersion);
  assert.doesNotMatch(stdout, /canary/);
});

test("nothing to report is no failure, and what may not be looked at is named", async (context) => {
  const { stage, run } = await scene(context);
  assert.deepEqual(await run(), { code: 0, stdout: "Nothing here bears annotations of Reloader.\n", stderr: "" });
  const { kube } = stage;
  const limited: Kube = {
    ...kube,
    list: (type, options) =>
      type === secretType
        ? Promise.reject(new Forbidden("secrets is forbidden: you cannot"))
        : kube.list(type, options),
  };
  const { code, stdout } = await run(["-A"], limited);
  assert.equal(code, 0);
  assert.match(stdout, /\nNot looked at\n {2}Secret: secrets is forbidden: you cannot\n$/);
});

test("a namespace that is not there is a mistake", async (context) => {
  const { stage } = await scene(context);
  const place = { kube: stage.kube, clock: new ManualClock(stage.now()) };
  await assert.rejects(runOn(place, ["import", "reloader", "-n", "nonexist"]), {
    name: "NotFound",
    message: 'there is no namespace "nonexist"',
  });
});

test("a source that is not known is a mistake", async (context) => {
  const { stage } = await scene(context);
  const place = { kube: stage.kube, clock: new ManualClock(stage.now()) };
  await assert.rejects(runOn(place, ["import"]), {
    name: "UsageError",
    message: /^from what\? keyturn import crossplane-btp\|.*\|reloader$/,
  });
  await assert.rejects(runOn(place, ["import", "wave"]), {
    name: "UsageError",
    message: /^"wave" is not known: .*reloader are$/,
  });
});
