import { illnessEnds, overlapOf } from "./dates.ts";
import { intendNext, requestOf } from "./intend.ts";
import type { Decision, KnownKey, Observation, Pending, Reason, RetiredKey, SeenKey, Situation } from "./model.ts";
import { lookAgain } from "./next-look.ts";
import { isAlive, seenKeys } from "./seen-keys.ts";

/** How long to wait for clocks to agree before looking at them again. */
const CLOCK_CHECK_MS = 60_000;
/** How far the clocks of the outside and of ours may be apart. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Finishing an intent, from wherever it stands: look, adopt or create, publish, activate, commit. Each step can be
 * repeated, and a crash between any two leaves a situation that leads on. Until the commit, the old key stays active.
 */
export function decidePending(situation: Situation): Decision {
  const { state, observation } = situation;
  const { pending } = state;
  if (!pending) throw new TypeError("there is nothing pending");
  // The old key's life is counted from its replacement: a wrong clock must not write down when that was.
  if (situation.surroundings.isSkewed && state.active) return untilClocksAgree(situation);
  if (observation.published !== undefined) return conclude(situation, observation.published);
  const question = questionFirst(observation, pending);
  if (question) return question;
  const own = seenKeys(observation).filter((key) => key.sequence === pending.sequence);
  const hint = hintsOf(situation).find((id) => !own.some((key) => key.id === id) && !observation.observed.has(id));
  if (hint !== undefined) return { kind: "observe", id: hint };
  const winner = chooseWinner(situation, own);
  if (winner) return withWinner(situation, pending, winner);
  const lost = lostSecret(situation, own);
  if (lost) return lost;
  const failed = own.find((key) => key.state === "failed");
  if (failed) return removeFailed(situation, failed.id);
  const making = own.find((key) => key.state === "creating");
  if (making) return whileMaking(situation, pending, making);
  const isNameTaken = (observation.outside ?? []).some(
    (key) => key.name === pending.name && (key.sequence === undefined || key.state === "deleting"),
  );
  if (isNameTaken) return intendNext(situation, "NameTaken");
  return pending.id === undefined ? { kind: "create" } : withRecordedId(situation, pending, pending.id);
}

/**
 * Unless this pass wrote the intent, somebody may have made its key: look first. Whoever only goes on waiting for the key
 * it made itself, in a state that nobody has touched, asks for that one: a list would tell nothing that matters before the
 * next drift check.
 */
function questionFirst(
  { outside, wroteIntent, isContinued, observed }: Observation,
  pending: Pending,
): Decision | undefined {
  if (outside || wroteIntent) return undefined;
  if (!isContinued || pending.id === undefined) return { kind: "look" };
  const asked = observed.get(pending.id);
  if (asked === undefined) return { kind: "observe", id: pending.id };
  const isOnItsWay = asked !== "gone" && (asked.state === "creating" || asked.state === "ready");
  return isOnItsWay ? undefined : { kind: "look" };
}

/**
 * The ids under which the key of this intent may already be known, the surest first: in the Secret, in the external-name,
 * written down. Lists may lag behind all of them, and a key that was published must not be taken for a duplicate.
 */
function hintsOf({ state, observation }: Situation): readonly string[] {
  const { pending, active, externalName } = state;
  const published = observation.secret?.sequence === pending?.sequence ? observation.secret?.keyId : undefined;
  const activated = externalName === active?.id ? undefined : externalName;
  return observation.wroteIntent ? [] : [published, activated, pending?.id].filter((id) => id !== undefined);
}

/**
 * The Secret holds no key, and the next one is not there yet: whoever starts meanwhile is given the one that is still
 * active, unless nobody may use that any more, or it is not the newest. It is published only on a look outside, and not
 * waited for.
 */
function lostSecret(situation: Situation, own: readonly SeenKey[]): Decision | undefined {
  const { state, observation, policy } = situation;
  const { active, retired } = state;
  if (!policy.publishes || !active || !observation.secret || observation.secret.keyId !== undefined) return undefined;
  const isCompromised = retired.some(({ id, cause }) => id === active.id && cause === "compromised");
  if (isCompromised || observation.unreadable === active.id) return undefined;
  if (!observation.outside) return { kind: "look" };
  const isThere = seenKeys(observation).some(({ id, state: seen }) => id === active.id && seen === "ready");
  return isThere && !isOutdated(situation, own) ? { kind: "republish", id: active.id } : undefined;
}

/**
 * Whether a later key than the active one was active before the Secret was lost: one that a status from the past has found,
 * as its intent or given up since. One that was only made or published under an intent was not: until that is committed,
 * the key before it is the one that counts.
 */
function isOutdated(situation: Situation, own: readonly SeenKey[]): boolean {
  const { state, observation } = situation;
  const isUnneeded = (id: string): boolean =>
    state.retired.some((key) => key.id === id && (key.cause === "abandoned" || key.cause === "duplicate"));
  const isLater = ({ id, sequence = 0 }: SeenKey): boolean =>
    id !== state.active?.id && sequence > (state.active?.sequence ?? 0) && !isUnneeded(id);
  const others = seenKeys(observation).filter((key) => isAlive(key) && !own.includes(key));
  return others.some(isLater) || own.some(({ id }) => isFound(situation, id));
}

/** The key that is known already wins, then the oldest. */
function chooseWinner(situation: Situation, own: readonly SeenKey[]): SeenKey | undefined {
  const ready = own.filter((key) => key.state === "ready");
  const [hinted] = hintsOf(situation).flatMap((id) => ready.find((key) => key.id === id) ?? []);
  const [oldest] = [...ready].sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : 1));
  return hinted ?? oldest;
}

