import { deletionInstant, illnessEnds, isUnused, overlapOf, replacedByNow, rotationInstant } from "./dates.ts";
import { decidePending, removeFailed, untilClocksAgree } from "./decide-pending.ts";
import { isFree, isHeld, nextDeletion } from "./hold.ts";
import { foundKeys, intend, intendNext, nextPending, requestOf } from "./intend.ts";
import type { Decision, Pending, Policy, Reason, RetiredKey, SeenKey, Situation, State, WaitReason } from "./model.ts";
import { lookAgain } from "./next-look.ts";
import { isAlive, isKnownGone, isSeen, seenKeys } from "./seen-keys.ts";

/**
 * The rotation engine: from a policy, what the resource says and what was seen, to the one next step. A chain of named
 * checks, in the order of their urgency; the first that has something to say wins. Pure and deterministic: the same
 * situation always gives the same decision, so it can be explained, replayed and simulated. Must not: act, read a clock,
 * or tell a static key from a rotating one (a static key is one that is never due).
 */
export function decide(situation: Situation): Decision {
  let isHeldBack = false;
  for (const check of checks) {
    const decision = check(situation);
    if (decision && isAllowed(situation, decision)) return decision;
    isHeldBack ||= decision !== undefined;
  }
  return wait(nextInstant(situation), isHeldBack ? "NotAllowed" : holdOf(situation));
}

/** What is under way is finished whatever the permissions are by now: half a rotation helps nobody. */
function isAllowed({ state, surroundings }: Situation, decision: Decision): boolean {
  if (state.pending) return true;
  if (decision.kind === "intend") return surroundings.may.create || decision.next.id !== undefined;
  const isForDeletion = decision.kind === "expire" || decision.kind === "askConsumers";
  return !isForDeletion || surroundings.may.delete;
}

/** Why something that is due or asked for is not done now. */
function holdOf(situation: Situation): WaitReason {
  const { policy, state, surroundings } = situation;
  if (surroundings.isFrozen) return "Frozen";
  if (requestOf(state)?.isCompromised === false) return "TooManyForced";
  const isDue = state.active && rotationInstant(policy, state.active, state.postponedUntil) <= surroundings.now;
  if (isDue && !surroundings.windows.isOpen) return "WindowClosed";
  return state.retired.some((key) => isHeld(situation, key)) ? "ConsumersBehind" : "Settled";
}

type Check = (situation: Situation) => Decision | undefined;

const wait = (until: number, reason: WaitReason): Decision => ({ kind: "wait", until, reason });

/** When the outside is looked at anyway, but not in a hurry. */
const nextCheck = ({ surroundings }: Situation): number =>
  Math.max(surroundings.driftCheckAt, surroundings.now + 60_000);

const isPaused: Check = ({ surroundings }) => (surroundings.isPaused ? wait(Infinity, "Paused") : undefined);

/** Nothing is made outside before the resource can no longer vanish unnoticed. */
const finalizerFirst: Check = ({ state }) => (state.hasFinalizer ? undefined : { kind: "addFinalizer" });

/**
 * A live key with a higher sequence than the status knows: the status is from the past, and the key is the newest. One that
 * does not work now may be the one that is published: it is waited for, not replaced by an older one.
 */
const statusFromThePast: Check = (situation) => {
  const { state, observation, surroundings } = situation;
  const proof = publishedLater(situation);
  if (proof) return proof;
  const newest = seenKeys(observation)
    .filter((key) => isAlive(key) && (key.sequence ?? 0) > state.sequence)
    .sort((a, b) => (b.sequence ?? 0) - (a.sequence ?? 0) || (a.id < b.id ? -1 : 1))[0];
  if (newest?.sequence === undefined) return undefined;
  if (surroundings.isSkewed) return untilClocksAgree(situation);
  const next: Pending = {
    name: newest.name,
    sequence: newest.sequence,
    since: surroundings.now,
    id: newest.id,
    madeFrom: surroundings.madeFrom,
    reason: "StatusFromThePast",
    fulfils: undefined,
  };
  const decision = intend(situation, next, "StatusFromThePast");
  const others = unknownTo(situation, observation.outside ?? [], newest.id).filter(
    (key) => isAlive(key) && key.id !== state.active?.id,
  );
  return { ...decision, retire: [...decision.retire, ...foundKeys(situation, others, newest)] };
};

