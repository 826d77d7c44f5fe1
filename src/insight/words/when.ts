import { formatInstant } from "../../base/instant.ts";

/** Instants and lengths as people read them in a terminal. Exact ones are for files; here two units are enough. */
const UNITS = [
  ["y", 365 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** The two largest units that are next to each other, as kubectl does it: `8d20h`, `4m`, `0s`; what is finer is cut. */
export function shortLength(ms: number): string {
  if (!Number.isFinite(ms)) return "forever";
  let restMs = Math.abs(ms);
  const first = UNITS.findIndex(([, unitMs]) => restMs >= unitMs);
  if (first < 0) return "0s";
  let words = "";
  for (const [unit, unitMs] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    if (count > 0) words += `${count}${unit}`;
  }
  return words;
}

/** `in 3d4h`, `3d4h ago`, `now`, `never`. */
export function relative(at: number, now: number): string {
  if (!Number.isFinite(at)) return "never";
  const awayMs = at - now;
  if (Math.abs(awayMs) < 1000) return "now";
  return awayMs > 0 ? `in ${shortLength(awayMs)}` : `${shortLength(awayMs)} ago`;
}

/** `2026-11-27T12:00:00Z, in 3d4h`. */
export function moment(at: number, now: number): string {
  return Number.isFinite(at) ? `${formatInstant(at)}, ${relative(at, now)}` : "never";
}
