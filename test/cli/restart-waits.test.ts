import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant } from "../../src/base/instant.ts";
import { ManualClock } from "../../src/base/manual-clock.ts";
import type { RestartSettings } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { EmbeddedStage } from "../restart/embedded-stage.ts";
import { podSpec, Shop } from "../restart/shop.ts";
import { runOn } from "./command-world.ts";

interface Seen {
  readonly kind: string;
  readonly name: string;
  readonly rollout?: { readonly halt?: string };
  readonly waitsFor?: {
    readonly reason: string;
    readonly until?: string;
    readonly isSure: boolean;
    readonly words: string;
  };
}

/** The restart controller at work on users of the Secret `db`, and what `keyturn consumers` says of them. */
class Scene {
  readonly stage: EmbeddedStage;
  readonly shop: Shop;

  private constructor(stage: EmbeddedStage) {
    this.stage = stage;
    this.shop = new Shop(stage);
  }

  static async set(
    context: { after: (done: () => Promise<void>) => void },
    settings: Partial<RestartSettings> = {},
  ): Promise<Scene> {
    const stage = await EmbeddedStage.set({ settings });
    context.after(() => stage.strike());
    const scene = new Scene(stage);
    await scene.shop.secret("db", { user: "shop", password: "canary-1" });
    await stage.advance(2000);
    return scene;
  }

  async say(...words: readonly string[]): Promise<string> {
    const { kube } = this.stage;
    const asked = ["consumers", "db", "-n", "shop", ...words];
    return (await runOn({ kube, clock: new ManualClock(this.stage.now()) }, asked)).stdout;
  }

  async seen(name: string): Promise<Seen> {
    const { consumers } = JSON.parse(await this.say("-o", "json")) as { readonly consumers: readonly Seen[] };
    return consumers.find((one) => one.name === name) ?? assert.fail(name);
  }

  /** The last cell of its line. */
  async rolloutCell(name: string): Promise<string | undefined> {
    const line = (await this.say()).split("\n").find((one) => one.startsWith(`Deployment ${name} `));
    return line?.split(/ {3,}/).at(-1);
  }

  change(): Promise<void> {
    return this.shop.secret("db", { user: "shop", password: "canary-2" });
  }
}

test("a restart that waits says for what, and until when", async (context) => {
  const scene = await Scene.set(context);
  const { stage, shop } = scene;
  const opensAt = Math.ceil((stage.now() + 3_600_000) / 3_600_000) * 3_600_000;
  const window = `0 ${new Date(opensAt).getUTCHours()} * * *; 1h`;
  await shop.workload("night", { own: { "keyturn.dev/restart-window": window } });
  await shop.workload("never", { own: { "keyturn.dev/restart-window": "0 0 29 2 *; 1m" } });
  await shop.workload("calm", { own: { "keyturn.dev/restart-quiet-period": "50s" } });
  const env = [{ name: "P", valueFrom: { secretKeyRef: { name: "db", key: "password" } } }];
  const pod = { ...podSpec(), containers: [{ name: "main", image: "example.com/app:1", env }] };
  await shop.workload("partly", { own: { "keyturn.dev/restart-window": window }, pod });
  await stage.calm();
  assert.equal((await scene.seen("night")).waitsFor, undefined, "nothing has changed");
  const changedAt = stage.now();
  await scene.change();
  await stage.advance(20_000);
  const opening = formatInstant(opensAt);
  assert.equal(await scene.rolloutCell("night"), `waits for its window, which opens at ${opening}`);
  assert.deepEqual((await scene.seen("night")).waitsFor, {
    reason: "WindowClosed",
    until: opening,
    isSure: true,
    words: `waits for its window, which opens at ${opening}`,
  });
  assert.equal((await scene.seen("never")).waitsFor?.reason, "WindowClosed");
  const { reason, until = "" } = (await scene.seen("calm")).waitsFor ?? assert.fail("calm waits");
  assert.equal(reason, "QuietPeriod");
  assert.ok(Math.abs(Date.parse(until) - changedAt - 50_000) <= 1000, until);
  assert.equal(
    (await scene.seen("partly")).waitsFor?.words,
    `may wait for its window, which opens at ${opening}`,
    "whether its key has changed, the operator knows",
  );
});