/** A Secret with a later key than the status knows is looked into, by id too: lists may lag behind. */
function publishedLater({ state, observation }: Situation): Decision | undefined {
  const { keyId, sequence = 0 } = observation.secret ?? {};
  if (keyId === undefined || sequence <= state.sequence) return undefined;
  if (!observation.outside) return { kind: "look" };
  const isKnown = observation.observed.has(keyId) || observation.outside.some((key) => key.id === keyId);
  return isKnown ? undefined : { kind: "observe", id: keyId };
}

/** Somebody published a key after it was retired as one that nobody had: its users get the time that all are given. */
const publishedAfterAll: Check = (situation) => {
  const { policy, state, observation, surroundings } = situation;
  const key = state.retired.find((one) => one.id === observation.secret?.keyId && isUnused(one));
  if (!key) return undefined;
  if (surroundings.isSkewed) return untilClocksAgree(situation);
  const { now } = surroundings;
  const overlapMs = overlapOf(policy);
  const found: RetiredKey = { ...key, cause: "found", overlapMs, replacedAt: now, deletionAt: now + overlapMs };
  const replacedAt = state.pending ? undefined : now;
  return { kind: "retire", keys: [{ ...found, replacedAt, deletionAt: deletionInstant(policy, found) }] };
};

/** The Secret holds a retired key again: who has started meanwhile uses it, so it is not replaced before that is written. */
const publishedAgain: Check = ({ state, observation, policy }) => {
  const keyId = policy.publishes ? observation.secret?.keyId : undefined;
  if (keyId === undefined || keyId === state.active?.id) return undefined;
  const again = state.retired.find((key) => key.id === keyId && key.replacedAt !== undefined);
  return again && { kind: "redate", ids: [again.id], replacedAt: undefined };
};

const pending: Check = (situation) => {
  if (!situation.state.pending) return undefined;
  const decision = decidePending(situation);
  const isStuck = decision.kind === "wait" || situation.observation.isBlocked === true;
  return (isStuck ? expiredMeanwhile(situation) : undefined) ?? decision;
};

/**
 * A next key that is not to be had now keeps nothing alive whose time is over: it may be waiting for that very place. Only
 * while the active key is there: else one of the others might be the last that works.
 */
function expiredMeanwhile(situation: Situation): Decision | undefined {
  const { state, observation, surroundings } = situation;
  if (surroundings.isSkewed || !surroundings.may.delete || overOf(situation).length === 0) return undefined;
  if (!observation.outside) return { kind: "look" };
  if (!observation.outside.some(({ id, state: seen }) => id === state.active?.id && seen === "ready")) return undefined;
  const decision = expired(situation);
  return decision?.kind === "wait" ? undefined : decision;
}

const unknownKeys: Check = (situation) => {
  const { state, observation } = situation;
  if (!observation.outside || !state.active) return undefined;
  const unknown = unknownTo(situation, seenKeys(observation), state.active.id);
  const failed = unknown.find((key) => key.state === "failed");
  if (failed) return removeFailed(situation, failed.id);
  const { id, name, sequence } = state.active;
  const isTwin = unknown.some((key) => key.sequence === sequence && key.name === name);
  if (isTwin && !isSeen(observation, id) && !observation.observed.has(id)) return { kind: "observe", id };
  const keys = foundKeys(situation, unknown.filter(isAlive), state.active);
  if (keys.length > 0 && situation.surroundings.isSkewed) return untilClocksAgree(situation);
  return keys.length > 0 ? { kind: "retire", keys } : undefined;
};

/** The keys with our marks that are neither retired already nor the one with this id. */
function unknownTo({ state }: Situation, keys: readonly SeenKey[], id: string): readonly SeenKey[] {
  const known = new Set([id, ...state.retired.map((key) => key.id)]);
  return keys.filter((key) => key.sequence !== undefined && !known.has(key.id));
}

