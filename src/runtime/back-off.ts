import type { RetryRule } from "../base/errors.ts";
import type { Random } from "../base/random.ts";

/** How the pauses between failed attempts grow. */
export interface BackOff {
  readonly baseMs: number;
  readonly capMs: number;
  /** The longest pause that an `after` rule can ask for: what the other side says is honoured, up to here. */
  readonly maxAfterMs: number;
}

export const defaultBackOff: BackOff = { baseMs: 100, capMs: 5 * 60_000, maxAfterMs: 60 * 60_000 };

/** Doubling is pointless past this, and 2 ** n must stay finite for any count of failures. */
const MAX_DOUBLINGS = 40;

/** The upper edge of the pause after this many failures in a row (1 is the first). */
export function backOffCeilingMs(failures: number, rule: BackOff): number {
  const doublings = Math.min(Math.max(0, failures - 1), MAX_DOUBLINGS);
  return Math.min(rule.capMs, rule.baseMs * 2 ** doublings);
}

/** A pause between half the ceiling and the ceiling, so that keys that failed together do not return together. */
export function backOffMs(failures: number, rule: BackOff, random: Random): number {
  const ceilingMs = backOffCeilingMs(failures, rule);
  return ceilingMs / 2 + (ceilingMs / 2) * random.next();
}

/**
 * How long to wait after this many failures in a row, or undefined when trying again would change nothing. An `after`
 * rule is never undercut, and the first one is taken at its word; when it fails again and again the usual back-off
 * applies as well, so that `after(0)` (a conflict) cannot become a hot loop.
 */
export function retryDelayMs(
  retry: RetryRule,
  failures: number,
  rule: BackOff,
  random: Random,
): { readonly delayMs: number; readonly floorMs: number } | undefined {
  if (retry.kind === "never") return undefined;
  if (retry.kind === "backoff") return { delayMs: backOffMs(failures, rule, random), floorMs: 0 };
  const askedMs = Number.isFinite(retry.delayMs) ? Math.max(0, retry.delayMs) : rule.maxAfterMs;
  const floorMs = Math.min(askedMs, rule.maxAfterMs);
  const spreadMs = floorMs * 0.1 * random.next();
  const grownMs = failures > 1 ? backOffMs(failures - 1, rule, random) : 0;
  return { delayMs: Math.max(floorMs + spreadMs, grownMs), floorMs };
}
