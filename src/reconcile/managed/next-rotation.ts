import { rotationInstant } from "../../engine/dates.ts";
import type { State } from "../../engine/model.ts";
import { nextOpening } from "../../engine/windows.ts";
import type { ManagedSpec } from "./managed-kind.ts";

/**
 * When the next rotation begins if nobody holds it back: the active key is old enough, and a window is open. It does not
 * move as time passes, so that a status that tells it is not written again for that. Infinity: never, or not known before
 * the key that is being made is there.
 */
export function nextRotation(
  { active, pending, postponedUntil }: State,
  { policy, windows }: Pick<ManagedSpec, "policy" | "windows">,
): number {
  const dueAt = active && !pending ? rotationInstant(policy, active, postponedUntil) : Infinity;
  return Number.isFinite(dueAt) ? (nextOpening(windows, dueAt) ?? Infinity) : Infinity;
}