/** No key yet. An external-name that somebody set beforehand names the key to take over. */
const firstKey: Check = (situation) => {
  const { state, observation } = situation;
  if (state.active) return undefined;
  if (!observation.outside) return { kind: "look" };
  if (state.externalName === undefined) return intendNext(situation, "FirstKey");
  if (observation.adoption === "absent") return intendNext(situation, "NothingToAdopt");
  if (observation.adoption === "foreign") return wait(nextCheck(situation), "AdoptionRefused");
  const next = nextPending(situation, "Adopted");
  return { kind: "adopt", id: state.externalName, next: { ...next, id: state.externalName } };
};

/**
 * A next key for the active one. Unless this very process left the resource as it is, a look comes first: the status may be
 * from the past, and a newer key than it knows is outside.
 */
function replace(situation: Situation, reason: Reason): Decision {
  const { observation, surroundings } = situation;
  const isSure = observation.isContinued || observation.outside !== undefined;
  // What is not allowed is not looked for either.
  if (!isSure && surroundings.may.create) return { kind: "look" };
  return intendNext(situation, reason);
}

const externalNameChanged: Check = (situation) =>
  situation.state.externalName === situation.state.active?.id ? undefined : replace(situation, "ExternalNameChanged");

/** Gone is believed only when the list was complete and the key itself was asked for. */
const activeKeyGone: Check = (situation) => {
  const { state, observation } = situation;
  if (!observation.outside) return undefined;
  const seen = observation.outside.find((key) => key.id === state.active?.id);
  if (seen && seen.state !== "deleting") return undefined;
  const { id } = state.active ?? { id: "" };
  if (!observation.observed.has(id)) return { kind: "observe", id };
  return isKnownGone(observation, id) ? intendNext(situation, "ActiveKeyGone") : undefined;
};

/** Other dates than those that a status can hold. */
const DATE_TOLERANCE_MS = 1000;

/** How old a key is, the outside knows best: a date in the status that is not that of the key was put there by somebody. */
const wrongDate: Check = ({ state, observation }) => {
  const { active } = state;
  const createdAt = observation.outside?.find((key) => key.id === active?.id)?.createdAt;
  if (!active || createdAt === undefined || Math.abs(createdAt - active.createdAt) <= DATE_TOLERANCE_MS)
    return undefined;
  return { kind: "rebase", madeFrom: active.madeFrom, createdAt };
};

/**
 * A child is as old as the key that it stands for, and may have replaced that by itself when it was retired already, and
 * was published still: those who were given the new key have it for as long as it lives. One that it made after that was
 * given to nobody, and no date that was promised comes earlier.
 */
const renewedMeanwhile: Check = ({ policy, state, observation }) => {
  const keys = state.retired.flatMap((key) => {
    const createdAt = observation.outside?.find(({ id }) => id === key.id)?.createdAt ?? key.createdAt;
    const isYounger = createdAt > key.createdAt + DATE_TOLERANCE_MS;
    if (!isYounger || isUnused(key) || createdAt > (key.replacedAt ?? 0)) return [];
    const renewed = { ...key, createdAt, heldFor: undefined };
    return [{ ...renewed, deletionAt: Math.max(key.deletionAt, deletionInstant(policy, renewed)) }];
  });
  return keys.length > 0 ? { kind: "amend", keys } : undefined;
};

/** From here on dates decide, or a new key would replace a working one: not while the clocks disagree. */
const clockSkewed: Check = (situation) => (situation.surroundings.isSkewed ? untilClocksAgree(situation) : undefined);

const compromised: Check = (situation) => {
  const { state, surroundings } = situation;
  if (!requestOf(state)?.isCompromised || (state.postponedUntil ?? 0) > surroundings.now) return undefined;
  return replace(situation, "Compromised");
};

const specChanged: Check = (situation) => {
  const { state, surroundings } = situation;
  const { madeFrom } = surroundings;
  if (!state.active || state.active.madeFrom === madeFrom) return undefined;
  // Whoever lost the digest key must not see every key replaced for it, nor two with different ones fight over it.
  if (!surroundings.isComparable(state.active.madeFrom))
    return situation.observation.outside ? { kind: "rebase", madeFrom, createdAt: state.active.createdAt } : undefined;
  if (surroundings.isFrozen) return undefined;
  return replace(situation, "SpecChanged");
};

