import { deletionInstant, overlapOf } from "./dates.ts";
import type {
  ActiveKey,
  Decision,
  Pending,
  Reason,
  Request,
  RetiredCause,
  RetiredKey,
  SeenKey,
  Situation,
  State,
} from "./model.ts";

/** The first write of a rotation: what is to be made next, and what becomes of the key that was active. */
export function nextPending({ state, surroundings }: Situation): Pending {
  const sequence = state.sequence + 1;
  const { now, madeFrom } = surroundings;
  const fulfils = requestOf(state)?.value ?? state.pending?.fulfils;
  return { name: surroundings.nameOf(sequence), sequence, since: now, id: undefined, madeFrom, fulfils };
}

/** A request that was not fulfilled yet; each value asks once. */
export function requestOf({ request, fulfilled }: State): Request | undefined {
  return request && request.value !== fulfilled ? request : undefined;
}

/** The active key goes to the retired ones in the same write that begins the next sequence. */
export function intend(situation: Situation, next: Pending, reason: Reason): Extract<Decision, { kind: "intend" }> {
  const { state } = situation;
  const isKept = state.active === undefined || state.active.id === next.id;
  const isRetired = state.retired.some((key) => key.id === state.active?.id);
  const retire = state.active && !isKept && !isRetired ? [retiring(situation, state.active, reason)] : [];
  return { kind: "intend", next, retire, reason };
}

function retiring({ policy, surroundings }: Situation, { id, name, createdAt }: ActiveKey, reason: Reason): RetiredKey {
  const cause: RetiredCause = reason === "Compromised" ? "compromised" : reason === "Forced" ? "forced" : "rotated";
  const overlapMs = cause === "compromised" ? 0 : overlapOf(policy);
  const key = { id, name, createdAt, retiredAt: surroundings.now, replacedAt: undefined, overlapMs, cause };
  return { ...key, deletionAt: deletionInstant(policy, { ...key, replacedAt: surroundings.now, deletionAt: 0 }) };
}

/**
 * Keys with our marks that the status does not know, as retired ones: leftovers of crashes, duplicates, of a restored
 * backup. A second key of the active one's own intent was never published, so nobody can be using it. Its name must be
 * the same too: under another name it is of another life of the resource, where it may have been published.
 */
export function foundKeys(
  { policy, surroundings }: Situation,
  keys: readonly SeenKey[],
  active: Pick<SeenKey, "name" | "sequence">,
): readonly RetiredKey[] {
  const { now } = surroundings;
  return keys.map(({ id, name, createdAt, sequence }) => {
    const isDuplicate = sequence === active.sequence && name === active.name;
    const overlapMs = isDuplicate ? 0 : overlapOf(policy);
    const cause: RetiredCause = isDuplicate ? "duplicate" : "found";
    const key = { id, name, createdAt: createdAt ?? now, retiredAt: now, replacedAt: now, overlapMs, cause };
    return { ...key, deletionAt: deletionInstant(policy, { ...key, deletionAt: now + overlapMs }) };
  });
}
