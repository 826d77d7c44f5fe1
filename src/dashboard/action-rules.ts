import { createHash } from "node:crypto";
import type { ManagedResource } from "../insight/resources/managed-resource.ts";
import { obstacleTo } from "../insight/rotate/request-rotation.ts";
import { relative } from "../insight/words/when.ts";
import { ANNOTATIONS } from "../reconcile/managed/managed-kind.ts";
import { ACTIONS, type Action, type ActionOffer, type SeenState } from "./wire.ts";

/** What an action writes: one annotation, or that it goes. */
export type Asking = Readonly<Record<string, string | null>>;

/**
 * What each button does to a resource, and what speaks against it. The same state always asks in the same words, so that two
 * who ask at once ask for one and the same rotation. Pure.
 */
export function askingFor({ kind, object, state }: ManagedResource, action: Action): Asking {
  switch (action) {
    case "freeze":
      return { [ANNOTATIONS.freeze]: "true" };
    case "unfreeze":
      return { [ANNOTATIONS.freeze]: null };
    case "rotate":
      return { [kind.forceAnnotation]: valueFor(object.metadata.uid ?? "", state.sequence, action) };
    case "compromised":
      return { [ANNOTATIONS.compromised]: valueFor(object.metadata.uid ?? "", state.sequence, action) };
  }
}

const valueFor = (uid: string, sequence: number, action: Action): string => {
  const digest = createHash("sha256").update(`${uid} ${sequence} ${action}`).digest("hex").slice(0, 8);
  return `dashboard-after-key-${sequence}-${digest}`;
};

export const seenStateOf = ({ object, state }: ManagedResource): SeenState => ({
  uid: object.metadata.uid ?? "",
  sequence: state.sequence,
});

/** Why an action would do nothing, or nothing more; undefined where it would. */
export function obstacleOf(resource: ManagedResource, action: Action, now: number): string | undefined {
  const { isFrozen, state } = resource;
  if (action === "freeze") return isFrozen ? "it is frozen already" : deletionOf(resource);
  if (action === "unfreeze") return isFrozen ? undefined : "it is not frozen";
  const isCompromised = action === "compromised";
  const obstacle = obstacleTo(resource, isCompromised);
  if (obstacle !== undefined) return obstacle;
  const { pending, request, fulfilled } = state;
  if (request && request.value !== fulfilled && (request.isCompromised || !isCompromised)) {
    return "a rotation has been asked for already, and is about to begin";
  }
  // Of a key that is being replaced it can still turn out that nobody may use it.
  if (pending && !isCompromised) return `a rotation is under way, since ${relative(pending.since, now)}`;
  return undefined;
}

const deletionOf = ({ state }: ManagedResource): string | undefined =>
  state.isDeleting ? "it is being deleted" : undefined;

export const offersFor = (resource: ManagedResource, now: number): readonly ActionOffer[] =>
  ACTIONS.map((action) => {
    const obstacle = obstacleOf(resource, action, now);
    return { action, ...(obstacle !== undefined && { obstacle }) };
  });