const forced: Check = (situation) => {
  const { state, policy, surroundings } = situation;
  if (surroundings.isFrozen || requestOf(state)?.isCompromised !== false) return undefined;
  return mayGoEarly(state, policy) ? replace(situation, "Forced") : undefined;
};

/** Whether one more key may be replaced before it is due. Those that only wait for somebody to move on do not count. */
function mayGoEarly({ retired }: State, { maxForced }: Policy): boolean {
  const early = retired.filter(
    ({ cause, heldFor }) => (cause === "forced" || cause === "ill") && heldFor === undefined,
  );
  return early.length < maxForced;
}

const mayReplaceEarly = ({ state, policy, surroundings: { isFrozen, may } }: Situation): boolean =>
  may.create && !isFrozen && mayGoEarly(state, policy);

/** When the active key has been ill for too long: as far as was seen. */
function activeIllnessEnds({ policy, state, observation }: Situation): number {
  return illnessEnds(policy, seenKeys(observation).find((key) => key.id === state.active?.id) ?? {});
}

/** A key that is ill is not one that is missing: it may get well again, and only if it does not is it replaced. */
const activeKeyIll: Check = (situation) => {
  const { policy, state, surroundings } = situation;
  if (surroundings.isFrozen || surroundings.now < activeIllnessEnds(situation)) return undefined;
  return mayGoEarly(state, policy) ? replace(situation, "ActiveKeyIll") : undefined;
};

/**
 * A rotation that takes longer than the frequency leaves the next one due when it ends. What has expired has its turn in
 * between, or nothing would ever be deleted; and only there, or a key that cannot be deleted would keep the others from
 * being rotated.
 */
const due: Check = (situation) => {
  const { policy, state, surroundings, observation } = situation;
  if (observation.hasCommitted && overOf(situation).length > 0) return undefined;
  if (!state.active || surroundings.isFrozen || !surroundings.windows.isOpen) return undefined;
  if (surroundings.now < rotationInstant(policy, state.active, state.postponedUntil)) return undefined;
  return replace(situation, "RotationDue");
};

/**
 * Before a key is published again, a look outside tells whether it still is the newest. Another one that the Secret holds
 * has users: it is asked for by its id where no list shows it, so that it is retired before the Secret tells no more. A key
 * whose credentials are not to be had again is replaced: nobody has to ask for it.
 */
const secretDamaged: Check = (situation) => {
  const { state, observation, policy } = situation;
  if (!policy.publishes || !observation.secret || !state.active) return undefined;
  const { keyId } = observation.secret;
  if (keyId === state.active.id) return undefined;
  if (!observation.outside) return { kind: "look" };
  const known = [...seenKeys(observation), ...state.retired].map((key) => key.id);
  const isUnknown = keyId !== undefined && !known.includes(keyId) && !observation.observed.has(keyId);
  if (isUnknown) return { kind: "observe", id: keyId };
  // Where no other key may be made, a dead one is not published again for want of it.
  if (isKnownGone(observation, state.active.id)) return undefined;
  const isLost = observation.unreadable === state.active.id;
  return isLost && mayReplaceEarly(situation)
    ? replace(situation, "CredentialsUnavailable")
    : { kind: "republish", id: state.active.id };
};

/** The Secret, which had come to hold a retired key again, holds the active one: that key is replaced from now on. */
const replacedAgain: Check = (situation) => {
  const { state, observation, policy } = situation;
  const { active } = state;
  if (!policy.publishes || !active || observation.secret?.keyId !== active.id) return undefined;
  const ids = state.retired.flatMap(({ id, replacedAt }) => (replacedAt === undefined && id !== active.id ? [id] : []));
  return ids.length > 0 ? { kind: "redate", ids, replacedAt: replacedByNow(situation) } : undefined;
};

/** The retired keys whose time has come. */
const overOf = ({ state, policy, surroundings }: Situation): readonly RetiredKey[] =>
  state.retired.filter((key) => deletionInstant(policy, key) <= surroundings.now);

