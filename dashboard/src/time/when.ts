import { formatInstant } from "../../../src/base/instant.ts";

/**
 * Instants as texts of the page; what they are from now, and how long something is, is said in the words of the commands
 * (src/insight/words/when.ts). What is no date still gets words: a page must not break on a number.
 */
export const isDate = (at: number | undefined): at is number => at !== undefined && Number.isFinite(at);

/** `2026-11-18 10:21:05 UTC`. */
export const utcText = (at: number): string =>
  Number.isFinite(at) ? formatInstant(at).replace("T", " ").replace("Z", " UTC") : "never";

/** `2026-11-18`. */
export const utcDay = (at: number): string => (Number.isFinite(at) ? formatInstant(at).slice(0, 10) : "never");

/** Both ways of saying it, for whoever points at a time: UTC, and what the clock on the wall says. */
export function bothTexts(at: number): string {
  if (!Number.isFinite(at)) return "never";
  const here = new Date(formatInstant(at)).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
  return `${utcText(at)} (here: ${here})`;
}
