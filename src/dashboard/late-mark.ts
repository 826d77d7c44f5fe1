import { overlapOf, rotationInstant } from "../engine/dates.ts";
import type { HistoryEntry, Policy, Reason, State } from "../engine/model.ts";
import { nextOpening } from "../engine/windows.ts";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { shortLength } from "../insight/words/when.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import type { KeyMark } from "./wire.ts";

/** What a rotation takes; one that begins later than this after it was due is late. */
const GRACE_MS = 120_000;
/** A status has whole seconds. */
const ROUNDING_MS = 1000;

/** What was there before it became the active key: nobody knows by the history when it was made. */
const FOUND: ReadonlySet<Reason | undefined> = new Set(["Adopted", "StatusFromThePast", "ExternalNameChanged"]);

export const lateMarkFor = (lateMs: number): KeyMark => ({
  kind: "late",
  words: `it began ${shortLength(lateMs)} later than the policy of now asks for`,
});

/**
 * Of a rotation by schedule: whether it began late. That is by the policy of now, and said so, since nobody has written down
 * that of then; undefined where that was another one for sure, or where the key before it is not known. Pure.
 */
export function lateMark({ state, spec }: ManagedResource, entry: HistoryEntry): KeyMark | undefined {
  if (entry.reason !== "RotationDue" || spec instanceof SpecProblem) return undefined;
  const createdAt = formerMadeAt(state, entry, spec.policy);
  if (createdAt === undefined) return undefined;
  const dueAt = rotationInstant(spec.policy, { createdAt });
  const lateMs = entry.startedAt - (nextOpening(spec.windows, dueAt) ?? Infinity);
  return lateMs > GRACE_MS ? lateMarkFor(lateMs) : undefined;
}

/** When the key was made that this rotation has replaced: not before that where only the history still has it. */
function formerMadeAt({ history, retired }: State, entry: HistoryEntry, policy: Policy): number | undefined {
  const before = history.slice(history.indexOf(entry) + 1).find(({ outcome }) => outcome !== "Abandoned");
  // It was tried in time then, and put off.
  if (before?.outcome === "Ineffective") return undefined;
  const former = retired.find((key) => key.cause === "rotated" && isWithin(entry, key.retiredAt));
  if (former) return former.overlapMs === overlapOf(policy) ? former.createdAt : undefined;
  return before && !FOUND.has(before.reason) ? before.endedAt : undefined;
}

const isWithin = ({ startedAt, endedAt }: HistoryEntry, at: number): boolean =>
  at >= startedAt - ROUNDING_MS && at <= endedAt + ROUNDING_MS;
