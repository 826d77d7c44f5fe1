import type { Situation } from "./model.ts";

/** So that what is finished within seconds is noticed within a second. */
const SHORTEST_MS = 800;
const LONGEST_MS = 30_000;

/** When to look again at something outside that has been under way since then: soon at first, and then ever less often. */
export function nextLook(since: number, now: number): number {
  return now + Math.min(Math.max((now - since) / 12, SHORTEST_MS), LONGEST_MS);
}

/** The same, but for an outside that makes itself heard: asking again is only for the case that it was not. */
export function lookAgain({ now, hearsOutside }: Situation["surroundings"], since: number): number {
  return hearsOutside ? now + LONGEST_MS : nextLook(since, now);
}
