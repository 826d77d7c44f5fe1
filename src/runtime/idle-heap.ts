import type { Clock, Timer } from "../base/clock.ts";

/** The heap of this process, where it can be asked to give back what it no longer needs. */
export interface Heap {
  usedBytes(): number;
  /** Collects all garbage and returns the memory; nothing else runs meanwhile. */
  release(): void;
}

export interface IdleHeapOptions {
  readonly heap: Heap;
  readonly clock: Clock;
  /** Nothing is being worked on, and nothing waits for it. */
  readonly isIdle: () => boolean;
}

const LOOK_MS = 1000;
/** Less than this is not worth a pause. */
const WORTHWHILE_BYTES = 4 * 1024 * 1024;
/** A pause may take some tenths of a second, while there is nothing to do; at most so often, nobody notices. */
const LEAST_INTERVAL_MS = 15_000;
/** Where thousands of keys live for minutes there is never nothing to do: then so often, whatever there is. */
const BUSY_INTERVAL_MS = 120_000;

/**
 * Gives memory back once work is done. A start reads every object there is and keeps a little of each, and a fan-out
 * writes hundreds; the garbage of both would otherwise stay until the next one, since whoever does nothing collects
 * nothing. Whoever always has something to do gives it back now and then all the same. Must not: pause work more often than
 * that.
 */
export class IdleHeap {
  readonly #options: IdleHeapOptions;
  #timer: Timer;
  #wasIdle = false;
  #usedBytes = 0;
  #releasedAt = Number.NEGATIVE_INFINITY;
  #busySince: number;

  constructor(options: IdleHeapOptions) {
    this.#options = options;
    this.#busySince = options.clock.monotonic();
    this.#timer = this.#next();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): Timer {
    return this.#options.clock.setTimer(() => {
      this.#look();
      this.#timer = this.#next();
    }, LOOK_MS);
  }

  /** Idle at two looks in a row: between two steps of the same work there are moments of rest. */
  #look(): void {
    const { heap, clock, isIdle } = this.#options;
    const wasIdle = this.#wasIdle;
    this.#wasIdle = isIdle();
    const isAtRest = wasIdle && this.#wasIdle;
    const now = clock.monotonic();
    if (isAtRest) this.#busySince = now;
    const isDue = isAtRest ? now - this.#releasedAt >= LEAST_INTERVAL_MS : now - this.#busySince >= BUSY_INTERVAL_MS;
    if (!isDue) return;
    this.#busySince = now;
    if (heap.usedBytes() - this.#usedBytes < WORTHWHILE_BYTES) return;
    heap.release();
    this.#usedBytes = heap.usedBytes();
    this.#releasedAt = now;
  }
}
