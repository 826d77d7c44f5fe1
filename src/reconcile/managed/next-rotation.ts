import { deletionInstant, rotationInstant } from "../../engine/dates.ts";
import type { State } from "../../engine/model.ts";
import { nextOpening } from "../../engine/windows.ts";
import type { ManagedSpec } from "./managed-kind.ts";

/**
 * When the next rotation begins if nobody holds it back: the active key is old enough, and a window is open. It does not
 * move as time passes, so that a status that tells it is not written again for that. Infinity: never, or not known before
 * the key that is being made is there.
 */
export const nextRotation = (state: State, rule: RotationRule): number =>
  state.pending ? Infinity : firstChance(state, rule);

/**
 * When the active key could be replaced for its age for the first time: it was old enough, and a window was open. Whoever
 * waits for a window is not late. Infinity: never.
 */
export function firstChance(
  { active, postponedUntil }: Pick<State, "active" | "postponedUntil">,
  { policy, windows }: RotationRule,
): number {
  const dueAt = active ? rotationInstant(policy, active, postponedUntil) : Infinity;
  return Number.isFinite(dueAt) ? (nextOpening(windows, dueAt) ?? Infinity) : Infinity;
}

/** The first date that is still to come: of the next rotation, or of the end of a retired key. Infinity: there is none. */
export function nextDate(state: State, rule: RotationRule, now: number): number {
  const chanceAt = firstChance(state, rule);
  const rotationAt = chanceAt > now ? chanceAt : (nextOpening(rule.windows, now) ?? Infinity);
  const dates = [rotationAt, ...state.retired.map((key) => deletionInstant(rule.policy, key))];
  return Math.min(...dates.filter((at) => at > now));
}

export type RotationRule = Pick<ManagedSpec, "policy" | "windows">;
