import { formatDuration, parseDuration } from "../base/duration.ts";
import { InvalidValue } from "../base/errors.ts";

/** At which age a key is replaced, as it was written and as it counts. */
export interface RotateAfter {
  readonly text: string;
  readonly ms: number;
}

const HOUR_MS = 3_600_000;
const MAX_MS = 8760 * HOUR_MS;

const DEFAULT_MIN_ROTATE_AFTER_MS = HOUR_MS;

/** What the document says where nobody says anything. */
export const DEFAULT_ROTATE_AFTER: RotateAfter = { text: "2160h", ms: 2160 * HOUR_MS };

/** Throws `InvalidValue`. The operator may be told to take less than an hour, for demonstrations and tests. */
export function parseRotateAfter(text: string, minMs: number = DEFAULT_MIN_ROTATE_AFTER_MS): RotateAfter {
  const ms = parseDuration(text, { positive: true });
  if (ms < minMs) {
    throw new InvalidValue(`must be at least ${formatDuration(minMs)} (--min-rotate-after of the operator)`);
  }
  if (ms > MAX_MS) throw new InvalidValue("must be at most 8760h (365d)");
  return { text, ms };
}
