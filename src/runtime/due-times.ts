import { createHash } from "node:crypto";
import type { Clock, Timer } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { KeyedHeap } from "./keyed-heap.ts";

/**
 * When each key is to be looked at again: one heap of wall-clock due times and one timer for the earliest. The timer only
 * says when to look; what is due is decided by the wall clock at that moment, so a machine that slept or a clock that was
 * set fires what is due by the new time, and nothing before it. Must not: work on a key, or keep more than one time per
 * key.
 */
export interface DueTimesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once for each due key, earliest first. A key is forgotten before its call, so it may be set again in it. */
  readonly onDue: (key: string) => void;
  /** A wall clock that was set forward is noticed within this much elapsed time. */
  readonly recheckMs?: number;
}

const DEFAULT_RECHECK_MS = 60_000;

export class DueTimes {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #onDue: (key: string) => void;
  readonly #recheckMs: number;
  readonly #heap = new KeyedHeap();
  /** Keys that are due in the present turn and not called yet; setting or clearing one of them takes it out. */
  readonly #firing = new Set<string>();
  #armed: { readonly timer: Timer; readonly dueAt: number } | undefined;
  #isFiring = false;
  #isStopped = false;

  constructor(options: DueTimesOptions) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#onDue = options.onDue;
    this.#recheckMs = options.recheckMs ?? DEFAULT_RECHECK_MS;
  }

  get size(): number {
    return this.#heap.size;
  }

  dueAt(key: string): number | undefined {
    return this.#heap.rankOf(key);
  }

  /** Sets or moves the key's due time. `Infinity` means never. */
  set(key: string, dueAt: number): void {
    if (Number.isNaN(dueAt)) throw new RangeError(`due time of "${key}" is not a number`);
    if (dueAt === Infinity) {
      this.clear(key);
      return;
    }
    if (this.#isStopped || this.#heap.rankOf(key) === dueAt) return;
    this.#firing.delete(key);
    this.#heap.set(key, dueAt);
    this.#arm();
  }

  clear(key: string): void {
    this.#firing.delete(key);
    if (this.#heap.delete(key)) this.#arm();
  }

  /** Forgets everything; nothing fires any more. */
  stop(): void {
    this.#isStopped = true;
    this.#firing.clear();
    this.#heap.clear();
    this.#arm();
  }

  #arm(): void {
    if (this.#isFiring) return;
    const dueAt = this.#heap.peek()?.rank;
    if (dueAt !== undefined && dueAt === this.#armed?.dueAt) return;
    this.#armed?.timer.cancel();
    this.#armed = undefined;
    if (dueAt === undefined) return;
    const delayMs = Math.min(Math.max(0, dueAt - this.#clock.now()), this.#recheckMs);
    this.#armed = { timer: this.#clock.setTimer(() => this.#fire(), delayMs), dueAt };
  }

  #fire(): void {
    this.#armed = undefined;
    this.#isFiring = true;
    // The instant is read once: a key that is set again to the past fires on the next turn, not in an endless loop here.
    const nowAt = this.#clock.now();
    for (let head = this.#heap.peek(); head && head.rank <= nowAt; head = this.#heap.peek()) {
      this.#firing.add(head.key);
      this.#heap.delete(head.key);
    }
    for (const key of this.#firing) {
      this.#firing.delete(key);
      this.#call(key);
    }
    this.#isFiring = false;
    this.#arm();
  }

  #call(key: string): void {
    try {
      this.#onDue(key);
    } catch (error) {
      this.#logger.error("a due time could not be delivered", { key, error });
    }
  }
}

/**
 * A whole number of milliseconds in [0, spanMs) that depends on the UID alone: spreads what would otherwise come due at
 * the same instant, and stays where it is over restarts.
 */
export function jitter(uid: string, spanMs: number): number {
  if (!(spanMs > 0)) return 0;
  const fraction = createHash("sha256").update(uid).digest().readUIntBE(0, 6) / 2 ** 48;
  return Math.floor(fraction * spanMs);
}
