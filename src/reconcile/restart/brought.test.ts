import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { Kube } from "../../kube/port.ts";
import type { Entry } from "../../kube/resource-cache.ts";
import { decideRestart } from "../../restart/decide-restart.ts";
import type { RestartDecision, RestartState, SourceState } from "../../restart/model.ts";
import { digestOfValue, fingerprinter, NOW, stateOf, UNHINDERED } from "../../restart/restart.fixture.ts";
import { kindOf } from "../../restart/workload-kinds.ts";
import { DepartureFinder } from "./departure-finder.ts";
import { Departures } from "./departures.ts";
import type { WorkloadRecord } from "./workload-record.ts";

const DB = "secret/db";
const KEY = "Deployment/shop/web";
const signal = new AbortController().signal;

type Act = "change" | "edit" | "goBack" | "see" | "move" | "report" | "look" | "restart" | "lose" | "find" | "evict";

interface Pod {
  readonly template: number;
  /** What it started with. */
  readonly value: number;
}

/** A Secret, a Deployment that uses it, its pods, its own controller, and an operator. One counter counts all writes. */
class Shop {
  #version = 10;
  #value = 0;
  #secretVersion = "1";
  /** Every template that it has had. */
  readonly #templates = [0];
  /** Those that are a restart. */
  readonly #ours = new Set<number>();
  #generation = 1;
  #pods: readonly Pod[] = [0, 0].map((value) => ({ template: 0, value }));
  /** How far its own controller has come, and what it has said of that. */
  #seen = { template: 0, generation: 1 };
  #said = { generation: 1, isWhole: true, revision: 1 };
  #state: RestartState = stateOf({ [DB]: digestOfValue(DB, "0") });
  #departures = new Departures();
  /** What the watch has told; it may be broken. */
  #told: Entry<WorkloadRecord> = this.#entry();
  #isWatched = true;
  rolls = 0;
  brought = 0;

  get pods(): readonly Pod[] {
    return this.#pods;
  }

  get value(): number {
    return this.#value;
  }

  async perform(act: Act): Promise<void> {
    switch (act) {
      case "look":
        await this.look();
        break;
      case "change":
        this.#value++;
        this.#secretVersion = `${++this.#version}`;
        break;
      case "edit":
        this.#roll(Math.max(...this.#templates) + 1);
        break;
      case "goBack":
        // What becomes of restarts that are reverted is another story.
        if (!this.#ours.has(this.#template)) this.#roll(this.#templates.at(-2) ?? 0);
        break;
      case "see":
        this.#seen = { template: this.#template, generation: this.#generation };
        break;
      case "move":
        this.#move();
        break;
      case "evict":
        this.#pods = this.#pods.map((pod, index) => (index > 0 ? pod : this.#started(pod.template)));
        break;
      case "report":
        this.#report();
        break;
      case "restart":
        this.#restart();
        break;
      case "lose":
        this.#isWatched = false;
        break;
      case "find":
        this.#find();
    }
  }

  /** Everybody does what there is to do, until nobody has anything left. */
  async settle(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      for (const act of ["find", "see", "move", "move", "report"] as const) await this.perform(act);
      if ((await this.look()).kind === "settled") return;
    }
    assert.fail("it does not come to rest");
  }

  async look(): Promise<RestartDecision> {
    const current: SourceState = {
      digest: digestOfValue(DB, `${this.#value}`),
      publishedAt: NOW,
      isOptional: false,
      version: this.#secretVersion,
    };
    const sources = new Map([[DB, current] as const]);
    const list = async () => ({ items: [], resourceVersion: `${this.#version}` });
    const finder = new DepartureFinder({
      kube: { list: list as Kube["list"] },
      fingerprinter,
      departures: this.#departures,
    });
    const { record } = this.#entry();
    const workload = { key: KEY, kind: kindOf("Deployment"), metadata: { name: "web", uid: "uid-1" }, record };
    const departed = await finder.find(workload, sources, signal);
    const decision = decideRestart({ ...UNHINDERED, state: this.#state, sources, departed });
    if (decision.kind === "adopt" || decision.kind === "roll") this.#write(decision);
    return decision;
  }

  #write(decision: Extract<RestartDecision, { readonly kind: "adopt" | "roll" }>): void {
    const isMarked = decision.state.sources.get(DB)?.digest !== this.#state.sources.get(DB)?.digest;
    if (decision.kind === "adopt" && isMarked) {
      this.brought++;
      for (const { value } of this.#pods) assert.equal(value, this.#value, "it counts as moved, and has not");
    }
    this.#state = decision.state;
    // Annotations of a Deployment are counted with its spec.
    this.#generation++;
    if (decision.kind === "adopt") this.#written();
    else {
      this.rolls++;
      this.#ours.add(Math.max(...this.#templates) + 1);
      this.#roll(Math.max(...this.#templates) + 1);
    }
  }

  get #template(): number {
    return this.#templates.at(-1) ?? 0;
  }

  #roll(template: number): void {
    this.#templates.push(template);
    this.#generation++;
    this.#written();
  }

