import type { Clock, Timer } from "./clock.ts";

interface Pending {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that only moves when told to. Timers fire in the order of their due times, ties in the order they were set.
 * The wall clock can be made to jump without time passing (`jump`), as a real one does after a correction.
 */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  #offsetMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startAt = Date.UTC(2026, 0, 1)) {
    this.#offsetMs = startAt;
  }

  now(): number {
    return this.#offsetMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const pending: Pending = { at: this.#elapsedMs + Math.max(0, delayMs), order: this.#order++, callback };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  /** Moves the wall clock alone; timers keep their remaining time. */
  jump(byMs: number): void {
    this.#offsetMs += byMs;
  }

  /** The delay until the next timer, or undefined when none is set. */
  nextTimerMs(): number | undefined {
    const next = this.#next();
    return next && next.at - this.#elapsedMs;
  }

  get timerCount(): number {
    return this.#pending.size;
  }

  /** Lets `byMs` pass, firing what comes due on the way and letting promises settle after each. */
  async advance(byMs: number): Promise<void> {
    const until = this.#elapsedMs + byMs;
    await settle();
    for (let next = this.#next(); next && next.at <= until; next = this.#next()) {
      this.#pending.delete(next);
      this.#elapsedMs = next.at;
      next.callback();
      await settle();
    }
    this.#elapsedMs = until;
    await settle();
  }

  #next(): Pending | undefined {
    let best: Pending | undefined;
    for (const pending of this.#pending) {
      if (!best || pending.at < best.at || (pending.at === best.at && pending.order < best.order)) best = pending;
    }
    return best;
  }
}

/** Lets everything that is ready to run do so: promise reactions, and what they schedule in turn. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
