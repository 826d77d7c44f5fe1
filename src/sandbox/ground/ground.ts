import { type Clock, delay } from "../../base/clock.ts";
import { type Random, uuid } from "../../base/random.ts";

export interface GroundOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Part of every secret that is given out, so that leaks can be looked for. */
  readonly canary: string;
}

/** What a snapshot tells of time and order. */
export interface GroundSnapshot {
  readonly tick: number;
  readonly savedAt: number;
  readonly nextSequence: number;
}

/**
 * What the worlds of all sandboxes stand on: time, order and chance. Nothing runs by itself: what is under way carries
 * the tick at which it goes on, and whoever looks lets it catch up first. So no timer outlives a request, and the same
 * calls at the same times give the same world. Must not: know what a world holds.
 */
export class Ground {
  readonly clock: Clock;
  readonly random: Random;
  readonly canary: string;
  #nextSequence = 1;
  #tickOffset: number;

  constructor({ clock, random, canary }: GroundOptions) {
    this.clock = clock;
    this.random = random;
    this.canary = canary;
    this.#tickOffset = -clock.monotonic();
  }

  /** On the sandbox's own clock, which never jumps. */
  tick(): number {
    return this.clock.monotonic() + this.#tickOffset;
  }

  now(): number {
    return this.clock.now();
  }

  /** The wall-clock time of a tick that may be past: things happen when they are due, not when somebody looks. */
  wallTimeOf(tick: number): number {
    return this.now() - (this.tick() - tick);
  }

  async until(tick: number): Promise<void> {
    for (let left = tick - this.tick(); left > 0; left = tick - this.tick()) await delay(this.clock, left);
  }

  sequence(): number {
    return this.#nextSequence++;
  }

  uuid(): string {
    return uuid(this.random);
  }

  secret(): string {
    return `${this.canary}-${Buffer.from(this.random.bytes(20)).toString("hex")}`;
  }

  protected groundSnapshot(): GroundSnapshot {
    return { tick: this.tick(), savedAt: this.now(), nextSequence: this.#nextSequence };
  }

  /** The time between the two counts as passed. */
  protected restoreGround({ tick, savedAt, nextSequence }: GroundSnapshot): void {
    this.#tickOffset = tick + Math.max(0, this.now() - savedAt) - this.clock.monotonic();
    this.#nextSequence = nextSequence;
  }
}

/** Of what is due at this tick, the one that was due first. */
export function firstDue<T extends { readonly dueTick: number }>(items: Iterable<T>, tick: number): T | undefined {
  let best: T | undefined;
  for (const item of items) if (item.dueTick <= tick && (!best || item.dueTick < best.dueTick)) best = item;
  return best;
}