  #started(template: number): Pod {
    return { template, value: this.#value };
  }

  /** One pod more is of the template that the controller has seen. */
  #move(): void {
    const { template } = this.#seen;
    const index = this.#pods.findIndex((pod) => pod.template !== template);
    this.#pods = this.#pods.map((pod, at) => (at === index ? this.#started(template) : pod));
  }

  #report(): void {
    const { template, generation } = this.#seen;
    const isWhole = this.#pods.every((pod) => pod.template === template);
    this.#said = { generation, isWhole, revision: this.#templates.length };
    this.#written();
  }

  #written(): void {
    this.#version++;
    const entry = this.#entry();
    if (!this.#isWatched) return;
    this.#departures.note(KEY, { type: "updated", via: "watch", key: "shop/web", entry, old: this.#told });
    this.#told = entry;
  }

  /** The watch is there again, and sums up what it has missed. */
  #find(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    const entry = this.#entry();
    this.#departures.note(KEY, { type: "updated", via: "refresh", key: "shop/web", entry, old: this.#told });
    this.#told = entry;
  }

  #restart(): void {
    this.#departures = new Departures();
    this.#isWatched = true;
    this.#told = this.#entry();
  }

  #entry(): Entry<WorkloadRecord> {
    const isWhole = this.#said.generation === this.#generation && this.#said.isWhole;
    const template = { digest: `${this.#template}`, revision: `${this.#said.revision}`, isWhole };
    // Nothing else of it is looked at.
    const record = { template, state: this.#state, optIn: {} } as unknown as WorkloadRecord;
    return { key: "shop/web", uid: "uid-1", resourceVersion: `${this.#version}`, record };
  }
}

test("whoever changes the template, and whenever: nothing counts as moved that has not, and in the end all run on it", async () => {
  const acts = fc.constantFrom<Act>(
    ...(["change", "edit", "goBack", "see", "move", "report", "look", "restart", "lose", "find", "evict"] as const),
  );
  let brought = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { maxLength: 40 }), async (life) => {
      const shop = new Shop();
      for (const act of life) await shop.perform(act);
      await shop.settle();
      for (const { value } of shop.pods) assert.equal(value, shop.value);
      const changes = life.filter((act) => act === "change").length;
      assert.ok(shop.rolls <= changes, `${shop.rolls} restarts for ${changes} changes`);
      brought += shop.brought;
    }),
    { numRuns: 2000 },
  );
  assert.ok(brought > 0, "some of it is brought");
});

const lives: readonly (readonly [reason: string, life: readonly Act[], rolls: number])[] = [
  ["nobody else changes anything", ["change"], 1],
  ["a template after the change", ["change", "edit"], 0],
  ["a template before the change", ["edit", "change"], 1],
  ["a template before the change, whose rollout has begun", ["edit", "see", "move", "change", "move", "report"], 1],
  ["a template, and then another one", ["change", "edit", "see", "move", "edit"], 0],
  ["a template that was taken back before its rollout was over", ["change", "edit", "see", "move", "goBack"], 1],
  [
    "a template that was taken back when its rollout was over",
    ["change", "edit", "see", "move", "move", "report", "look", "goBack"],
    0,
  ],
  ["a template, and the change after it", ["change", "edit", "look", "change"], 1],
  ["an operator that starts again before it has looked", ["change", "edit", "restart"], 1],
  ["an operator that starts again when it has looked", ["change", "edit", "look", "restart"], 0],
  [
    "an operator that starts again, and the template was taken back",
    ["change", "edit", "look", "see", "move", "restart", "goBack"],
    1,
  ],
  ["a watch that was broken", ["lose", "change", "edit", "find"], 1],
  ["the pods from before were not all of one template", ["edit", "see", "move", "report", "change", "edit"], 1],
];

for (const [reason, life, rolls] of lives) {
  test(`${rolls === 0 ? "no restart" : "a restart"}: ${reason}`, async () => {
    const shop = new Shop();
    for (const act of life) await shop.perform(act);
    await shop.settle();
    assert.equal(shop.rolls, rolls);
    for (const { value } of shop.pods) assert.equal(value, shop.value);
  });
}
