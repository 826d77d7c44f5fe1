const CLOSE_PAUSE_MS = 800;
/** Beyond it a job is a long one, and a look is due after a twelfth of the time it has taken so far. */
const CLOSE_LOOKS_MS = 12_000;
const MAX_PAUSE_MS = 30_000;

/**
 * How long to leave a job alone that has been under way for so long: most end within seconds and are noticed within one;
 * those that take minutes are noticed a little later, and asked after less often.
 */
export function lookAgainMs(underWayMs: number): number {
  if (underWayMs < CLOSE_LOOKS_MS) return CLOSE_PAUSE_MS;
  return Math.min(MAX_PAUSE_MS, Math.round(underWayMs / 12));
}