test("the minimum interval is told, and over when the restart has come", async (context) => {
  const scene = await Scene.set(context);
  const { stage, shop } = scene;
  await shop.workload("web", { own: { "keyturn.dev/restart-min-interval": "1h" } });
  await stage.calm();
  await scene.change();
  await shop.rolled("web", 1);
  await shop.complete("web", 2);
  assert.equal((await scene.seen("web")).waitsFor, undefined, "it has just been restarted");
  await shop.secret("db", { user: "shop", password: "canary-3" });
  await stage.advance(20_000);
  assert.match((await scene.rolloutCell("web")) ?? "", /^waits for its minimum interval, until \S+Z$/);
});

test("where as many rollouts are under way as there may be, a slot may be waited for", async (context) => {
  const scene = await Scene.set(context);
  const { stage, shop } = scene;
  const body = { metadata: { annotations: { "keyturn.dev/restart-max-rollouts": "1" } } };
  await stage.kube.patch(namespaceType, { name: "shop" }, { type: "merge", body });
  const spec = { minReadySeconds: 300, progressDeadlineSeconds: 900 };
  for (const name of ["one", "two"]) await shop.workload(name, { replicas: 1, spec });
  await stage.advance(320_000);
  await scene.change();
  await stage.advance(20_000);
  const waiting = [await scene.seen("one"), await scene.seen("two")].filter(({ waitsFor }) => waitsFor);
  assert.deepEqual(
    waiting.map(({ waitsFor }) => waitsFor?.words),
    ["may wait for a slot: as many rollouts are under way as there may be"],
  );
});

test("what should have been restarted long ago, by all that can be seen, is due", async (context) => {
  const scene = await Scene.set(context);
  const { stage, shop } = scene;
  await shop.workload("web");
  await stage.calm();
  await stage.stopOperator();
  await scene.change();
  await stage.advance(120_000);
  assert.match((await scene.rolloutCell("web")) ?? "", /^is due: is the operator running, or do its flags/);
});

test("who stands still on purpose is not stuck", async (context) => {
  const scene = await Scene.set(context);
  const { stage, shop } = scene;
  await shop.workload("halted", { spec: { paused: true } });
  await shop.workload("byhand", { kind: "StatefulSet", spec: { updateStrategy: { type: "OnDelete" } } });
  await stage.calm();
  await scene.change();
  await stage.advance(20_000);
  assert.equal(await scene.rolloutCell("halted"), "paused, 0 of 2 pods updated");
  assert.equal((await scene.seen("halted")).rollout?.halt, "paused");
  assert.match(await scene.say(), /^StatefulSet byhand .* waits for deletion, 0 of 2 pods updated$/m);
});

test("an annotation that the operator is not known to read is no opt-in, and no reason to wait", async (context) => {
  const scene = await Scene.set(context);
  const { stage, shop } = scene;
  await shop.workload("foreign", { template: { "other.dev/restartOnChange": "true" } });
  await stage.calm();
  const cells = (await scene.say()).split("\n").find((line) => line.startsWith("Deployment foreign "));
  const words = "nothing shows that the operator reads other.dev/restartOnChange";
  assert.deepEqual(cells?.split(/ {3,}/).slice(2, 5), ["unknown (annotation)", "current, 2 pods", `unknown: ${words}`]);
  // Fields are looked at that its type does not have.
  const json = (await scene.seen("foreign")) as unknown as Record<string, unknown>;
  assert.deepEqual(json.optedIn, { by: "annotation", annotation: "other.dev/restartOnChange" });
  assert.equal(json.notWaitedFor, words);
});

test("one that the operator was told to read is an opt-in", async (context) => {
  const scene = await Scene.set(context, { prefixes: ["keyturn.dev", "other.dev"] });
  const { stage, shop } = scene;
  await shop.workload("foreign", { template: { "other.dev/restartOnChange": "true" } });
  await stage.calm();
  // Fields are looked at that its type does not have.
  const json = (await scene.seen("foreign")) as unknown as Record<string, unknown>;
  assert.equal((json.optedIn as { readonly isIn: boolean }).isIn, true);
  assert.deepEqual([json.aChangeWould, json.notWaitedFor], ["restart", undefined]);
});
