import type { RetiredKey, State } from "../../engine/model.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { ANNOTATIONS, type ManagedKind, type ManagedSpec } from "../../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../../reconcile/managed/spec-problem.ts";

/** One object of a managed kind, read as the operator reads it. */
export interface ManagedResource {
  readonly kind: ManagedKind;
  readonly object: KubeObject;
  readonly state: State;
  /** A spec that cannot be followed is its problem. */
  readonly spec: ManagedSpec | SpecProblem;
  readonly isFrozen: boolean;
  readonly isPaused: boolean;
}

export function managedResource(kind: ManagedKind, object: KubeObject): ManagedResource {
  const { annotations = {} } = object.metadata;
  return {
    kind,
    object,
    state: kind.readState(object),
    spec: specOf(kind, object),
    isFrozen: annotations[ANNOTATIONS.freeze] === "true",
    isPaused: annotations[ANNOTATIONS.paused] === "true",
  };
}

function specOf(kind: ManagedKind, object: KubeObject): ManagedSpec | SpecProblem {
  try {
    return kind.readSpec(object);
  } catch (error) {
    if (error instanceof SpecProblem) return error;
    throw error;
  }
}

/** While its successor is being made, the active key is among the retired ones already: people want to see it once. */
export const retiredKeys = ({ active, retired }: State): readonly RetiredKey[] =>
  retired.filter(({ id }) => id !== active?.id);

/** `servicebinding/orders`: how kubectl names it, and how it can be given to it again. */
export const nameOf = ({ kind, object }: Pick<ManagedResource, "kind" | "object">): string =>
  `${kind.type.kind.toLowerCase()}/${keyOf(object.metadata)}`;
