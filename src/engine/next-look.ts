import type { Situation } from "./model.ts";

/** So that what is finished within seconds is noticed within a second. */
const SHORTEST_MS = 800;
const LONGEST_MS = 30_000;

/** When to look again at something outside that has been under way since then: soon at first, and then ever less often. */
export function nextLook(since: number, now: number): number {
  return now + Math.min(Math.max((now - since) / 12, SHORTEST_MS), LONGEST_MS);
}

/**
 * The same for the pending key, from when it was asked for, if that is known to be later than its intent. Where the outside
 * makes itself heard, asking again is only for the case that it was not.
 */
export function lookAgain(
  { now, hearsOutside, askedAt }: Pick<Situation["surroundings"], "now" | "hearsOutside" | "askedAt">,
  since: number,
): number {
  return hearsOutside ? now + LONGEST_MS : nextLook(Math.max(since, askedAt ?? since), now);
}
