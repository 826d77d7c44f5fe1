import assert from "node:assert/strict";
import { parseWindow } from "../../src/engine/windows.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { annotationsIn, type ClockedStage, clockedStory, fields, type Story } from "./restart-stage.ts";
import { OPT_IN, Shop } from "./shop.ts";

const STOPPED = "keyturn.dev/restart-stopped";
const { defaults } = DEFAULT_RESTART_SETTINGS;

/** How restarts are spread. */
export const paceStories: readonly Story<ClockedStage>[] = [
  clockedStory("five updates in quick succession are one rollout, when it is quiet", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "0" });
    await shop.workload("web");
    await shop.adopted("web");
    for (const password of ["1", "2", "3", "4", "5"]) {
      await shop.secret("db", { password });
      await stage.advance(2000);
    }
    assert.equal(await shop.rolls("web"), 0, "it has not been quiet yet");
    assert.equal(await stage.metric('keyturn_restart_waiting{reason="QuietPeriod"}'), "1");
    await stage.advance(5000);
    assert.equal(await shop.rolls("web"), 1);
    await shop.staysAt("web", 1);
    assert.equal(await stage.metric('keyturn_restart_waiting{reason="QuietPeriod"}'), "0");
    assert.equal(await stage.metric('keyturn_restarts_total{kind="Deployment"}'), "1");
  }),
  clockedStory("what never gets quiet is rolled out after the longest wait", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "0" });
    await shop.workload("web");
    await shop.adopted("web");
    for (let round = 1; round <= 20; round++) {
      await shop.secret("db", { password: String(round) });
      await stage.advance(4000);
    }
    assert.equal(await shop.rolls("web"), 1, "after a minute, with what was there then");
    await stage.calm();
    assert.equal(await shop.rolls("web"), 2, "and what came after it, when it got quiet");
  }),
  clockedStory("an annotation says otherwise for its workload", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "0" });
    await shop.workload("quick", { own: { "keyturn.dev/restart-quiet-period": "0s" } });
    await shop.workload("slow", { own: { "keyturn.dev/restart-quiet-period": "20s" } });
    await shop.adopted("quick");
    await shop.adopted("slow");
    await shop.secret("db", { password: "1" });
    await stage.advance(2000);
    assert.deepEqual([await shop.rolls("quick"), await shop.rolls("slow")], [1, 0]);
    await stage.advance(20_000);
    assert.equal(await shop.rolls("slow"), 1);
  }),
  clockedStory("a mistake in an annotation is an event, and the default counts", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "0" });
    await shop.workload("web", { own: { "keyturn.dev/restart-quiet-period": "soon" } });
    await shop.adopted("web");
    assert.match(String((await shop.events("InvalidAnnotation"))[0]?.note), /restart-quiet-period/);
    await shop.secret("db", { password: "1" });
    await shop.rolled("web", 1);
  }),
  clockedStory("no restart sooner than the least interval after the one before", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "0" });
    await shop.workload("web", { own: { "keyturn.dev/restart-min-interval": "10m" } });
    await shop.adopted("web");
    await shop.secret("db", { password: "1" });
    await shop.rolled("web", 1);
    await shop.secret("db", { password: "2" });
    await stage.advance(9 * 60_000);
    assert.equal(await shop.rolls("web"), 1);
    assert.equal(await stage.metric('keyturn_restart_waiting{reason="LeastInterval"}'), "1");
    await stage.restartOperator();
    await stage.advance(20_000);
    assert.equal(await shop.rolls("web"), 1, "a new process knows, too");
    await stage.advance(60_000);
    assert.equal(await shop.rolls("web"), 2);
  }),
  clockedStory(
    "outside of windows a change waits until one opens",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "0" });
      await shop.workload("web");
      await shop.workload("any", { own: { "keyturn.dev/restart-window": "* * * * *; 1h" } });
      await shop.adopted("web");
      await shop.secret("db", { password: "1" });
      await shop.rolled("any", 1);
      await stage.advance(60 * 60_000);
      assert.equal(await shop.rolls("web"), 0, "it is a quarter past two in the afternoon");
      await stage.advance(12 * 3_600_000);
      assert.equal(await shop.rolls("web"), 1);
    },
    { defaults: { ...defaults, windows: [parseWindow({ schedule: "0 2 * * *", duration: "1h" })] } },
  ),
  clockedStory(
    "no more rollouts at a time than the cap; the next begins when one is over",
    async (stage) => {
      const shop = new Shop(stage);
      const names = ["a", "b", "c", "d", "e"];
      await shop.secret("db", { password: "0" });
      for (const name of names) await shop.workload(name, { replicas: 3 });
      for (const name of names) await shop.adopted(name);
      await stage.calm();
      await shop.secret("db", { password: "1" });
      let most = 0;
      for (let step = 0; step < 200; step++) {
        await stage.advance(100);
        most = Math.max(most, Number(await stage.metric("keyturn_restart_rollouts_under_way")));
      }
      assert.equal(most, 2);
      for (const name of names) assert.equal(await shop.rolls(name), 1, `${name}: nobody was forgotten`);
      assert.equal(await stage.metric("keyturn_restart_rollouts_under_way"), "0");
    },
    { maxRollouts: 2 },
  ),
  clockedStory("a cap of a namespace that cannot be read is said on the Namespace", async (stage) => {
    const shop = new Shop(stage);
    const annotations = { "keyturn.dev/restart-max-rollouts": "zzz" };
    const body = { metadata: { annotations } };
    await stage.kube.patch(namespaceType, { name: stage.namespace }, { type: "merge", body });
    await stage.calm();
    const [event, ...more] = await shop.events("InvalidAnnotation", "default");
    assert.deepEqual(more, []);
    assert.match(`${event?.note}`, /restart-max-rollouts: "zzz"/);
    assert.equal(fields(event?.regarding).kind, "Namespace");
  }),
  clockedStory("a rollout that is stuck gives its slot back, and the namespace has a cap of its own", async (stage) => {
    const shop = new Shop(stage);
    const { kube, namespace } = stage;
    const annotations = { "keyturn.dev/restart-max-rollouts": "1" };
    await kube.patch(namespaceType, { name: namespace }, { type: "merge", body: { metadata: { annotations } } });
    await shop.secret("db", { password: "0" });
    const spec = { progressDeadlineSeconds: 60 };
    const stuck = { ...OPT_IN, "embedded.keyturn.dev/ready": "false" };
    await shop.workload("a-stuck", { template: stuck, spec, replicas: 1 });
    await shop.workload("b-next", { replicas: 1 });
    for (const name of ["a-stuck", "b-next"]) await shop.adopted(name);
    await stage.advance(70_000);
    await shop.secret("db", { password: "1" });
    await stage.advance(20_000);
    const rolls = [await shop.rolls("a-stuck"), await shop.rolls("b-next")];
    assert.equal(rolls[0] === 1 || rolls[1] === 1, true);
    await stage.advance(120_000);
    assert.deepEqual([await shop.rolls("a-stuck"), await shop.rolls("b-next")], [1, 1]);
  }),
  clockedStory(
    "a fight is stopped, said, and goes on when a person takes the mark away",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "0" });
      await shop.workload("web");
      await shop.adopted("web");
      const change = async (password: string): Promise<void> => {
        await shop.secret("db", { password });
        await stage.advance(10_000);
      };
      for (const password of ["1", "2", "3", "4", "5"]) await change(password);
      const { metadata } = await shop.get("Deployment", "web");
      assert.match(annotationsIn({ metadata })[STOPPED] ?? "", /restarts within an hour/);
      const events = await shop.events("RestartsStopped");
      assert.equal(events.length, 1);
      assert.match(`${events[0]?.note}`, /Remove the annotation keyturn\.dev\/restart-stopped /);
      assert.equal(await stage.metric("keyturn_restart_stopped"), "1");
      const rolls = await shop.rolls("web");
      assert.equal(rolls, 3);
      await stage.restartOperator();
      await stage.advance(2 * 3_600_000);
      assert.equal(await shop.rolls("web"), rolls, "it stays stopped, however long it takes");
      await shop.annotate(deploymentType, "web", { [STOPPED]: null });
      await stage.advance(10_000);
      assert.equal(await shop.rolls("web"), rolls + 1, "with what is there by now");
      await change("6");
      assert.equal(await shop.rolls("web"), rolls + 2);
      assert.equal(await stage.metric("keyturn_restart_stopped"), "0");
    },
    { defaults: { ...defaults, pace: { ...defaults.pace, perHour: 3 } } },
  ),
  clockedStory(
    "who takes the mark away within the hour is believed, by the process that counted, too",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "0" });
      await shop.workload("web");
      await shop.adopted("web");
      for (const password of ["1", "2", "3", "4"]) {
        await shop.secret("db", { password });
        await stage.advance(10_000);
      }
      assert.equal(await shop.rolls("web"), 3);
      await shop.annotate(deploymentType, "web", { [STOPPED]: null });
      await stage.advance(10_000);
      assert.equal(await shop.rolls("web"), 4);
      assert.equal(annotationsIn(await shop.get("Deployment", "web"))[STOPPED], undefined);
    },
    { defaults: { ...defaults, pace: { ...defaults.pace, perHour: 3 } } },
  ),
  clockedStory(
    "a fight is stopped although somebody takes the state away after every restart",
    async (stage) => {
      const shop = new Shop(stage);
      await shop.secret("db", { password: "0" });
      await shop.workload("web");
      for (const password of ["1", "2", "3", "4", "5", "6"]) {
        await shop.adopted("web");
        await shop.secret("db", { password });
        await stage.advance(10_000);
        await shop.annotate(deploymentType, "web", { "keyturn.dev/restart-state": null });
      }
      assert.equal(await shop.rolls("web"), 3);
      assert.equal((await shop.events("RestartsStopped")).length > 0, true);
    },
    { defaults: { ...defaults, pace: { ...defaults.pace, perHour: 3 } } },
  ),
  clockedStory("somebody's own mark stops restarts, and taking it away lets them go on", async (stage) => {
    const shop = new Shop(stage);
    await shop.secret("db", { password: "0" });
    await shop.workload("web", { own: { [STOPPED]: "by hand, until Monday" } });
    await shop.adopted("web");
    await stage.calm();
    assert.deepEqual(await shop.events("RestartsStopped"), [], "nothing is held back yet");
    await shop.secret("db", { password: "1" });
    await shop.staysAt("web", 0);
    const events = await shop.events("RestartsStopped");
    assert.equal(events.length, 1, "the mark may have come back with an old revision, and nobody would know");
    assert.match(`${events[0]?.note}`, /keyturn\.dev\/restart-stopped holds its restart back/);
    const { metadata } = await shop.get("Deployment", "web");
    assert.equal(annotationsIn({ metadata })[STOPPED], "by hand, until Monday");
    await shop.annotate(deploymentType, "web", { [STOPPED]: null });
    await shop.rolled("web", 1);
  }),
];
