import { MAX_INSTANT, NEVER } from "../base/instant.ts";
import type { ActiveKey, Policy, RetiredCause, RetiredKey, SeenKey, Situation } from "./model.ts";

/**
 * When a key is due to be replaced, and when a replaced one may go. Pure sums over milliseconds; a day is 24 hours here,
 * whatever the clocks on the wall do. Must not: decide. Whoever calls adds windows, freezes and the outside world.
 */
const SECOND_MS = 1000;

/** How long a key lives on when it was replaced by force and no policy promises anything. */
export const DEFAULT_FORCED_OVERLAP_MS = 24 * 3_600_000;

/** How long a key may be ill before another one takes its place. */
export const DEFAULT_ILL_GRACE_MS = 10 * 60_000;

/** Keys that nobody ever used. */
const UNUSED: ReadonlySet<RetiredCause> = new Set<RetiredCause>(["duplicate", "abandoned"]);
/** Keys that nobody may go on using, or that nobody ever used: they go as soon as another one is published. */
const AT_ONCE: ReadonlySet<RetiredCause> = new Set<RetiredCause>(["compromised", ...UNUSED]);

/** How far our clock and the API server's may be apart before that is noticed, and everything with a date waits. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * When the Secret has stopped, by now, to hold a key that it may have held: not before it was written, by whichever clock.
 * A date beyond the tolerance is somebody's who has edited it.
 */
export function replacedByNow({ observation, surroundings: { now } }: Situation): number {
  return Math.max(now, Math.min(observation.secret?.publishedAt ?? now, now + CLOCK_TOLERANCE_MS));
}

/** Whether a key was retired as one that was never published. */
export const isUnused = ({ cause }: Pick<RetiredKey, "cause">): boolean => UNUSED.has(cause);

/** What is promised to consumers of the old key when a rotation begins now; saved with the key, and fixed from then on. */
export function overlapOf(policy: Pick<Policy, "ttlMs" | "frequencyMs" | "forcedOverlapMs">): number {
  return policy.ttlMs === undefined ? policy.forcedOverlapMs : Math.max(0, policy.ttlMs - policy.frequencyMs);
}

/** When the active key is due to be replaced; `NEVER` for a static one. */
export function rotationInstant(
  policy: Pick<Policy, "frequencyMs">,
  active: Pick<ActiveKey, "createdAt">,
  postponedUntil?: number,
): number {
  return sayable(Math.max(active.createdAt + policy.frequencyMs, postponedUntil ?? active.createdAt));
}

type RetiredDates = Pick<RetiredKey, "createdAt" | "replacedAt" | "overlapMs" | "deletionAt" | "cause">;

/**
 * When a retired key may be deleted: the later of the end of its life and the end of the promised overlap. The current
 * ttl moves the first, also of keys already retired; the frequency moves neither; with rotation off the date that was
 * saved stands for the first; where a key's life ends with the overlap there is no first. The second counts from when the Secret stopped holding the key, so a late or forced
 * rotation has no less overlap than it was promised. `NEVER` while no successor is published.
 */
export function deletionInstant(policy: Lifetime, key: RetiredDates): number {
  if (key.replacedAt === undefined) return NEVER;
  if (AT_ONCE.has(key.cause)) return wholeSecond(key.replacedAt);
  return wholeSecond(Math.max(endOfLife(policy, key), key.replacedAt + key.overlapMs));
}

function endOfLife({ ttlMs, endsWithOverlap }: Lifetime, key: RetiredDates): number {
  if (endsWithOverlap) return key.createdAt;
  return ttlMs === undefined ? key.deletionAt : key.createdAt + ttlMs;
}

type Lifetime = Pick<Policy, "ttlMs" | "endsWithOverlap">;

/**
 * When a retired key goes at the latest, whoever still uses it: its deletion date where nobody is waited for, which nobody
 * is by a key that may not be used or never was.
 */
export function latestDeletion(policy: Lifetime & Pick<Policy, "maxHoldMs">, key: RetiredDates): number {
  const deletionAt = deletionInstant(policy, key);
  const isHeld = policy.maxHoldMs !== undefined && !AT_ONCE.has(key.cause) && Number.isFinite(deletionAt);
  return isHeld ? wholeSecond(deletionAt + (policy.maxHoldMs ?? 0)) : deletionAt;
}

/** When a key has been ill for too long; `NEVER` for one that no other would be better than. */
export function illnessEnds(policy: Pick<Policy, "illGraceMs">, key: Pick<SeenKey, "illSince" | "isHindered">): number {
  return key.illSince === undefined || key.isHindered ? NEVER : key.illSince + policy.illGraceMs;
}

/** Whether an instant has come. `NEVER` never does. */
export function isDue(at: number, now: number): boolean {
  return at <= now;
}

/** Rounded up to what a status can hold, so that the date people read is the one that is kept. */
const wholeSecond = (at: number): number => sayable(Math.ceil(at / SECOND_MS) * SECOND_MS);

/** A date after the year 9999 cannot be written in RFC 3339, and would be read back as none: the last second stands in. */
const sayable = (at: number): number => (at === NEVER ? NEVER : Math.min(at, MAX_INSTANT));
