import { useMemo } from "preact/hooks";
import { useDerived } from "../app/hooks.ts";
import { usePage } from "../app/page-state.ts";
import { stretchOf, type TimeRange } from "../time/time-range.ts";
import { type TimeScale, timeScale } from "../time/time-scale.ts";

/** The scale of a range on a track so wide. One that follows the present moves when that is half a dot, and not every second. */
export function useScale(range: TimeRange, width: number): TimeScale {
  const page = usePage();
  const stepMs = Math.max(1000, range.spanMs / Math.max(1, width) / 2);
  const isFollowing = range.from === undefined;
  const present = useDerived(
    () => (isFollowing ? Math.floor(page.now.value / stepMs) * stepMs : 0),
    [page, stepMs, isFollowing],
  );
  const now = present.value;
  return useMemo(() => timeScale(stretchOf(range, now), width), [range, now, width]);
}
