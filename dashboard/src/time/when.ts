/**
 * Instants and lengths in the words of the commands (src/insight/words/when.ts), which the test beside this compares. What
 * is no date, or beyond what a document can say, still gets words: a page must not break on a number.
 */
const UNITS = [
  ["y", 365 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

export const MIN_INSTANT = Date.parse("0000-01-01T00:00:00Z");
export const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59);

export const isDate = (at: number | undefined): at is number => at !== undefined && Number.isFinite(at);

/** The two largest units that are next to each other: `8d20h`, `4m`, `0s`. */
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

const within = (at: number): Date => new Date(Math.min(Math.max(at, MIN_INSTANT), MAX_INSTANT));

/** `2026-11-18T10:21:05Z`, for machines. */
export const isoInstant = (at: number): string => `${within(at).toISOString().slice(0, 19)}Z`;

/** `2026-11-18 10:21:05 UTC`. */
export const utcText = (at: number): string =>
  Number.isFinite(at) ? `${within(at).toISOString().slice(0, 19).replace("T", " ")} UTC` : "never";

/** `2026-11-18`. */
export const utcDay = (at: number): string => (Number.isFinite(at) ? within(at).toISOString().slice(0, 10) : "never");

/** Both ways of saying it, for whoever points at a time: UTC, and what the clock on the wall says. */
export function bothTexts(at: number): string {
  if (!Number.isFinite(at)) return "never";
  const here = within(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
  return `${utcText(at)} (here: ${here})`;
}
