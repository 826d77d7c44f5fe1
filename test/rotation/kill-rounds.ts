import { setTimeout as sleep } from "node:timers/promises";
import type { Family } from "../families/family.ts";
import type { Target } from "../support/target.ts";
import { KillStage } from "./kill-stage.ts";
import type { KillStory } from "./kill-stories.ts";
import type { StoryBinding } from "./story-binding.ts";
import type { KillPoint } from "./write-gate.ts";

/**
 * SIGKILL at every write of a story. The story is told once undisturbed to count the operator's writes, cluster and
 * external system alike; then once for each of them, and the operator dies before or after that write. A round only
 * waits for its kill: the rest of its story goes on beside the next rounds, whose kills it has to survive as well.
 */
export interface KillReport {
  /** The kind of which it was told. */
  readonly kind: string;
  readonly story: string;
  /** The writes of the undisturbed story. */
  readonly writes: readonly string[];
  readonly kills: number;
  /** Points that did not come in several rounds: a story need not take the same writes each time. */
  readonly unreached: readonly string[];
  readonly problems: readonly string[];
}

/** Once what was under way can have landed, and the sweep has come by. */
const SETTLED_MS = 5_000;
const ATTEMPTS = 3;

export interface KillOptions {
  readonly target: Target;
  readonly family: Family;
  readonly story: KillStory;
  /** The rounds to be played, once the writes are known. */
  readonly pointsOf: (writes: readonly string[]) => readonly KillPoint[];
  readonly onRound?: (point: KillPoint) => void;
}

export async function killRounds({ target, family, story, pointsOf, onRound }: KillOptions): Promise<KillReport> {
  const world = await KillStage.set(target, family);
  try {
    const rounds = new Rounds(world, story);
    const writes = await rounds.playUndisturbed();
    const points = pointsOf(writes);
    const unreached: string[] = [];
    for (const point of points) {
      onRound?.(point);
      if (!(await rounds.killAt(point))) unreached.push(describe(point));
    }
    const problems = await rounds.end();
    const kills = points.length - unreached.length;
    return { kind: family.type.kind, story: story.name, writes, kills, unreached, problems };
  } finally {
    await world.strike();
  }
}

/** The rounds of one story, each on a binding of its own. */
class Rounds {
  readonly #world: KillStage;
  readonly #story: KillStory;
  readonly #tales: Promise<void>[] = [];
  #count = 0;

  constructor(world: KillStage, story: KillStory) {
    this.#world = world;
    this.#story = story;
  }

  /** The writes of a story at which nobody is killed. */
  async playUndisturbed(): Promise<readonly string[]> {
    const binding = await this.#prepared();
    void this.#world.lieInWait(binding);
    await this.#tell(binding);
    return [...this.#world.writes];
  }

  /** Plays a round up to its kill; again, where the story took another course and its point did not come. */
  async killAt(point: KillPoint): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const binding = await this.#prepared();
      const killed = this.#world.lieInWait(binding, point);
      const tale = this.#tell(binding).catch((error: unknown) => {
        this.#world.problems.push(`${describe(point)}: ${error instanceof Error ? error.message : error}`);
      });
      this.#tales.push(tale);
      await Promise.race([killed, tale]);
      if (!this.#world.hasStruck) continue;
      await killed;
      return true;
    }
    return false;
  }

  /** Waits for all stories to end, and says what went wrong in them. */
  async end(): Promise<readonly string[]> {
    const { problems, stage } = this.#world;
    await Promise.all(this.#tales);
    await sleep(SETTLED_MS);
    const left = stage.keys().map(({ name }) => name);
    return left.length === 0 ? problems : [...problems, `left outside: ${left.join(", ")}`];
  }

  /** No name is part of another one: the gate tells writes by the names in them. */
  async #prepared(): Promise<StoryBinding> {
    const name = `round-${String(this.#count++).padStart(3, "0")}`;
    const binding = await this.#world.binding(name, this.#story.instance);
    await this.#story.prepare?.(binding);
    return binding;
  }

  /** The story, and then the end of everything that was made for it. */
  async #tell(binding: StoryBinding): Promise<void> {
    await this.#story.tell(binding);
    this.#world.problems.push(...this.#world.stage.guard.problemsOf(binding.name));
    await this.#world.remove(binding);
  }
}

const describe = ({ write, when }: KillPoint): string => `${when} ${write}`;
