import { isUnused } from "./dates.ts";
import { isBefore } from "./decide-pending.ts";
import type { SeenKey, State } from "./model.ts";
import { nextLook } from "./next-look.ts";

/**
 * Taking everything away once the resource is being deleted: retired keys first, then the active and the pending one; and
 * not letting go before a request that is still under way can have landed. Pure. Must not: be asked about a resource that
 * is not being deleted.
 */
export interface Departure {
  readonly state: State;
  /** All keys with our marks; undefined: not looked at yet. Empty when the instance, and so every key of it, is gone. */
  readonly outside: readonly SeenKey[] | undefined;
  /** `orphan` keeps the active and the retired keys, and a pending one that had users, and takes our marks off them. */
  readonly policy: "delete" | "orphan";
  readonly now: number;
  /** A create that was sent before may still land until then. */
  readonly settledAt: number;
  readonly isPaused: boolean;
  /** The local clock cannot be trusted: nobody can tell whether what was sent has landed. */
  readonly isSkewed: boolean;
}

export type DepartureStep =
  | { readonly kind: "look" }
  /** All of them are tried; what cannot be removed now is tried again. */
  | { readonly kind: "remove"; readonly ids: readonly string[] }
  | { readonly kind: "unmark"; readonly ids: readonly string[] }
  | { readonly kind: "wait"; readonly until: number; readonly reason: "Paused" | "KeyBeingDeleted" | "Settling" }
  /** Nothing is left outside: the finalizer may go. */
  | { readonly kind: "release" };

/** Where nobody can tell since when a key is on its way out. */
const POLL_MS = 5_000;

export function decideDeletion(departure: Departure): DepartureStep {
  const { state, outside, policy, now } = departure;
  if (departure.isPaused) return { kind: "wait", until: Infinity, reason: "Paused" };
  if (!state.hasFinalizer) return { kind: "release" };
  if (!outside) return { kind: "look" };
  const ours = outside.filter((key) => key.sequence !== undefined);
  const isPending = (key: SeenKey): boolean => state.pending !== undefined && key.sequence === state.pending.sequence;
  const isNew = (key: SeenKey): boolean => isPending(key) && !hadUsers(state, key);
  const kept = policy === "orphan" ? ours.filter((key) => !isNew(key) && isWorthKeeping(state, key)) : [];
  if (kept.length > 0) return { kind: "unmark", ids: kept.map((key) => key.id) };
  const isLast = (key: SeenKey): boolean => isPending(key) || key.id === state.active?.id;
  const retired = ours.filter((key) => !isLast(key));
  const next = (retired.length > 0 ? retired : ours).filter((key) => key.state !== "deleting");
  if (next.length > 0) return { kind: "remove", ids: next.map((key) => key.id) };
  if (ours.length > 0) return { kind: "wait", until: lookAtLeaving(ours, now), reason: "KeyBeingDeleted" };
  if (state.pending && departure.isSkewed) return { kind: "wait", until: now + 60_000, reason: "Settling" };
  if (state.pending && now < departure.settledAt)
    return { kind: "wait", until: departure.settledAt, reason: "Settling" };
  return { kind: "release" };
}

/** When the first of them may be gone, as far as can be told by how long it has taken. */
const lookAtLeaving = (keys: readonly SeenKey[], now: number): number =>
  Math.min(
    ...keys.map(({ leavingSince }) => (leavingSince === undefined ? now + POLL_MS : nextLook(leavingSince, now))),
  );

/** A key that is pending and was there before it was intended, or that external-name points to already. */
const hadUsers = ({ pending, externalName }: State, { id, createdAt }: SeenKey): boolean =>
  id === externalName || (pending !== undefined && isBefore(pending, createdAt));

/** What works; and what somebody used while it did, since it may again. */
function isWorthKeeping({ active, retired }: State, { id, state, illSince }: SeenKey): boolean {
  if (state !== "creating" || illSince === undefined) return state === "ready";
  return id === active?.id || retired.some((key) => key.id === id && !isUnused(key));
}
