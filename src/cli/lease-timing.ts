import { UsageError } from "../base/errors.ts";
import type { ElectionTiming } from "../runtime/leader-election.ts";
import type { Flags, OptionSpec } from "./command.ts";
import { readDuration } from "./flag-values.ts";

const SECOND_MS = 1000;
/** Sooner than this, a leader on a busy machine would lose the Lease for no reason. */
const SHORTEST_MS = 3 * SECOND_MS;
/** Later than this, nobody would call it a fail-over. */
const LONGEST_MS = 600 * SECOND_MS;

export const leaseDurationOption: OptionSpec = {
  name: "lease-duration",
  value: "DURATION",
  description:
    "How long after its last sign of life a leader is taken for dead: whole seconds, from 3s to 10m. It renews its Lease every 2/15 of that, and stops after 2/3 of it without success.",
  default: "15s",
};

/**
 * All lengths of an election from the one that people choose, in the proportions of client-go's 15 s, 10 s and 2 s: what
 * keeps two from leading at once is how far the first two are apart, for clocks of any speed.
 */
export function readLeaseTiming(
  flags: Flags,
): Pick<ElectionTiming, "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs"> {
  const leaseDurationMs = readDuration(flags, leaseDurationOption.name);
  // A Lease says it in whole seconds.
  const isWhole = leaseDurationMs % SECOND_MS === 0;
  if (!isWhole || leaseDurationMs < SHORTEST_MS || leaseDurationMs > LONGEST_MS) {
    throw new UsageError(
      `--${leaseDurationOption.name} must be whole seconds from 3s to 10m, not "${flags.text(leaseDurationOption.name)}"`,
    );
  }
  return {
    leaseDurationMs,
    renewDeadlineMs: (leaseDurationMs * 10) / 15,
    retryPeriodMs: (leaseDurationMs * 2) / 15,
  };
}
