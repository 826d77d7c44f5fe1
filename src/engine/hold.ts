import { deletionInstant, latestDeletion } from "./dates.ts";
import type { Policy, RetiredKey, Situation, State } from "./model.ts";

/**
 * Retired keys whose time is over and that are kept because somebody has not moved on from them. Pure. Nobody is waited
 * for longer than the policy says, nor for a key that is compromised or was never published. Must not: find out who uses
 * a key.
 */
const SHORTEST_MS = 5_000;
const LONGEST_MS = 60_000;

/** Whether nobody has to be asked about a key whose time is over, or nobody is behind of those who were. */
export function isFree({ policy, observation, surroundings }: Situation, key: RetiredKey): boolean {
  return latestDeletion(policy, key) <= surroundings.now || observation.consumers?.get(key.id)?.length === 0;
}

/** Whether its time is over, and somebody has not moved on from it. */
export function isHeld(situation: Situation, key: RetiredKey): boolean {
  const { policy, observation, surroundings } = situation;
  const isOver = deletionInstant(policy, key) <= surroundings.now;
  return isOver && observation.consumers?.has(key.id) === true && !isFree(situation, key);
}

/** Nothing is said to be held whose time is not over, or no longer, by the policy of now. */
export function withoutStaleHolds(state: State, policy: Policy, now: number): State {
  const isStale = (key: RetiredKey): boolean =>
    key.heldFor !== undefined && (deletionInstant(policy, key) > now || policy.maxHoldMs === undefined);
  if (!state.retired.some(isStale)) return state;
  return { ...state, retired: state.retired.map((key) => (isStale(key) ? { ...key, heldFor: undefined } : key)) };
}

/**
 * When there is something to do about a retired key: at its deletion date, or, while it is held, when its consumers are
 * asked about again, soon at first and then less often, or when the hold ends.
 */
export function nextDeletion(situation: Situation, key: RetiredKey): number {
  const { policy, surroundings } = situation;
  const deletionAt = deletionInstant(policy, key);
  if (!isHeld(situation, key)) return deletionAt;
  const { now } = surroundings;
  const pauseMs = Math.min(Math.max((now - deletionAt) / 12, SHORTEST_MS), LONGEST_MS);
  return Math.min(now + pauseMs, latestDeletion(policy, key));
}
