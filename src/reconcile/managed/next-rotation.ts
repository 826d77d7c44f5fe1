import { rotationInstant } from "../../engine/dates.ts";
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

export type RotationRule = Pick<ManagedSpec, "policy" | "windows">;
