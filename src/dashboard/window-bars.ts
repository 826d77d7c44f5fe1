import { MAX_INSTANT, MIN_INSTANT } from "../base/instant.ts";
import { closesAt, type MaintenanceWindow, nextOpening } from "../engine/windows.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import type { Interval, WindowBar } from "./wire.ts";

/** More than a track can show apart, of a stretch that is twice as long as what is in sight. */
const MAX_BARS = 400;

/** The windows of a resource by the policy of now, in the past as well; none where it may be rotated at any time. */
export function windowsOf({ spec, state }: ManagedResource, within: Interval): readonly WindowBar[] | undefined {
  if (spec instanceof SpecProblem || state.isDeleting || spec.windows.length === 0) return undefined;
  const [from, until] = [Math.max(within.from, MIN_INSTANT), Math.min(within.until, MAX_INSTANT)];
  return windowBars(spec.windows, { from, until });
}

/**
 * Where windows are open within a stretch of time. Those that follow each other sooner than a `MAX_BARS`th of it are one bar
 * that says so: the answer, and the work for it, are the same however often they open. Pure.
 */
export function windowBars(windows: readonly MaintenanceWindow[], { from, until }: Interval): readonly WindowBar[] {
  const bars: WindowBar[] = [];
  const leastMs = (until - from) / MAX_BARS;
  for (let at = from; at < until; ) {
    const opensAt = nextOpening(windows, at);
    if (opensAt === undefined || opensAt >= until) break;
    const { end, isMany } = barEnd(windows, opensAt, { until, leastMs });
    bars.push({ from: opensAt, until: Math.min(end, until), ...(isMany && { isMany }) });
    if (end <= at) break;
    at = end;
  }
  return bars;
}

function barEnd(
  windows: readonly MaintenanceWindow[],
  opensAt: number,
  { until, leastMs }: { readonly until: number; readonly leastMs: number },
): { readonly end: number; readonly isMany: boolean } {
  let end = closesAt(windows, opensAt) ?? opensAt;
  let isMany = false;
  while (end < until) {
    const next = nextOpening(windows, end);
    if (next === undefined || next - end >= leastMs) break;
    isMany = true;
    // What opens and closes within one step is passed over: nobody could see it.
    end = Math.max(closesAt(windows, next) ?? next, end + leastMs);
  }
  return { end, isMany };
}
