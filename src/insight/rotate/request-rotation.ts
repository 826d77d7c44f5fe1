import type { Clock } from "../../base/clock.ts";
import { formatInstant } from "../../base/instant.ts";
import type { Random } from "../../base/random.ts";
import { deletionInstant } from "../../engine/dates.ts";
import { ANNOTATIONS } from "../../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";
import { outlookOf, stepOf } from "../explain/outlook.ts";
import { whyHeld } from "../explain/words.ts";
import { parentName, parentOf, parentWords } from "../resources/children.ts";
import type { ManagedResource } from "../resources/managed-resource.ts";

export interface RotationRequest {
  readonly annotation: string;
  readonly value: string;
  /** The value as the resource's state will show it. */
  readonly id: string;
}

/** A request that was never made before: each value asks once. */
export function requestFor(
  { kind, object }: ManagedResource,
  { isCompromised, clock, random }: { readonly isCompromised: boolean; readonly clock: Clock; readonly random: Random },
): RotationRequest {
  const annotation = isCompromised ? ANNOTATIONS.compromised : kind.forceAnnotation;
  const value = `${formatInstant(clock.now())}-${Buffer.from(random.bytes(3)).toString("hex")}`;
  const annotations = { ...object.metadata.annotations, [annotation]: value };
  const asked = kind.readState({ ...object, metadata: { ...object.metadata, annotations } });
  return { annotation, value, id: asked.request?.value ?? value };
}

/** Why a rotation of this resource would not begin; undefined when it would. */
export function obstacleTo(resource: ManagedResource, isCompromised: boolean): string | undefined {
  const { state, isPaused, isFrozen } = resource;
  const parent = isCompromised ? parentOf(resource) : undefined;
  if (parent) {
    // A key of its own would be replaced, and what its parent has copied from it would stay published.
    const instead = `keyturn rotate ${parentWords(parent)} --compromised replaces it`;
    return `it is a child of ${parentName(parent)}: ${instead}`;
  }
  if (state.isDeleting) return "it is being deleted";
  if (isPaused) return `it is paused: remove the annotation ${ANNOTATIONS.paused} first`;
  if (isFrozen && !isCompromised) return "it is frozen: keyturn unfreeze first (--compromised rotates all the same)";
  return undefined;
}

/** Why a rotation that was asked for does not begin at once, as the engine sees it; undefined when it does. */
export function delayOf({ kind, object, spec, state }: ManagedResource, now: number): string | undefined {
  if (spec instanceof SpecProblem) return `its spec cannot be followed: ${spec.message}`;
  if (state.pending) return undefined;
  const outlook = outlookOf({ kind, object, spec, now });
  return stepOf(outlook.now, "intend") ? undefined : whyHeld(outlook.rest);
}

/**
 * Of the keys before the one that is compromised, which is the only one that goes at once: a leak may reach further back.
 * Undefined where there are none.
 */
export function othersThatWork({ state, spec }: ManagedResource, now: number): string | undefined {
  if (spec instanceof SpecProblem) return undefined;
  const goAt = state.retired.map((key) => deletionInstant(spec.policy, key)).filter((at) => at > now);
  if (goAt.length === 0) return undefined;
  const lastAt = Math.max(...goAt);
  const until = Number.isFinite(lastAt) ? `until ${formatInstant(lastAt)}` : "until its successor is published";
  const older = goAt.length === 1 ? "1 older key" : `${goAt.length} older keys`;
  return `${older} may be used on, ${until}; one that may have leaked too is to be deleted by hand`;
}
