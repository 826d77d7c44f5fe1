import { setTimeout as sleep } from "node:timers/promises";
import { integerBetween, type Random, seededRandom } from "../../src/base/random.ts";
import { allFamilies } from "../families/families.ts";
import { eventually } from "../support/eventually.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import type { Target } from "../support/target.ts";
import { Stage } from "./stage.ts";
import { StoryBinding } from "./story-binding.ts";

/**
 * `kill -9` of the operator at random moments, while keys of every kind are rotated every few seconds by brokers that take
 * a second. Whatever was under way then: no Secret without a living key, no resource that stands still, and in the end no
 * key left behind.
 */
export interface RandomKillReport {
  readonly seed: number;
  readonly kills: number;
  /** Of all kinds together. */
  readonly resources: number;
  readonly rotations: number;
  /** Rotations that were under way at a kill, all kills together; and how many of their keys were at the broker. */
  readonly underWay: number;
  readonly underWayAtBroker: number;
  readonly problems: readonly string[];
}

export interface RandomKillOptions {
  readonly target: Target;
  readonly seed: number;
  readonly kills: number;
  /** How many resources of each kind. */
  readonly each: number;
  readonly onKill?: (kill: number, underWay: number) => void;
}

const BROKER_MS = 1_000;
const ROTATION = { frequency: "3s", ttl: "6s" };
const LOOKS = ["--drift-check", "5s", "--child-check", "5s", "--sweep-every", "3s"];
const FLAGS = ["--min-frequency", "1s", "--settle-time", "3s", ...LOOKS];
/** From when an operator is ready to its end; where nothing is under way then, until something is. */
const LONGEST_LIFE_MS = 4_000;
const PATIENCE_MS = 120_000;
/** Once what was under way can have landed, and the sweep has come by. */
const SETTLED_MS = 7_000;

export async function randomKills(options: RandomKillOptions): Promise<RandomKillReport> {
  const { target, seed, kills, each, onKill } = options;
  const stage = await Stage.set({ target, name: "random", families: allFamilies });
  try {
    const killing = new Killing(stage, bindingsOn(stage, each), seededRandom(seed));
    await killing.begin();
    for (let kill = 1; kill <= kills; kill++) {
      const underWay = await killing.kill();
      onKill?.(kill, underWay);
    }
    return { seed, kills, ...(await killing.end()) };
  } finally {
    await stage.strike();
  }
}

const bindingsOn = (stage: Stage, each: number): readonly StoryBinding[] =>
  allFamilies.flatMap((family) =>
    Array.from({ length: each }, (_, index) => {
      const name = `random-${family.controller}-${index}`;
      const instance = { brokerLatencyMs: BROKER_MS };
      return new StoryBinding(stage, { family, name, instance, patienceMs: PATIENCE_MS });
    }),
  );

class Killing {
  readonly #stage: Stage;
  readonly #bindings: readonly StoryBinding[];
  readonly #random: Random;
  readonly #problems: string[] = [];
  #operator: KeyturnOperator;
  #underWay = 0;
  #underWayAtBroker = 0;

  constructor(stage: Stage, bindings: readonly StoryBinding[], random: Random) {
    this.#stage = stage;
    this.#bindings = bindings;
    this.#random = random;
    this.#operator = stage.startOperator(FLAGS);
  }

  async begin(): Promise<void> {
    await this.#operator.ready();
    await this.#all(async (binding) => {
      await binding.create(binding.manifest({ rotation: ROTATION }));
      await binding.until("a first key", ({ works }) => works);
    });
  }

  /** Kills the operator at a random moment, and starts the next one; how many rotations were under way. */
  async kill(): Promise<number> {
    await sleep(integerBetween(this.#random, 0, LONGEST_LIFE_MS));
    const pending = await eventually("a rotation to be under way", async () => {
      const found = this.#bindings.filter((binding) => binding.view().isPending);
      return found.length > 0 ? found : undefined;
    });
    this.#underWay += pending.length;
    this.#underWayAtBroker += pending.filter((binding) => binding.isAtBroker()).length;
    if (this.#operator.hasEnded) this.#problems.push(`an operator had ended by itself:\n${this.#operator.text}`);
    await this.#operator.stop("SIGKILL");
    this.#operator = this.#stage.startOperator(FLAGS);
    await this.#operator.ready();
    return pending.length;
  }

  /** Nobody is killed any more: all must go on, come to rest, and go with everything that was made for them. */
  async end(): Promise<Omit<RandomKillReport, "seed" | "kills">> {
    await this.#all(async (binding) => {
      const { sequence } = binding.view();
      await binding.until("it to go on", (view) => view.sequence > sequence + 1);
    });
    const sequences = this.#bindings.map((binding) => binding.view().sequence);
    await this.#all(async (binding) => {
      await binding.patchRotation(null);
      await binding.calm("one key, and no other", ({ outside }) => outside.length === 1);
      await binding.end();
    });
    await sleep(SETTLED_MS);
    for (const { name } of this.#stage.keys()) this.#problems.push(`left outside: ${name}`);
    return {
      resources: this.#bindings.length,
      rotations: sequences.reduce((sum, sequence) => sum + sequence - 1, 0),
      underWay: this.#underWay,
      underWayAtBroker: this.#underWayAtBroker,
      problems: this.#problems,
    };
  }

  async #all(act: (binding: StoryBinding) => Promise<void>): Promise<void> {
    const noted = this.#bindings.map((binding) =>
      act(binding).catch((error: unknown) => {
        this.#problems.push(`${binding.name}: ${error instanceof Error ? error.message : error}`);
      }),
    );
    await Promise.all(noted);
  }
}
