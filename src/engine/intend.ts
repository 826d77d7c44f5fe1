import { deletionInstant, overlapOf, replacedByNow } from "./dates.ts";
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
import { isSeen } from "./seen-keys.ts";

/** The first write of a rotation: what is to be made next, and what becomes of the key that was active. */
export function nextPending({ state, surroundings }: Situation, why: Reason): Pending {
  const sequence = state.sequence + 1;
  const { now, madeFrom } = surroundings;
  // An intent that needs another name is the same one still: what waits for it has waited since then, for what it was for.
  const { since, reason } = state.pending ?? { since: now, reason: why };
  // A request that comes while a key is pending is recorded when that key is concluded, with all that follows from it.
  const fulfils = state.pending ? state.pending.fulfils : requestOf(state)?.value;
  return { name: surroundings.nameOf(sequence), sequence, since, id: undefined, madeFrom, reason, fulfils };
}

/** A next key, for this reason. */
export function intendNext(situation: Situation, reason: Reason): Extract<Decision, { kind: "intend" }> {
  return intend(situation, nextPending(situation, reason), reason);
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
  const retire =
    state.active && !isKept && !isRetired ? [retiring(situation, state.active, causeOf(state, next, reason))] : [];
  return { kind: "intend", next, retire, reason };
}

/** Whatever else a rotation is for: where it fulfils a request, the key goes as the request asks. */
function causeOf(state: State, next: Pending, reason: Reason): RetiredCause {
  const request = requestOf(state);
  if (request?.isCompromised && next.fulfils === request.value) return "compromised";
  if (reason === "ActiveKeyIll" || reason === "CredentialsUnavailable") return "ill";
  if (reason === "ActiveKeyGone") return "gone";
  return reason === "Forced" ? "forced" : "rotated";
}

function retiring(
  { policy, surroundings }: Situation,
  { id, name, createdAt }: ActiveKey,
  cause: RetiredCause,
): RetiredKey {
  const overlapMs = cause === "compromised" ? 0 : overlapOf(policy);
  const key = { id, name, createdAt, retiredAt: surroundings.now, replacedAt: undefined, overlapMs, cause };
  return { ...key, deletionAt: deletionInstant(policy, { ...key, replacedAt: surroundings.now, deletionAt: 0 }) };
}

/**
 * Keys with our marks that the status does not know, as retired ones: leftovers of crashes, duplicates, of a restored
 * backup. A second key of the active one's own intent was never published, so nobody can be using it, unless the Secret
 * holds it. Its name must be the same too: under another name it is of another life of the resource, where it may have
 * been published. And the active one must be there: else this may be what it was before a restore gave it another id.
 */
export function foundKeys(
  situation: Situation,
  keys: readonly SeenKey[],
  active: Pick<SeenKey, "id" | "name" | "sequence">,
): readonly RetiredKey[] {
  const { policy, observation } = situation;
  const { now } = situation.surroundings;
  return keys.map(({ id, name, createdAt, sequence }) => {
    const isPublished = id === observation.secret?.keyId;
    const isTwin = sequence === active.sequence && name === active.name;
    const isDuplicate = isTwin && isSeen(observation, active.id) && !isPublished;
    const overlapMs = isDuplicate ? 0 : overlapOf(policy);
    const cause: RetiredCause = isDuplicate ? "duplicate" : "found";
    const replacedAt = isDuplicate ? now : replacedByNow(situation);
    const key = { id, name, createdAt: createdAt ?? now, retiredAt: now, replacedAt, overlapMs, cause };
    return { ...key, deletionAt: deletionInstant(policy, { ...key, deletionAt: now + overlapMs }) };
  });
}
