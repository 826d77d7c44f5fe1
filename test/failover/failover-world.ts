import { setTimeout as sleep } from "node:timers/promises";
import { families } from "../families/families.ts";
import type { Stage } from "../rotation/stage.ts";
import { StoryBinding } from "../rotation/story-binding.ts";
import { Consumers } from "./consumers.ts";
import { KeyLedger } from "./key-ledger.ts";
import type { FailoverReport } from "./report.ts";

const BROKER_MS = 1_000;
const ROTATION = { frequency: "6s", ttl: "10s" };
/** One that overlaps, one more whose time is over when the next one comes; active, pending, and a twin of that. */
const MOST_KEYS = 5;
/** A child that comes is there twice for a moment, as itself and as the key that it does not know of; and two may go at once. */
const MOST_CHILDREN = 8;
/** Once what was under way can have landed, and the sweep has come by. */
const SETTLED_MS = 7_000;
const LOOK_EVERY_MS = 150;
const PATIENCE_MS = 120_000;

/** The resources, and those who look at them all along. */
export class FailoverWorld {
  readonly problems: string[] = [];
  readonly bindings: readonly StoryBinding[];
  readonly #stage: Stage;
  readonly #ledger = new KeyLedger();
  readonly #consumers: Consumers;
  readonly #watched = new Set<StoryBinding>();
  #looks: NodeJS.Timeout | undefined;
  #sequences = new Map<StoryBinding, number>();
  #rotations = 0;

  /** So many resources of each kind; of those who use them, so many pods. */
  constructor(stage: Stage, each: number, consumers: { readonly replicas?: number } = {}) {
    this.#stage = stage;
    this.bindings = bindingsOn(stage, each);
    this.#consumers = new Consumers(stage.kube, consumers);
  }

  /** All have a first key, and one of each kind has somebody who uses it. */
  async begin(): Promise<void> {
    await this.#all(async (binding) => {
      await binding.create(binding.manifest({ rotation: ROTATION }));
      await binding.until("a first key", ({ works }) => works);
      this.#watched.add(binding);
    });
    const firsts = families.map((family) => this.bindings.find((binding) => binding.family === family));
    await Promise.all(firsts.map((binding) => binding && this.#consumers.add(this.#stage, binding.secretRef)));
    this.#looks = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#sequences = this.#sequencesNow();
  }

  /** Those whose next key is intended and not in use yet. */
  underWay(): readonly StoryBinding[] {
    return this.bindings.filter((binding) => binding.view().isPending);
  }

  /** Between kills: nobody has been locked out, and nobody stands still. */
  check(when: string): void {
    const now = this.#sequencesNow();
    for (const binding of this.bindings) {
      const isStill = (now.get(binding) ?? 0) <= (this.#sequences.get(binding) ?? 0);
      if (isStill) this.problems.push(`${when}: ${binding.name} has not rotated since the last look`);
      for (const problem of this.#stage.guard.problemsOf(binding.name)) this.#note(`${binding.name}: ${problem}`);
    }
    this.#sequences = now;
  }

  /** Nobody is killed any more: all must go on, come to rest, and go with everything that was made for them. */
  async end(): Promise<void> {
    await this.#all(async (binding) => {
      const { sequence } = binding.view();
      await binding.until("it to go on", (view) => view.sequence > sequence + 1);
    });
    this.check("at the end");
    this.#rotations = this.bindings.reduce((sum, binding) => sum + binding.view().sequence - 1, 0);
    await this.#all(async (binding) => {
      await binding.patchRotation(null);
      await binding.calm("one key, and no other", ({ outside }) => outside.length === 1);
    });
    await this.#consumers.untilCurrent(PATIENCE_MS).catch((error: unknown) => this.#note(messageOf(error)));
    await this.#all(async (binding) => {
      this.#watched.delete(binding);
      this.#ledger.forget(binding.name);
      await binding.end();
    });
    await sleep(SETTLED_MS);
    for (const { name } of this.#stage.keys()) this.#note(`left outside: ${name}`);
  }

  figures(): Omit<FailoverReport, "seed" | "spells"> {
    const { changes, rolls, problems } = this.#consumers.ledger;
    return {
      resources: this.bindings.length,
      rotations: this.#rotations,
      logins: this.#stage.guard.logins,
      mostKeys: this.#ledger.most,
      keysGone: this.#ledger.gone,
      contentChanges: changes,
      rollouts: rolls,
      problems: [...this.problems, ...this.#ledger.problems, ...problems],
    };
  }

  async stop(): Promise<void> {
    clearInterval(this.#looks);
    await this.#consumers.stop();
  }

  #look(): void {
    for (const binding of this.#watched) {
      const { activeId, secret, retired, outside } = binding.view();
      const mostAlive = binding.family.children ? MOST_CHILDREN : MOST_KEYS;
      const { name } = binding;
      this.#ledger.see({ name, at: Date.now(), activeId, publishedId: secret?.keyId, retired, outside, mostAlive });
    }
  }

  #sequencesNow(): Map<StoryBinding, number> {
    return new Map(this.bindings.map((binding) => [binding, binding.view().sequence]));
  }

  #note(problem: string): void {
    if (!this.problems.includes(problem)) this.problems.push(problem);
  }

  async #all(act: (binding: StoryBinding) => Promise<void>): Promise<void> {
    const noted = this.bindings.map((binding) =>
      act(binding).catch((error: unknown) => this.#note(`${binding.name}: ${messageOf(error)}`)),
    );
    await Promise.all(noted);
  }
}

const bindingsOn = (stage: Stage, each: number): readonly StoryBinding[] =>
  families.flatMap((family) =>
    Array.from({ length: each }, (_, index) => {
      const name = `failover-${family.controller}-${index}`;
      const instance = { brokerLatencyMs: BROKER_MS };
      return new StoryBinding(stage, { family, name, instance, patienceMs: PATIENCE_MS });
    }),
  );

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
