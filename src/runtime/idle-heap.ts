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

/**
 * Gives memory back once work is done. A start reads every object there is and keeps a little of each, and a fan-out
 * writes hundreds; the garbage of both would otherwise stay until the next one, since whoever does nothing collects
 * nothing. Must not: pause anything while there is work.
 */
export class IdleHeap {
  readonly #options: IdleHeapOptions;
  #timer: Timer;
  #wasIdle = false;
  #usedBytes = 0;
  #releasedAt = Number.NEGATIVE_INFINITY;

  constructor(options: IdleHeapOptions) {
    this.#options = options;
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
    if (!wasIdle || !this.#wasIdle || clock.monotonic() - this.#releasedAt < LEAST_INTERVAL_MS) return;
    if (heap.usedBytes() - this.#usedBytes < WORTHWHILE_BYTES) return;
    heap.release();
    this.#usedBytes = heap.usedBytes();
    this.#releasedAt = clock.monotonic();
  }
}
