import type { Clock } from "../../base/clock.ts";

/** Aborted when the given signal is, or once the time is up. `cancel` gives the timer back. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
  cancel(): void;
}

export function startDeadline(clock: Clock, timeoutMs: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = clock.setTimer(() => controller.abort(), timeoutMs);
  return {
    signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
    isOver: () => controller.signal.aborted,
    cancel: () => timer.cancel(),
  };
}

/** The outcome of the work, or a rejection as soon as the signal aborts. The work itself goes on: others may share it. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new Error("aborted"));
    if (signal.aborted) {
      work.catch(() => {});
      return leave();
    }
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
