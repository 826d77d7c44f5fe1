import { setTimeout as sleep } from "node:timers/promises";
import { integerBetween, type Random, seededRandom } from "../../src/base/random.ts";
import { percentile } from "../bench/punctuality.ts";
import { Stage } from "../rotation/stage.ts";
import type { StoryBinding } from "../rotation/story-binding.ts";
import type { Target } from "../support/target.ts";
import { FailoverWorld } from "./failover-world.ts";
import { Pair, type Roles } from "./pair.ts";
import type { Replica } from "./replica.ts";
import type { FailoverReport, KillFigures, SpellFigures } from "./report.ts";

/**
 * Two operators on one Lease, and SIGKILL for the one that leads while rotations of every kind are under way at brokers
 * that take a second. The other one goes on with them within the length of the Lease and a few seconds, and the one that
 * was killed comes back as its standby. All along somebody logs in with what Secrets hold, compares what becomes of keys
 * with what was said of them, and counts rollouts.
 */
export interface FailoverOptions {
  readonly target: Target;
  readonly seed: number;
  readonly spells: readonly Spell[];
  /** How many resources of each kind. */
  readonly each: number;
  /** Which `keyturn`; that of the source where absent. */
  readonly main?: string;
  readonly onKill?: (kill: KillFigures) => void;
}

/** So many kills with a Lease of this length. */
export interface Spell {
  readonly leaseSeconds: number;
  readonly kills: number;
  /** How much longer than the Lease it may take, where that is not five seconds. */
  readonly graceSeconds?: number;
}

const GRACE_SECONDS = 5;
/** From when both are there to the end of one; where nothing is under way then, until something is. */
const LONGEST_LIFE_MS = 4_000;
const LOOK_EVERY_MS = 150;
const PATIENCE_MS = 120_000;
const CHECK_EVERY = 10;

export async function proveFailover(options: FailoverOptions): Promise<FailoverReport> {
  const { target, seed, spells, each, main, onKill } = options;
  const stage = await Stage.set({ target, name: "failover" });
  const world = new FailoverWorld(stage, each);
  const ends = new AsyncDisposableStack();
  ends.defer(() => world.stop());
  const figures: SpellFigures[] = [];
  try {
    let former: Pair | undefined;
    for (const [index, spell] of spells.entries()) {
      await former?.leave(world.problems);
      const { leaseSeconds } = spell;
      const pair = await Pair.start({ stage, leaseSeconds, main });
      ends.defer(() => pair.close());
      if (index === 0) await world.begin();
      const random = seededRandom(seed + index);
      figures.push(await new Killing({ pair, world, spell, random }).run(onKill));
      former = pair;
    }
    await world.end();
    await former?.inPlace();
  } finally {
    // Whoever is still there takes the rest of the stage down with it.
    await stage.strike().finally(() => ends.disposeAsync());
  }
  return { seed, spells: figures, ...world.figures() };
}

class Killing {
  readonly #pair: Pair;
  readonly #world: FailoverWorld;
  readonly #spell: Spell;
  readonly #random: Random;
  readonly #kills: KillFigures[] = [];

  constructor(parts: {
    readonly pair: Pair;
    readonly world: FailoverWorld;
    readonly spell: Spell;
    readonly random: Random;
  }) {
    this.#pair = parts.pair;
    this.#world = parts.world;
    this.#spell = parts.spell;
    this.#random = parts.random;
  }

  async run(onKill: FailoverOptions["onKill"]): Promise<SpellFigures> {
    const { kills, leaseSeconds } = this.#spell;
    for (let kill = 1; kill <= kills; kill++) {
      const figures = await this.#kill(kill);
      onKill?.(figures);
      if (kill % CHECK_EVERY === 0) this.#world.check(`after ${kill} kills at ${leaseSeconds} s`);
    }
    return { ...figuresOf(this.#spell, this.#kills), lostLeases: this.#pair.lost };
  }

  async #kill(kill: number): Promise<KillFigures> {
    const { leaseSeconds } = this.#spell;
    await this.#pair.inPlace();
    await sleep(integerBetween(this.#random, 0, LONGEST_LIFE_MS));
    const { leader, standby, pending } = await this.#occasion();
    const underWayAtBroker = pending.filter((binding) => binding.isAtBroker()).length;
    const written = standby.nextRotationWrite();
    const killedAt = performance.now();
    await leader.kill();
    const writtenAt = await this.#firstWrite(written, standby);
    leader.revive();
    const tookMs = Math.round(writtenAt - killedAt);
    const figures = { leaseSeconds, kill, tookMs, underWay: pending.length, underWayAtBroker };
    this.#kills.push(figures);
    const problem = latenessOf(figures, limitMsOf(this.#spell));
    if (problem !== undefined) this.#world.problems.push(problem);
    return figures;
  }

  /** Whoever takes over may lose the Lease in its turn: it comes back then, and that it was late is seen all the same. */
  async #firstWrite(written: Promise<number>, standby: Replica): Promise<number> {
    const lateAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const writtenAt = await Promise.race([written, sleep(LOOK_EVERY_MS)]);
      if (writtenAt !== undefined) return writtenAt;
      if (performance.now() > lateAt) return Number.POSITIVE_INFINITY;
      await this.#pair.reviveLost(standby);
    }
  }

  /** Until one leads, the other one could, and a rotation is under way. */
  async #occasion(): Promise<Roles & { readonly pending: readonly StoryBinding[] }> {
    for (;;) {
      await this.#pair.inPlace();
      const [roles, pending] = [this.#pair.roles(), this.#world.underWay()];
      if (roles && pending.length > 0) return { ...roles, pending };
      await sleep(LOOK_EVERY_MS);
    }
  }
}

export const limitMsOf = ({ leaseSeconds, graceSeconds = GRACE_SECONDS }: Omit<Spell, "kills">): number =>
  (leaseSeconds + graceSeconds) * 1000;

/** What is wrong with how long it took; undefined where nothing is. */
export function latenessOf({ leaseSeconds, kill, tookMs }: KillFigures, limitMs: number): string | undefined {
  return tookMs <= limitMs
    ? undefined
    : `kill ${kill} at ${leaseSeconds} s: the other one rotated after ${tookMs} ms, later than ${limitMs} ms`;
}

function figuresOf(spell: Spell, all: readonly KillFigures[]): Omit<SpellFigures, "lostLeases"> {
  const { leaseSeconds, kills } = spell;
  const tookMs = all.map((kill) => kill.tookMs);
  const sum = (of: (kill: KillFigures) => number): number => all.reduce((total, kill) => total + of(kill), 0);
  return {
    leaseSeconds,
    kills,
    limitMs: limitMsOf(spell),
    tookMs: { min: percentile(tookMs, 0), median: percentile(tookMs, 0.5), max: percentile(tookMs, 1) },
    underWay: sum(({ underWay }) => underWay),
    underWayAtBroker: sum(({ underWayAtBroker }) => underWayAtBroker),
  };
}
