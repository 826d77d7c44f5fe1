/**
 * Time as an injected value. Nothing outside `base/` reads the ambient clock or sets a timer of its own, so that
 * tests and the simulation can move time by hand. Must not: know what the time is used for.
 */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. May jump in either direction. */
  now(): number;
  /** Milliseconds on a clock that never goes back; only differences mean something. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs`. Delays beyond what the host can represent are clamped, never fired early. */
  setTimer(callback: () => void, delayMs: number): Timer;
}

/** Node fires any timeout above this at once instead of late. */
const MAX_HOST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs) {
    let remainingMs = Math.max(0, delayMs);
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const sliceMs = Math.min(remainingMs, MAX_HOST_DELAY_MS);
      remainingMs -= sliceMs;
      handle = setTimeout(() => (remainingMs > 0 ? arm() : callback()), sliceMs);
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs`, or at once when the signal aborts; the caller looks at the signal to tell which. */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = clock.setTimer(finish, delayMs);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
