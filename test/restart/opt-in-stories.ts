import assert from "node:assert/strict";
import { jobType } from "../../src/restart/workload-kinds.ts";
import { annotationsIn, type Story, story } from "./restart-stage.ts";
import { configVolume, OPT_IN, podSpec, Shop } from "./shop.ts";

/** Who takes part, and what a restart is. */
export const optInStories: readonly Story[] = [
  story("a changed Secret leads to exactly one rolling restart, followed to its end", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { replicas: 3 });
    await shop.adopted("web");
    assert.deepEqual(await shop.template("web"), OPT_IN, "to know it, its template is left alone");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    const template = await shop.template("web");
    assert.match(template["keyturn.dev/digests"] ?? "", /^secret\/db=a\./);
    assert.match(template["keyturn.dev/restartedAt"] ?? "", /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    await shop.complete("web", 3);
    await shop.staysAt("web", 1);
    const [event, ...others] = await shop.events("Restarted");
    assert.equal(others.length, 0);
    assert.equal(event?.type, "Normal");
    assert.match(String(event?.note), /secret\/db/);
  }),
  story("opted in on the workload itself", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { own: OPT_IN, template: {} });
    await shop.adopted("web");
    await shop.secret("db", { password: "two" });
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1);
  }),
  story(
    "under a prefix that the operator was told",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "one" });
      await shop.workload("web", { template: { "my.controller/restartOnChange": "true" } });
      await shop.adopted("web");
      await shop.secret("db", { password: "two" });
      await shop.rolled("web", 1);
      const template = await shop.template("web");
      assert.ok(template["my.controller/restartedAt"], "beside the digests");
      assert.ok(template["my.controller/digests"]);
      assert.equal(template["keyturn.dev/digests"], undefined);
    },
    { prefixes: ["keyturn.dev", "my.controller"] },
  ),
  story("a workload that has not opted in, or has opted out, is left alone", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("silent", { template: {} });
    await shop.workload("out", { own: { "keyturn.dev/restartOnChange": "false" } });
    await stage.calm();
    await shop.secret("db", { password: "two" });
    await shop.staysAt("silent", 0);
    await shop.staysAt("out", 0, "Deployment", "the workload's own word goes before its template's");
    for (const name of ["silent", "out"]) assert.equal(await shop.state(name), undefined, `${name} is not written to`);
  }),
  story("a value that says nothing is an event, and no opt-in", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { template: { "keyturn.dev/restartOnChange": "yes" } });
    await stage.until("the mistake to be told", async () => (await shop.events("InvalidAnnotation")).length === 1);
    await shop.secret("db", { password: "two" });
    await shop.staysAt("web", 0);
    const [event] = await shop.events("InvalidAnnotation");
    for (const word of ["restartOnChange", "true", "false", "delete"])
      assert.match(String(event?.note), new RegExp(word));
  }),
  story("a changed ConfigMap counts as much", async (stage) => {
    const shop = new Shop(stage);
    await shop.configMap("settings", { level: "info" });
    await shop.workload("web", { pod: podSpec(configVolume("settings")) });
    await shop.adopted("web");
    await shop.configMap("settings", { level: "debug" });
    await shop.rolled("web", 1);
    await shop.staysAt("web", 1);
  }),
  ...(["StatefulSet", "DaemonSet"] as const).map((kind) =>
    story(`a ${kind} is restarted like a Deployment`, async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "one" });
      await shop.workload("web", { kind });
      await shop.adopted("web", kind);
      await shop.secret("db", { password: "two" });
      await shop.rolled("web", 1, kind);
      await shop.staysAt("web", 1, kind);
    }),
  ),
  story("the template of a CronJob is updated, and nothing is started", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("nightly", { kind: "CronJob" });
    await shop.adopted("nightly", "CronJob");
    await shop.secret("db", { password: "two" });
    await stage.until("its template to change", async () => (await shop.digests("nightly", "CronJob")) !== undefined);
    await stage.calm();
    const { items } = await stage.kube.list(jobType, { namespace: stage.namespace });
    assert.deepEqual(items, []);
  }),
  story("a workload that opts in later starts from what is there then", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "one" });
    await shop.workload("web", { template: {} });
    await shop.secret("db", { password: "two" });
    await stage.calm();
    const { metadata } = await shop.get("Deployment", "web");
    assert.equal(annotationsIn({ metadata })["keyturn.dev/restart-state"], undefined);
    await shop.annotate({ ...DEPLOYMENTS }, "web", OPT_IN);
    await shop.adopted("web");
    await shop.staysAt("web", 0, "Deployment", "nobody knows what it runs on, and so nothing is rolled");
    await shop.secret("db", { password: "three" });
    await shop.rolled("web", 1);
  }),
];

const DEPLOYMENTS = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };
