import { parseInstant } from "../../base/instant.ts";
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

/** An operator that works is done with anything long before this. */
const GRACE_MS = 120_000;
/** A key may take long to be made where the outside works asynchronously. */
const MAKING_GRACE_MS = 900_000;

const OPERATOR = "is the operator running?";

/**
 * What is wrong with a resource: what its conditions say, and else what the dates in it give away. What is held back by a
 * person or by a window is not wrong.
 */
export function problemsOf(resource: ManagedResource, now: number): readonly Problem[] {
  const said = conditionProblems(resource);
  const { spec } = resource;
  if (spec instanceof SpecProblem) {
    return said.length > 0 ? said : [{ reason: spec.code, message: spec.message, since: undefined }];
  }
  if (said.length > 0 || resource.isPaused) return said;
  return [...unseen(resource, now), ...late(resource, now)];
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

function conditionProblems(resource: ManagedResource): readonly Problem[] {
  const synced = conditionOf(resource, "Synced");
  const ineffective = conditionOf(resource, "RotationIneffective");
  return [
    ...(synced?.status === "False" ? [synced] : []),
    ...(ineffective?.status === "True" ? [{ ...ineffective, reason: "RotationIneffective" }] : []),
  ].map(({ reason, message, since }) => ({ reason, message, since }));
}

function unseen({ object, state }: ManagedResource, now: number): readonly Problem[] {
  const createdAt = parseInstant(object.metadata.creationTimestamp);
  if (object.status !== undefined || state.hasFinalizer || createdAt === undefined || now - createdAt < GRACE_MS) {
    return [];
  }
  return [{ reason: "NotSeen", message: `no operator has looked at it yet: ${OPERATOR}`, since: createdAt }];
}

/** Nothing is said to be wrong, and yet what should have been done was not. */
function late({ spec, state, isFrozen }: ManagedResource, now: number): readonly Problem[] {
  if (spec instanceof SpecProblem || state.isDeleting) return [];
  const { policy, windows, may } = spec;
  const { active, pending } = state;
  if (pending) {
    if (now - pending.since < MAKING_GRACE_MS) return [];
    const message = `key ${pending.name} is still in the making: ${OPERATOR}`;
    return [{ reason: "NotFinished", message, since: pending.since }];
  }
  const problems: Problem[] = [];
  const dueAt = active ? rotationInstant(policy, active, state.postponedUntil) : Infinity;
  const possibleAt = nextOpening(windows, dueAt) ?? Infinity;
  if (!isFrozen && may.create && now - possibleAt > GRACE_MS) {
    problems.push({ reason: "NotRotated", message: `a rotation is overdue: ${OPERATOR}`, since: possibleAt });
  }
  const goesAt = (key: RetiredKey): number =>
    key.heldFor === undefined ? deletionInstant(policy, key) : latestDeletion(policy, key);
  const goneAt = may.delete ? Math.min(...state.retired.map(goesAt)) : Infinity;
  if (now - goneAt > GRACE_MS) {
    const message = `the deletion of a retired key is overdue: ${OPERATOR}`;
    problems.push({ reason: "NotDeleted", message, since: goneAt });
  }
  return problems;
}
