import { MAX_INSTANT, MIN_INSTANT } from "../../../src/base/instant.ts";

/**
 * Which stretch of time is looked at. One that follows the present moves with it, and has the present at a fixed place; one
 * that was panned stays where it was put. Pure; the present is always given.
 */
export interface TimeRange {
  readonly spanMs: number;
  /** Left out: it follows the present. */
  readonly from?: number;
}

export interface Stretch {
  readonly from: number;
  readonly until: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const PRESETS = [
  { name: "10 min", words: "ten minutes", spanMs: HOUR_MS / 6 },
  { name: "1 h", words: "one hour", spanMs: HOUR_MS },
  { name: "1 d", words: "one day", spanMs: DAY_MS },
  { name: "1 w", words: "one week", spanMs: 7 * DAY_MS },
  { name: "1 mo", words: "one month", spanMs: 30 * DAY_MS },
  { name: "3 mo", words: "three months", spanMs: 91 * DAY_MS },
  { name: "1 y", words: "one year", spanMs: 365 * DAY_MS },
  { name: "2 y", words: "two years", spanMs: 730 * DAY_MS },
] as const;

export const MIN_SPAN_MS = PRESETS[0].spanMs;
export const MAX_SPAN_MS = 730 * DAY_MS;
export const DEFAULT_RANGE: TimeRange = { spanMs: 30 * DAY_MS };

/** So many rotations should be in sight. */
const ROTATIONS = 4;

/** What shows a few rotations of most of those that are looked at. */
export function fittingRange(frequencies: readonly number[]): TimeRange {
  const sorted = frequencies.filter(Number.isFinite).toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) return DEFAULT_RANGE;
  const preset = PRESETS.find(({ spanMs }) => spanMs >= middle * ROTATIONS);
  return { spanMs: preset?.spanMs ?? MAX_SPAN_MS };
}

/** Where the present stands in a range that follows it: more is shown of what comes than of what was. */
const PRESENT_SHARE = 0.35;

export const clampSpan = (spanMs: number): number =>
  Number.isFinite(spanMs) ? Math.round(Math.min(Math.max(spanMs, MIN_SPAN_MS), MAX_SPAN_MS)) : DEFAULT_RANGE.spanMs;

const clampFrom = (from: number, spanMs: number): number =>
  Math.round(Math.min(Math.max(from, MIN_INSTANT), MAX_INSTANT - spanMs));

export function stretchOf({ spanMs, from }: TimeRange, now: number): Stretch {
  const span = clampSpan(spanMs);
  const start = clampFrom(from ?? now - span * PRESENT_SHARE, span);
  return { from: start, until: start + span };
}

/** Twice as much, half as much: what stands at `anchor` stays where it is. Without one the present does, if it is in sight. */
export function zoom(range: TimeRange, factor: number, { now, anchor }: { now: number; anchor?: number }): TimeRange {
  const before = stretchOf(range, now);
  const spanMs = clampSpan(range.spanMs * factor);
  if (range.from === undefined && anchor === undefined) return { spanMs };
  const isPresentInSight = now >= before.from && now <= before.until;
  const fixed = anchor ?? (isPresentInSight ? now : (before.from + before.until) / 2);
  const share = (fixed - before.from) / (before.until - before.from);
  return { spanMs, from: clampFrom(fixed - spanMs * share, spanMs) };
}

/** By a share of what is in sight: 1 is a whole screen towards the future. */
export function pan(range: TimeRange, share: number, now: number): TimeRange {
  const { from } = stretchOf(range, now);
  const spanMs = clampSpan(range.spanMs);
  return { spanMs, from: clampFrom(from + share * spanMs, spanMs) };
}

/** Moved as little as possible, so that an instant is in sight. */
export function reveal(range: TimeRange, at: number, now: number): TimeRange {
  const { from, until } = stretchOf(range, now);
  if (!Number.isFinite(at) || (at >= from && at <= until)) return range;
  const spanMs = clampSpan(range.spanMs);
  return { spanMs, from: clampFrom(at - spanMs / 2, spanMs) };
}
