import type { Clock } from "../../base/clock.ts";

export interface StartLimiterOptions {
  readonly clock: Clock;
  /** How many overdue rotations may start within a second, per group. */
  readonly perSecond: number;
}

const SECOND_MS = 1000;
/** How many reservations are kept before those that nobody came back for are dropped. */
const MANY = 20_000;

/**
 * Spreads the starts of rotations that are overdue together (a policy just switched on, a long outage): each gets a slot
 * in its group and comes back for it. Rotations that are on time never ask. Must not: lose anything by being forgotten;
 * after a restart the slots are dealt anew.
 */
export class StartLimiter {
  readonly #options: StartLimiterOptions;
  readonly #nextFree = new Map<string, number>();
  readonly #reserved = new Map<string, number>();
  /** By group, how many have started within the second that began with the first of them. */
  readonly #starts = new Map<string, { readonly sinceTick: number; readonly count: number }>();

  constructor(options: StartLimiterOptions) {
    this.#options = options;
  }

  /** The wall time at which this one may start: not after now when it may. */
  admit(group: string, id: string): number {
    const { clock } = this.#options;
    const tick = clock.monotonic();
    const at = this.#slotOf(group, id, tick);
    if (at > tick) this.#reserve(id, at);
    else {
      this.#reserved.delete(id);
      const { sinceTick, count } = this.#startsOf(group, tick);
      this.#starts.set(group, { sinceTick, count: count + 1 });
    }
    return clock.now() + at - tick;
  }

  /** Who comes late finds others late too: beyond what fits into this second they get new slots. */
  #slotOf(group: string, id: string, tick: number): number {
    const reserved = this.#reserved.get(id);
    const isMissed = reserved !== undefined && reserved < tick - SECOND_MS;
    const isFull = this.#startsOf(group, tick).count >= this.#options.perSecond;
    if (reserved !== undefined && !(isMissed && isFull)) return reserved;
    const earliest = isMissed ? tick + SECOND_MS : tick;
    const at = Math.max(earliest, this.#nextFree.get(group) ?? earliest);
    this.#nextFree.set(group, at + SECOND_MS / this.#options.perSecond);
    return at;
  }

  #startsOf(group: string, tick: number): { readonly sinceTick: number; readonly count: number } {
    const known = this.#starts.get(group);
    return known && tick - known.sinceTick < SECOND_MS ? known : { sinceTick: tick, count: 0 };
  }

  #reserve(id: string, at: number): void {
    this.#reserved.set(id, at);
    if (this.#reserved.size <= MANY) return;
    const tick = this.#options.clock.monotonic();
    for (const [other, otherAt] of this.#reserved) if (otherAt < tick) this.#reserved.delete(other);
  }
}