/** What is free goes first: nobody's being behind with one key keeps another. Those that are held wait for later checks. */
const expired: Check = (situation) => {
  const { observation } = situation;
  const over = overOf(situation);
  if (over.length === 0) return undefined;
  if (!observation.outside) return { kind: "look" };
  const leavingIds = new Set(observation.outside.filter((key) => key.state === "deleting").map((key) => key.id));
  const staying = over.filter((key) => !leavingIds.has(key.id));
  const idsOf = (keys: readonly RetiredKey[]): readonly string[] => keys.map((key) => key.id);
  const free = staying.filter((key) => isFree(situation, key));
  if (free.length > 0) return { kind: "expire", ids: idsOf(free) };
  const unasked = staying.filter((key) => !isHeld(situation, key));
  if (unasked.length > 0) return { kind: "askConsumers", ids: idsOf(unasked) };
  const leaving = over.filter((key) => leavingIds.has(key.id));
  return leaving.length > 0 ? whileLeaving(situation, leaving) : undefined;
};

/** Their deletion is under way outside: looked at again, soon at first, and no later than the next rotation. */
function whileLeaving(situation: Situation, keys: readonly RetiredKey[]): Decision {
  const begun = new Map(situation.observation.outside?.map(({ id, leavingSince }) => [id, leavingSince]));
  const since = Math.max(...keys.map((key) => begun.get(key.id) ?? deletionInstant(situation.policy, key)));
  return wait(Math.min(lookAgain(situation.surroundings, since), nextRotation(situation)), "KeyBeingDeleted");
}

/**
 * Somebody else has removed a retired key, or a Secret that was left holds one that is no more: it is asked for by id,
 * since lists may lag behind.
 */
const vanished: Check = ({ state, observation }) => {
  if (!observation.outside) return undefined;
  const seen = new Set([state.active?.id, ...observation.outside.map((key) => key.id)]);
  const named = new Set([...state.retired.map((key) => key.id), ...observation.formerKeyIds]);
  const missing = [...named].filter((id) => !seen.has(id));
  const unasked = missing.find((id) => !observation.observed.has(id));
  if (unasked !== undefined) return { kind: "observe", id: unasked };
  const ids = missing.filter((id) => observation.observed.get(id) === "gone");
  return ids.length > 0 ? { kind: "forget", ids } : undefined;
};

const driftCheck: Check = ({ observation, surroundings }) =>
  observation.outside === undefined && surroundings.driftCheckAt <= surroundings.now ? { kind: "look" } : undefined;

const checks: readonly Check[] = [
  isPaused,
  finalizerFirst,
  statusFromThePast,
  publishedAfterAll,
  publishedAgain,
  pending,
  firstKey,
  driftCheck,
  externalNameChanged,
  unknownKeys,
  activeKeyGone,
  wrongDate,
  renewedMeanwhile,
  clockSkewed,
  compromised,
  specChanged,
  forced,
  activeKeyIll,
  due,
  secretDamaged,
  replacedAgain,
  expired,
  vanished,
];

/** When there will be something to do, as far as can be told now. What is not allowed is not waited for. */
export function nextInstant(situation: Situation): number {
  const { state, surroundings } = situation;
  const deletions = surroundings.may.delete ? state.retired.map((key) => nextDeletion(situation, key)) : [];
  const again = requestOf(state)?.isCompromised ? (state.postponedUntil ?? Infinity) : Infinity;
  return Math.min(nextRotation(situation), nextCure(situation), again, surroundings.driftCheckAt, ...deletions);
}

/** When an ill key is replaced; not again and again for one that may not be. */
function nextCure(situation: Situation): number {
  const { state, surroundings } = situation;
  const at = activeIllnessEnds(situation);
  return at > surroundings.now && !surroundings.isFrozen && state.active && surroundings.may.create ? at : Infinity;
}

function nextRotation({ policy, state, surroundings }: Situation): number {
  if (!state.active || surroundings.isFrozen || !surroundings.may.create) return Infinity;
  const at = rotationInstant(policy, state.active, state.postponedUntil);
  if (at > surroundings.now) return at;
  return surroundings.windows.opensAt ?? Infinity;
}
