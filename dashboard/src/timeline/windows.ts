import type { Interval } from "../../../src/dashboard/wire.ts";
import type { TimeScale } from "../time/time-scale.ts";

/** The times at which a credential may be rotated, as far as they can be told apart on a track. Pure. */
export interface Span {
  readonly x: number;
  readonly width: number;
}

/** Thinner, or nearer to the one before, they are only grey. */
const MIN_WIDTH = 1.5;
const MIN_GAP = 2;

export function windowSpans(windows: readonly Interval[], scale: TimeScale): readonly Span[] {
  const spans: Span[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const { from, until } of windows) {
    if (until < scale.from || from > scale.until) continue;
    const x = scale.x(from);
    const width = Math.round((scale.x(until) - x) * 10) / 10;
    if (width < MIN_WIDTH || x - last < MIN_GAP) continue;
    spans.push({ x, width });
    last = x + width;
  }
  return spans;
}
