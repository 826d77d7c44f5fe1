import type { WindowBar } from "../../../src/dashboard/wire.ts";
import type { TimeScale } from "../time/time-scale.ts";

/** The times at which a credential may be rotated, as far as they can be told apart on a track. Pure. */
export interface Span {
  readonly x: number;
  readonly width: number;
  /** Several of them, nearer to each other than can be seen. */
  readonly isMany: boolean;
}

/** Thinner nobody sees it. */
const MIN_WIDTH = 1.5;
/** Nearer to the one before, both would only be grey. */
const MIN_GAP = 2;

export function windowSpans(windows: readonly WindowBar[], scale: TimeScale): readonly Span[] {
  const spans: Span[] = [];
  for (const { from, until, isMany = false } of windows) {
    if (until < scale.from || from > scale.until) continue;
    const x = scale.x(from);
    const end = Math.max(scale.x(until), x + MIN_WIDTH);
    const last = spans.at(-1);
    if (last && x - (last.x + last.width) < MIN_GAP) spans[spans.length - 1] = spanOf(last.x, end, true);
    else spans.push(spanOf(x, end, isMany));
  }
  return spans;
}

const spanOf = (x: number, end: number, isMany: boolean): Span => ({
  x,
  width: Math.round((end - x) * 10) / 10,
  isMany,
});