function withWinner(situation: Situation, pending: Pending, winner: SeenKey): Decision {
  const { id, name, createdAt } = winner;
  const { observation, policy, surroundings } = situation;
  const { now } = surroundings;
  const key: KnownKey = { id, name, createdAt: createdAt ?? pending.since };
  if (observation.unreadable === id) {
    // One whose making failed, or that nobody has had yet: what was to go and did not is to go still.
    if (winner.isHalfDeleted && !isKnownToUsers(situation, id)) return removeFailed(situation, id);
    const isOlder = (createdAt ?? 0) < pending.since - CLOCK_TOLERANCE_MS;
    const isOwnMaking = !isOlder && pending.id !== id && situation.state.externalName !== id;
    return giveUp(situation, key, { reason: "CredentialsUnavailable", isOwnMaking });
  }
  if (observation.ineffective === id) {
    const postponedUntil = now + Math.min(policy.frequencyMs, policy.forcedOverlapMs);
    return { kind: "undo", retire: { ...unneeded(situation, key, "duplicate"), replacedAt: now }, postponedUntil };
  }
  // Without a Secret the recorded id decides who has won; it is compare-and-swap like everything else.
  if (!policy.publishes && pending.id !== id) return { kind: "recordId", id };
  return policy.publishes ? { kind: "publish", id } : conclude(situation, id);
}

/** By the Secret, or by the external-name: then it was published, whatever became of it since. */
const isKnownToUsers = ({ state, observation }: Situation, id: string): boolean =>
  observation.secret?.keyId === id || state.externalName === id;

/**
 * The next key instead. This one goes only once that is published: somebody might hold it after all. One that was there
 * before had users, who are given the time that every key's users are given.
 */
function giveUp(
  situation: Situation,
  key: KnownKey,
  { reason, isOwnMaking }: { readonly reason: Reason; readonly isOwnMaking: boolean },
): Decision {
  const decision = intendNext(situation, reason);
  const overlapMs = overlapOf(situation.policy);
  const { now } = situation.surroundings;
  const retired: RetiredKey = isOwnMaking
    ? unneeded(situation, key, "abandoned")
    : { ...unneeded(situation, key, "found"), overlapMs, deletionAt: now + overlapMs };
  return { ...decision, retire: [...decision.retire, retired], givesUp: { id: key.id, at: now } };
}

/** A key that nobody is to have: it goes once a later one is published. */
function unneeded({ surroundings }: Situation, key: KnownKey, cause: RetiredKey["cause"]): RetiredKey {
  const { now } = surroundings;
  return { ...key, retiredAt: now, replacedAt: undefined, overlapMs: 0, deletionAt: now, cause };
}

/** A request that came meanwhile is fulfilled too, unless this key was there before it was intended. */
function conclude(situation: Situation, id: string): Decision {
  const { state } = situation;
  const request = requestOf(state);
  const isFulfilled = request !== undefined && state.pending?.fulfils === request.value;
  if (request && !isFulfilled && !isFound(situation, id)) return { kind: "recordRequest", request };
  return state.externalName === id && !isFulfilled ? { kind: "commit", id } : { kind: "activate", id };
}

/** Taken over or found by its marks: it is older than the intent, so it is no answer to a request for a new one. */
function isFound({ state, observation }: Situation, id: string): boolean {
  const key = seenKeys(observation).find((one) => one.id === id);
  return state.pending !== undefined && isBefore(state.pending, key?.createdAt);
}

/** Whether what was made then was there before it was intended. */
export const isBefore = ({ since }: Pending, createdAt: number | undefined): boolean =>
  (createdAt ?? Infinity) < since - CLOCK_TOLERANCE_MS;

/** A create that was not heard of for long counts as failed; how long is told by a clock that must be trusted. */
export function removeFailed(situation: Situation, id: string): Decision {
  return situation.surroundings.isSkewed ? untilClocksAgree(situation) : { kind: "removeFailed", id };
}

/** Looks at the clocks again in a minute. */
export const untilClocksAgree = ({ surroundings }: Situation): Decision => ({
  kind: "wait",
  until: surroundings.now + CLOCK_CHECK_MS,
  reason: "ClockSkewed",
});

/**
 * Where the outside says that the key is ill and it would by now be made from something else, it is given up: with what it
 * was made from it may never get well. So is one that was there before it was intended (the status had been lost) and that
 * has been ill for as long as an active one may be.
 */
function whileMaking(situation: Situation, pending: Pending, seen: SeenKey): Decision {
  const { surroundings, policy } = situation;
  const { id, name, createdAt, illSince } = seen;
  if (pending.id !== id) return { kind: "recordId", id };
  const key: KnownKey = { id, name, createdAt: createdAt ?? pending.since };
  const isOwnMaking = !isFound(situation, id);
  if (illSince !== undefined && pending.madeFrom !== surroundings.madeFrom)
    return giveUp(situation, key, { reason: "SpecChanged", isOwnMaking });
  const curedBy = isOwnMaking ? Infinity : illnessEnds(policy, seen);
  if (curedBy <= surroundings.now) return giveUp(situation, key, { reason: "ActiveKeyIll", isOwnMaking });
  const until = Math.min(lookAgain(surroundings, pending.since), curedBy);
  return { kind: "wait", until, reason: "KeyBeingMade" };
}

/** A key whose id is known and that no list shows: asked for by id, because a list may lag behind. */
function withRecordedId(situation: Situation, pending: Pending, id: string): Decision {
  const asked = situation.observation.observed.get(id);
  if (asked === undefined) return { kind: "observe", id };
  if (asked === "gone") return { kind: "create" };
  if (asked.state === "ready") return withWinner(situation, pending, asked);
  if (asked.state === "failed") return removeFailed(situation, id);
  if (asked.state === "deleting") return intendNext(situation, "NameTaken");
  return whileMaking(situation, pending, asked);
}
