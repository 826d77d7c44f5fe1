import { formatInstant, parseInstant } from "../../base/instant.ts";
import { deletionInstant, latestDeletion, rotationInstant } from "../../engine/dates.ts";
import type { RetiredKey } from "../../engine/model.ts";
import { nextOpening } from "../../engine/windows.ts";
import { fieldsOf, itemsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import type { ManagedResource } from "./managed-resource.ts";

/** Something a person should look at, in the operator's words where it has said something. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
  readonly since: number | undefined;
}

/** A problem that there is from an instant on, unless something happens before. */
export interface ProblemToCome extends Problem {
  /** `-Infinity`: it is there whatever the time. */
  readonly from: number;
  /** Left out: until somebody does something. */
  readonly until?: number;
}

/** An operator that works is done with anything long before this. */
const GRACE_MS = 120_000;
/** So far clocks may be apart without anybody minding. */
const SKEW_MS = 60_000;
/** A key may take long to be made where the outside works asynchronously. */
const MAKING_GRACE_MS = 900_000;

const OPERATOR = "is the operator running?";
// Made once: of thousands of resources each has one of them in store.
const NOT_SEEN = `no operator has looked at it yet: ${OPERATOR}`;
const NOT_ROTATED = `a rotation is overdue: ${OPERATOR}`;
const NOT_DELETED = `the deletion of a retired key is overdue: ${OPERATOR}`;

/**
 * What is wrong with a resource: what its conditions say, and else what the dates in it give away. What is held back by a
 * person or by a window is not wrong.
 */
export const problemsOf = (resource: ManagedResource, now: number): readonly Problem[] =>
  problemsToCome(resource, now).flatMap(({ from, until = Infinity, ...problem }) =>
    from <= now && now < until ? [problem] : [],
  );

/** The same, and what will be wrong with it if nobody does anything. */
export function problemsToCome(resource: ManagedResource, now: number): readonly ProblemToCome[] {
  const said = conditionProblems(resource);
  const { spec } = resource;
  if (spec instanceof SpecProblem) {
    return said.length > 0 ? said : [{ reason: spec.code, message: spec.message, since: undefined, from: -Infinity }];
  }
  const dated = misdated(resource, now);
  if (said.length > 0 || resource.isPaused) return [...said, ...dated];
  return [...dated, ...unseen(resource), ...late(resource)];
}

interface ConditionView {
  readonly status: string | undefined;
  readonly reason: string;
  readonly message: string;
  readonly since: number | undefined;
}

export function conditionOf({ object }: Pick<ManagedResource, "object">, type: string): ConditionView | undefined {
  const found = itemsOf(fieldsOf(object.status).conditions).find((condition) => condition.type === type);
  return (
    found && {
      status: textOf(found.status),
      reason: textOf(found.reason) ?? "",
      message: textOf(found.message) ?? "",
      since: parseInstant(found.lastTransitionTime),
    }
  );
}

function conditionProblems(resource: ManagedResource): readonly ProblemToCome[] {
  const synced = conditionOf(resource, "Synced");
  const ineffective = conditionOf(resource, "RotationIneffective");
  return [
    ...(synced?.status === "False" ? [synced] : []),
    ...(ineffective?.status === "True" ? [{ ...ineffective, reason: "RotationIneffective" }] : []),
  ].map(({ reason, message, since }) => ({ reason, message, since, from: -Infinity }));
}

/** Dates that cannot be right: a rotation is counted from when a key was made, and by these it never comes, or at once. */
function misdated({ object, state: { active } }: ManagedResource, now: number): readonly ProblemToCome[] {
  if (active) {
    const until = active.createdAt - SKEW_MS;
    if (until <= now) return [];
    const message = `the active key ${active.name} says that it was made at ${formatInstant(active.createdAt)}, which is still to come: that cannot be right, and it is not rotated before it is as old as its policy says`;
    return [{ reason: "MadeInTheFuture", message, since: undefined, from: -Infinity, until }];
  }
  const at = fieldsOf(fieldsOf(object.status).atProvider);
  // Under whatever name a kind has them.
  const [id, date] = [textOf(at.id ?? at.guid ?? at.uid), textOf(at.createdDate ?? at.createdAt)];
  if (id === undefined || date === undefined || parseInstant(date) !== undefined) return [];
  const message = `the status says that the key ${textOf(at.name) ?? id} was made at ${date}: that cannot be right, and the key counts for none`;
  return [{ reason: "DateUnreadable", message, since: undefined, from: -Infinity }];
}

function unseen({ object, state }: ManagedResource): readonly ProblemToCome[] {
  const createdAt = parseInstant(object.metadata.creationTimestamp);
  if (object.status !== undefined || state.hasFinalizer || createdAt === undefined) return [];
  return [{ reason: "NotSeen", message: NOT_SEEN, since: createdAt, from: createdAt + GRACE_MS }];
}

/** Nothing is said to be wrong, and yet what should have been done was not. */
function late({ spec, state, isFrozen }: ManagedResource): readonly ProblemToCome[] {
  if (spec instanceof SpecProblem || state.isDeleting) return [];
  const { policy, windows, may } = spec;
  const { active, pending } = state;
  if (pending) {
    const message = `key ${pending.name} is still in the making: ${OPERATOR}`;
    return [{ reason: "NotFinished", message, since: pending.since, from: pending.since + MAKING_GRACE_MS }];
  }
  const dueAt = active ? rotationInstant(policy, active, state.postponedUntil) : Infinity;
  const possibleAt = isFrozen || !may.create ? Infinity : (nextOpening(windows, dueAt) ?? Infinity);
  const goesAt = (key: RetiredKey): number =>
    key.heldFor === undefined ? deletionInstant(policy, key) : latestDeletion(policy, key);
  const goneAt = may.delete ? state.retired.reduce((first, key) => Math.min(first, goesAt(key)), Infinity) : Infinity;
  return [
    { reason: "NotRotated", message: NOT_ROTATED, since: possibleAt, from: possibleAt + GRACE_MS },
    { reason: "NotDeleted", message: NOT_DELETED, since: goneAt, from: goneAt + GRACE_MS },
  ].filter(({ from }) => Number.isFinite(from));
}
