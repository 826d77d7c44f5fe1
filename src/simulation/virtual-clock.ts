import type { Clock, Timer } from "../base/clock.ts";

const NO_TIMER: Timer = { cancel: () => {} };

/**
 * True time in the simulated world. It moves only when told to, and timers never fire: a call that is not answered in
 * time is a fault of its own, drawn at a call like every other one.
 */
export class VirtualClock implements Clock {
  readonly #startAt: number;
  #elapsedMs = 0;

  constructor(startAt: number) {
    this.#startAt = startAt;
  }

  now(): number {
    return this.#startAt + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  setTimer(): Timer {
    return NO_TIMER;
  }

  advance(byMs: number): void {
    this.#elapsedMs += Math.max(0, byMs);
  }

  /** Everything from the beginning, for the next schedule. */
  reset(): void {
    this.#elapsedMs = 0;
  }
}

/** Whoever sets a timer for longer means to give something up then. */
const LONGEST_WAIT_MS = 5000;

/** The clock of one machine: true time, and how far its wall clock is off. Short waits are stops like any call. */
export class MachineClock implements Clock {
  offsetMs = 0;
  readonly #truth: Clock;
  readonly #wait: (ms: number) => Promise<void>;

  constructor(truth: Clock, wait: (ms: number) => Promise<void>) {
    this.#truth = truth;
    this.#wait = wait;
  }

  now(): number {
    return this.#truth.now() + this.offsetMs;
  }

  monotonic(): number {
    return this.#truth.monotonic();
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    if (delayMs <= LONGEST_WAIT_MS) void this.#wait(delayMs).then(callback);
    return NO_TIMER;
  }
}
