import { deletionInstant, latestDeletion, rotationInstant } from "../../engine/dates.ts";
import type { ActiveKey, Pending, Policy, RetiredKey } from "../../engine/model.ts";
import { nextOpening } from "../../engine/windows.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import type { Consumer } from "../consumers/consumer.ts";
import { childKindOf, type Parent, parentOf } from "../resources/children.ts";
import { type ManagedResource, retiredKeys } from "../resources/managed-resource.ts";
import { outdatedWords } from "../resources/outdated.ts";
import { type Problem, problemsOf } from "../resources/problems.ts";

/** What `keyturn status` knows of one resource: plain values, for people and for JSON alike. */
export interface StatusReport {
  readonly resource: ManagedResource;
  readonly phase: "Creating" | "Ready" | "Rotating" | "Deleting";
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  readonly active: ActiveKey | undefined;
  readonly pending: Pending | undefined;
  /** When the next rotation begins; Infinity: never, or not before somebody lets it. */
  readonly rotationAt: number;
  readonly retired: readonly RetiredReport[];
  /** The kind of the children that its keys are, where they are such. */
  readonly childKind: string | undefined;
  /** Whose key it is, where it is one. */
  readonly parent: Parent | undefined;
  /** `namespace/name` of the Secret. */
  readonly secret: string | undefined;
  /** Who uses the Secret; absent where nobody has looked. */
  readonly consumers?: readonly Consumer[];
}

export interface RetiredReport extends RetiredKey {
  /** As it is by the policy of now, and at the latest while it is held; Infinity before a successor is published. */
  readonly goesAt: number;
}

export function reportOf(resource: ManagedResource, now: number, activeChild?: KubeObject): StatusReport {
  const { state, spec } = resource;
  const known = spec instanceof SpecProblem ? undefined : spec;
  const outdated = outdatedWords(resource, activeChild);
  return {
    resource,
    phase: phaseOf(resource),
    problems: problemsOf(resource, now),
    warnings: [...(known?.warnings ?? []), ...(outdated === undefined ? [] : [outdated])],
    active: state.active,
    pending: state.pending,
    rotationAt: nextRotation(resource, now),
    retired: retiredKeys(state)
      .map((key) => ({ ...key, goesAt: goesAt(known?.policy, key) }))
      .sort((a, b) => a.goesAt - b.goesAt),
    childKind: childKindOf(resource),
    parent: parentOf(resource),
    secret: known?.secret && keyOf(known.secret),
  };
}

/** Problems first, then those that somebody holds back, then by name. */
export function worstFirst(reports: readonly StatusReport[]): readonly StatusReport[] {
  const rank = ({ problems, resource }: StatusReport): number =>
    problems.length > 0 ? 0 : resource.isFrozen || resource.isPaused ? 1 : 2;
  const name = ({ resource }: StatusReport): string => `${resource.kind.type.kind} ${keyOf(resource.object.metadata)}`;
  return [...reports].sort((a, b) => rank(a) - rank(b) || (name(a) < name(b) ? -1 : 1));
}

function phaseOf({ state }: ManagedResource): StatusReport["phase"] {
  if (state.isDeleting) return "Deleting";
  if (!state.active) return "Creating";
  return state.pending ? "Rotating" : "Ready";
}

/**
 * When the next rotation begins, or since when it could have, where it is overdue and may begin at any time; Infinity:
 * never, or not before somebody lets it.
 */
export function nextRotation({ state, spec, isFrozen, isPaused }: ManagedResource, now: number): number {
  // When the key that is being made is due is known once it is there.
  if (!state.active || state.pending || spec instanceof SpecProblem || state.isDeleting) return Infinity;
  if (isFrozen || isPaused || !spec.may.create) return Infinity;
  const dueAt = rotationInstant(spec.policy, state.active, state.postponedUntil);
  if (!Number.isFinite(dueAt)) return Infinity;
  const opensAt = nextOpening(spec.windows, Math.max(dueAt, now)) ?? Infinity;
  return opensAt > now ? opensAt : (nextOpening(spec.windows, dueAt) ?? opensAt);
}

/** Without a policy that can be read, the date that was saved is all there is. */
function goesAt(policy: Policy | undefined, key: RetiredKey): number {
  if (policy) return key.heldFor === undefined ? deletionInstant(policy, key) : latestDeletion(policy, key);
  return key.replacedAt === undefined ? Infinity : key.deletionAt;
}
