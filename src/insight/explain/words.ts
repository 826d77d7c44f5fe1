import { formatDuration } from "../../base/duration.ts";
import { formatInstant } from "../../base/instant.ts";
import { deletionInstant, latestDeletion } from "../../engine/dates.ts";
import type { Policy, Reason, RetiredCause, RetiredKey, WaitReason } from "../../engine/model.ts";
import { notMoved } from "../../reconcile/managed/consumers.ts";
import { ANNOTATIONS } from "../../reconcile/managed/managed-kind.ts";
import { moment } from "../words/when.ts";

/** Why a new key is made: the ends of sentences that begin with what happens. */
export function whyNewKey(reason: Reason, { frequencyMs }: Policy): string {
  switch (reason) {
    case "FirstKey":
      return "there is none yet";
    case "NothingToAdopt":
      return `there is no key that the annotation ${ANNOTATIONS.externalName} could mean`;
    case "RotationDue":
      return `the active key is ${formatDuration(frequencyMs)} old by then (rotation.frequency)`;
    case "Forced":
      return "somebody asked for it by annotation";
    case "Compromised":
      return "somebody has declared the active key compromised; that key is deleted once its successor is published";
    case "ExternalNameChanged":
      return `the annotation ${ANNOTATIONS.externalName} does not name the active key`;
    case "SpecChanged":
      return "what the key is made from has changed";
    case "ActiveKeyGone":
      return "the active key was deleted outside";
    case "ActiveKeyIll":
      return "the active key has not been working for too long";
    case "StatusFromThePast":
      return "the status is older than what is outside";
    case "Adopted":
      return "a key was there to be taken over";
    case "NameTaken":
      return "the name of the key that was to come is taken";
    case "CredentialsUnavailable":
      return "the service does not give the credentials of the key before again";
  }
}

/** What holds a rotation back, and what lets it go on; undefined where nothing does. */
export function whyHeld(reason: WaitReason): string | undefined {
  switch (reason) {
    case "Paused":
      return `the annotation ${ANNOTATIONS.paused} stops everything: remove it to go on`;
    case "Frozen":
      return "frozen: no new rotation begins until keyturn unfreeze; retired keys are deleted all the same";
    case "WindowClosed":
      return "a rotation is due and waits for its turn in the window";
    case "TooManyForced":
      return "a rotation was asked for, but too many were within one ttl: it waits until a key retired by force is deleted";
    case "NotAllowed":
      return "spec.managementPolicies does not allow what is due";
    case "AdoptionRefused":
      return `the key that ${ANNOTATIONS.externalName} names belongs to somebody else`;
    case "ClockSkewed":
      return "the clocks of the operator and of the API server differ too much";
    case "KeyBeingMade":
    case "KeyBeingDeleted":
    // It keeps a retired key, not a rotation: it is said of that key.
    case "ConsumersBehind":
    case "Settled":
      return undefined;
  }
}

const CAUSES: Readonly<Record<RetiredCause, string>> = {
  rotated: "replaced by rotation",
  forced: "replaced because somebody asked for it",
  compromised: "declared compromised",
  duplicate: "a second key of one intent, which nobody uses",
  abandoned: "given up, since its credentials could not be had",
  found: "found outside by its marks",
  ill: "replaced because it had not been working for too long",
  gone: "deleted outside by somebody else",
};

/** When a retired key goes, and which of the rules for that has decided. */
export function fateOf(key: RetiredKey, policy: Policy, now: number): string {
  const goesAt = deletionInstant(policy, key);
  if (!Number.isFinite(goesAt) || key.replacedAt === undefined) {
    return `${CAUSES[key.cause]}; stays until its successor is published`;
  }
  if (key.heldFor !== undefined && policy.maxHoldMs !== undefined && goesAt <= now) {
    const latest = `is deleted at ${moment(latestDeletion(policy, key), now)} at the latest`;
    return `${CAUSES[key.cause]}; its time ended at ${moment(goesAt, now)}. Held: ${notMoved(key.heldFor)}; it ${latest} (rotation.maxHold)`;
  }
  const when = goesAt > now ? `is deleted at ${moment(goesAt, now)}` : `is deleted now (due ${moment(goesAt, now)})`;
  const why = goesAt - key.replacedAt < 1000 ? "at once, with its replacement" : whyThen(key, policy, key.replacedAt);
  const unless =
    policy.maxHoldMs !== undefined && goesAt > now ? "; later if somebody has not moved by then (AfterConsumers)" : "";
  return `${CAUSES[key.cause]}; ${when}: ${why}${unless}`;
}

function whyThen(key: RetiredKey, { ttlMs, endsWithOverlap }: Policy, replacedAt: number): string {
  const overlapEndsAt = replacedAt + key.overlapMs;
  const endOfLifeAt = ttlMs === undefined ? key.deletionAt : key.createdAt + ttlMs;
  const isLast = ttlMs === undefined ? overlapEndsAt >= endOfLifeAt : overlapEndsAt > endOfLifeAt;
  if (isLast || endsWithOverlap) {
    return `it was replaced at ${formatInstant(replacedAt)}, and ${formatDuration(key.overlapMs)} of overlap were promised then`;
  }
  return ttlMs === undefined
    ? "the date that was saved while rotation was on"
    : `its ttl of ${formatDuration(ttlMs)} ends then`;
}
