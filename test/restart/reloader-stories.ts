import assert from "node:assert/strict";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { configMapType, deploymentType } from "../../src/restart/workload-kinds.ts";
import { type ClockedStage, clockedStory, type Story, story } from "./restart-stage.ts";
import { configVolume, podSpec, Shop, secretVolume } from "./shop.ts";

const UNCAPPED = { maxRollouts: 0, maxRolloutsPerNamespace: 0 };

/** What others in the field do badly, with the outcome that there should be. */
export const fieldStories: readonly Story<ClockedStage>[] = [
  clockedStory(
    "an operator that starts reads what has changed while there was none, and nothing else",
    async (stage) => {
      const shop = new Shop(stage);
      const names = Array.from({ length: 8 }, (_, index) => `app-${index}`);
      for (const name of names) await shop.secret(name, { password: "one" });
      for (const name of names) await shop.workload(name, { replicas: 0, pod: podSpec(secretVolume(name)) });
      await stage.calm();
      const reads = (): number => stage.traffic().filter((request) => request === "GET secrets").length;
      await stage.restartOperator();
      await stage.calm();
      const own = reads();
      assert.ok(own < names.length, `${own} reads of Secrets although none has changed`);
      await stage.stopOperator();
      await shop.secret("app-3", { password: "two" });
      await stage.startOperator();
      await stage.calm();
      for (const name of names) assert.equal(await shop.rolls(name), name === "app-3" ? 1 : 0, name);
      assert.equal(reads() - own, 2, "what has changed is read when it is found, and when it has been quiet");
    },
  ),
  ...([1, 10, 50, 200] as const).map((count) =>
    clockedStory(
      `one Secret, ${count} Deployments: each restarted once, for few reads of the Secret`,
      async (stage) => {
        const shop = new Shop(stage);
        const names = Array.from({ length: count }, (_, index) => `app-${index}`);
        await shop.secret("db", { password: "one" });
        for (const name of names) await shop.workload(name, { replicas: 0 });
        await stage.calm();
        stage.traffic();
        await shop.secret("db", { password: "two" });
        await stage.advance(7000);
        for (const name of names) assert.equal(await shop.rolls(name), 1, name);
        await stage.calm();
        const requests = stage.traffic();
        const patches = requests.filter((request) => request === "PATCH deployments").length;
        const reads = requests.filter((request) => request === "GET secrets").length;
        assert.equal(patches, count, "one write each");
        assert.ok(reads <= 2 + Math.ceil(count / 8), `${reads} reads`);
        await stage.calm();
        assert.deepEqual(stage.traffic(), []);
      },
      UNCAPPED,
    ),
  ),
  clockedStory(
    "an unrelated namespace does not wait behind a fan-out",
    async (stage) => {
      const shop = new Shop(stage);
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } };
      await stage.kube.create(namespaceType, body);
      await shop.secret("db", { password: "one" });
      await shop.secret("db", { password: "one" }, "other");
      for (let index = 0; index < 100; index++) await shop.workload(`app-${index}`, { replicas: 0 });
      await shop.workload("lone", { namespace: "other", replicas: 0 });
      await stage.calm();
      await shop.secret("db", { password: "two" });
      await shop.secret("db", { password: "two" }, "other");
      await stage.advance(7000);
      assert.equal(await shop.rolls("lone", "Deployment", "other"), 1);
      assert.equal(await shop.rolls("app-99"), 1);
    },
    UNCAPPED,
  ),
  clockedStory("an event that matches nothing costs no request", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web");
    await shop.adopted("web");
    await stage.calm();
    stage.traffic();
    await shop.secret("of-nobody", { password: "one" });
    await shop.secret("of-nobody", { password: "two" });
    await shop.configMap("of-nobody", { a: "b" });
    await shop.workload("silent", { template: {} });
    await shop.deleteSecret("of-nobody");
    await stage.calm();
    assert.deepEqual(stage.traffic(), []);
    await shop.merge(deploymentType, "web", { spec: { replicas: 5 } });
    await shop.complete("web", 5);
    assert.deepEqual(stage.traffic(), [], "nor does a workload that goes its way");
  }),
];

const RELOADER = { reloader: true, maxRollouts: 0, maxRolloutsPerNamespace: 0 };

interface Annotated {
  readonly own?: Readonly<Record<string, string>>;
  readonly template?: Readonly<Record<string, string>>;
  readonly db: boolean;
  readonly settings: boolean;
  readonly named: boolean;
  readonly reason: string;
}

