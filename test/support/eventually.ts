import { setTimeout as sleep } from "node:timers/promises";

const DEFAULT_PATIENCE_MS = 45_000;

/** Asks until there is an answer other than undefined; `what` says in the failure what was waited for. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined>,
  patienceMs = DEFAULT_PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 200)) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`not within ${patienceMs / 1000} s: ${what}`);
    await sleep(pauseMs);
  }
}
