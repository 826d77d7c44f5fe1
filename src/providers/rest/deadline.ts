import type { Clock } from "../../base/clock.ts";

/** Aborted when the given signal is, or once the time is up. `cancel` gives the timer back. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
  cancel(): void;
}

export function startDeadline(clock: Clock, timeoutMs: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const timer = clock.setTimer(() => {
    isOver = true;
    controller.abort();
  }, timeoutMs);
  // A signal that follows two others is several times as dear, and there is one for every request.
  const follow = (): void => controller.abort();
  if (signal?.aborted) follow();
  else signal?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    cancel: () => {
      timer.cancel();
      signal?.removeEventListener("abort", follow);
    },
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
