import { deletionInstant } from "../engine/dates.ts";
import { type ManagedResource, retiredKeys } from "../insight/resources/managed-resource.ts";
import { type ProblemToCome, problemsToCome } from "../insight/resources/problems.ts";
import { oneLine } from "../insight/words/one-line.ts";
import { notMoved } from "../reconcile/managed/consumers.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import type { Trouble, TroubleGroup } from "./wire.ts";

/** A trouble with the instant from which on it is one. */
export interface TroubleToCome extends ProblemToCome {
  readonly group: TroubleGroup;
}

/** What is said longer than this is cut: it is in the explanation as a whole. */
const MAX_MESSAGE = 600;

const GROUPS: Readonly<Record<string, TroubleGroup>> = {
  NotSeen: "overdue",
  NotRotated: "overdue",
  NotDeleted: "overdue",
  NotFinished: "overdue",
  RotationIneffective: "ineffective",
  ClockSkewed: "skewed",
  MadeInTheFuture: "skewed",
  DateUnreadable: "skewed",
};

/** What is wrong with a resource or will be, and which of its keys are kept for somebody who has not moved. */
export const troublesToCome = (resource: ManagedResource, now: number): readonly TroubleToCome[] => [
  ...problemsToCome(resource, now).map((problem) => ({
    ...problem,
    message: shortened(problem.message),
    group: GROUPS[problem.reason] ?? "failing",
  })),
  ...heldKeys(resource),
];

/** One for all keys: who is behind is mostly the same for each. */
function heldKeys({ state, spec }: ManagedResource): readonly TroubleToCome[] {
  const [first, ...others] = retiredKeys(state).filter(({ heldFor }) => heldFor !== undefined);
  if (first?.heldFor === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const since = spec instanceof SpecProblem ? first.deletionAt : deletionInstant(spec.policy, first);
  const message = shortened(`retired key ${first.name}${more} is kept: ${notMoved(first.heldFor)}`);
  const isDated = Number.isFinite(since);
  return [{ reason: "ConsumersBehind", message, since: isDated ? since : undefined, from: -Infinity, group: "held" }];
}

function shortened(message: string): string {
  const line = message.includes("\n") ? oneLine(message) : message;
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line;
}

/** Those that there are by now. */
export const troublesAt = (troubles: readonly TroubleToCome[], now: number): readonly Trouble[] =>
  troubles.flatMap(({ from, until = Infinity, reason, message, since, group }) =>
    from <= now && now < until ? [{ reason, message, ...(since !== undefined && { since }), group }] : [],
  );

/** When the next of them begins or is over; Infinity: none does. */
export const nextTrouble = (troubles: readonly TroubleToCome[], now: number): number =>
  troubles
    .flatMap(({ from, until = Infinity }) => [from, until])
    .reduce((next, at) => (at > now ? Math.min(next, at) : next), Infinity);
