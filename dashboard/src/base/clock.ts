/**
 * Time, timers and chance as the page uses them: the one file of it that reads the ambient ones, so that whatever takes a
 * `PageClock` can be tried on one that is moved by hand.
 */
export interface PageClock {
  now(): number;
  /** Calls once, after so long; what it returns takes that back. */
  after(delayMs: number, call: () => void): () => void;
}

export const browserClock: PageClock = {
  now: () => Date.now(),
  after: (delayMs, call) => {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

/** From 0 up to, but without, 1. */
export const chance = (): number => Math.random();

/** Milliseconds of a clock that never goes back, for lengths. */
export const elapsed = (): number => performance.now();