/** Which of three changes lead to a restart: of a Secret and a ConfigMap that are used, and of a Secret that is not. */
const ANNOTATED: readonly Annotated[] = [
  { own: { "reloader.stakater.com/auto": "true" }, db: true, settings: true, named: false, reason: "all that is used" },
  {
    template: { "reloader.stakater.com/auto": "true" },
    db: true,
    settings: true,
    named: false,
    reason: "said on the template",
  },
  { own: { "secret.reloader.stakater.com/auto": "true" }, db: true, settings: false, named: false, reason: "Secrets" },
  {
    own: { "configmap.reloader.stakater.com/auto": "true" },
    db: false,
    settings: true,
    named: false,
    reason: "ConfigMaps",
  },
  {
    own: { "secret.reloader.stakater.com/reload": "named,more" },
    db: false,
    settings: false,
    named: true,
    reason: "one that is named, though it is not used",
  },
  {
    own: { "secret.reloader.stakater.com/reload": "na.*" },
    db: false,
    settings: false,
    named: true,
    reason: "named by a pattern",
  },
  {
    own: { "configmap.reloader.stakater.com/reload": "settings" },
    db: false,
    settings: true,
    named: false,
    reason: "a ConfigMap by name",
  },
  {
    own: { "reloader.stakater.com/search": "true" },
    db: true,
    settings: false,
    named: false,
    reason: "what is used and says match",
  },
  { own: {}, db: false, settings: false, named: false, reason: "says nothing" },
];

/** The annotations of Reloader, which many workloads bear already. */
export const reloaderStories: readonly Story[] = [
  ...ANNOTATED.map((row) =>
    story(
      `Reloader's annotations: ${JSON.stringify(row.own ?? row.template)} (${row.reason})`,
      async (stage) => {
        const shop = new Shop(stage);
        await shop.secret("db", { password: "one" });
        await shop.annotate(secretType, "db", { "reloader.stakater.com/match": "true" });
        await shop.secret("named", { password: "one" });
        await shop.configMap("settings", { level: "info" });
        const pod = podSpec(secretVolume("db"), configVolume("settings"));
        await shop.workload("web", { own: row.own ?? {}, template: row.template ?? {}, pod });
        await stage.calm();
        let rolls = 0;
        const expect = async (isRolled: boolean, what: string): Promise<void> => {
          rolls += isRolled ? 1 : 0;
          if (isRolled) await shop.rolled("web", rolls);
          else await shop.staysAt("web", rolls, "Deployment", what);
        };
        await shop.merge(secretType, "db", { stringData: { password: "two" } });
        await expect(row.db, "the Secret that is used");
        await shop.merge(configMapType, "settings", { data: { level: "debug" } });
        await expect(row.settings, "the ConfigMap that is used");
        await shop.merge(secretType, "named", { stringData: { password: "two" } });
        await expect(row.named, "the Secret that is not used");
      },
      RELOADER,
    ),
  ),
  story(
    "a source that says ignore never leads to a restart",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "one" });
      await shop.annotate(secretType, "db", { "reloader.stakater.com/ignore": "true" });
      await shop.workload("web", { own: { "reloader.stakater.com/auto": "true" }, template: {} });
      await stage.calm();
      await shop.merge(secretType, "db", { stringData: { password: "two" } });
      await shop.staysAt("web", 0);
    },
    RELOADER,
  ),
  story("without the flag, Reloader's annotations are somebody else's", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { own: { "reloader.stakater.com/auto": "true" }, template: {} });
    await stage.calm();
    await shop.secret("db", { password: "two" });
    await shop.staysAt("web", 0);
    assert.equal(await shop.state("web"), undefined);
    assert.equal(DEFAULT_RESTART_SETTINGS.reloader, false);
  }),
];

export const pausePeriodStories: readonly Story<ClockedStage>[] = [
  clockedStory(
    "Reloader's pause period is a least interval",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "0" });
      const own = { "reloader.stakater.com/auto": "true", "deployment.reloader.stakater.com/pause-period": "5m" };
      await shop.workload("web", { own, template: {} });
      await shop.adopted("web");
      await shop.secret("db", { password: "1" });
      await shop.rolled("web", 1);
      await shop.secret("db", { password: "2" });
      await stage.advance(4 * 60_000);
      assert.equal(await shop.rolls("web"), 1);
      await stage.advance(90_000);
      assert.equal(await shop.rolls("web"), 2);
    },
    RELOADER,
  ),
];
