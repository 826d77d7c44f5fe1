/**
 * What the engine reasons about: a policy, what the resource says, what was seen, and what is to be done next. Plain
 * values without behaviour; instants and lengths are milliseconds. Must not: know Kubernetes, a provider or a kind.
 */
export interface Policy {
  /** The age at which the active key is replaced; Infinity for a key that is never rotated. */
  readonly frequencyMs: number;
  /** How long a key lives from its creation; undefined while rotation is off: then the saved dates count. */
  readonly ttlMs: number | undefined;
  /** A replaced key has the overlap and no other life: then the ttl says nothing but how long that is. */
  readonly endsWithOverlap?: boolean | undefined;
  /** How long a key lives on after a forced rotation without a policy. */
  readonly forcedOverlapMs: number;
  /** At most so many keys may be retired by force within one ttl. */
  readonly maxForced: number;
  /** How long the active key may be ill, where the outside can tell, before another one takes its place. */
  readonly illGraceMs: number;
  /**
   * How long after its deletion date a key is kept at most while somebody has not moved on from it; undefined: it goes at
   * that date, whoever uses it.
   */
  readonly maxHoldMs?: number | undefined;
  /** Whether there is a Secret to publish to; without one, activation counts as publication. */
  readonly publishes: boolean;
}

/** A key outside, as the resource knows it. */
export interface KnownKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

export interface ActiveKey extends KnownKey {
  readonly sequence: number;
  /** A digest of what the key was made from (instance, parameters, name): when that changes, so must the key. */
  readonly madeFrom: string;
}

export type RetiredCause = "rotated" | "forced" | "compromised" | "duplicate" | "abandoned" | "found" | "ill" | "gone";

export interface RetiredKey extends KnownKey {
  readonly retiredAt: number;
  /** When the Secret stopped holding it; undefined until its successor is published. */
  readonly replacedAt: number | undefined;
  /** The overlap that the policy promised when the rotation began. */
  readonly overlapMs: number;
  /** As last saved; what counts while rotation is off. */
  readonly deletionAt: number;
  readonly cause: RetiredCause;
  /** Who had not moved on from it when that was last asked, though its time is over; in words. */
  readonly heldFor?: string | undefined;
}

/** The intent to have a next key: written down before anything is made. */
export interface Pending {
  readonly name: string;
  readonly sequence: number;
  readonly since: number;
  /** Known before the credentials where the outside works asynchronously, and for a key that is to be adopted. */
  readonly id: string | undefined;
  readonly madeFrom: string;
  /** Why it was intended; unknown where a version that did not write it down began it. */
  readonly reason: Reason | undefined;
  /** The value of the request that this key fulfils: kept here until the commit, since activation takes it away. */
  readonly fulfils: string | undefined;
}

/** What a person asked for by annotation. */
export interface Request {
  readonly value: string;
  readonly isCompromised: boolean;
}

export interface State {
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  readonly externalName: string | undefined;
  readonly active: ActiveKey | undefined;
  readonly sequence: number;
  readonly pending: Pending | undefined;
  readonly retired: readonly RetiredKey[];
  readonly request: Request | undefined;
  /** The last value of a request that was fulfilled; the same value again asks for nothing. */
  readonly fulfilled: string | undefined;
  /** A rotation that changed nothing is not tried again before this. */
  readonly postponedUntil: number | undefined;
  /** What became of the last intents, the latest first. Told to people; nothing is decided on it. */
  readonly history: readonly HistoryEntry[];
}

/** A key that was intended, and what became of it. */
export interface HistoryEntry {
  readonly keyId: string;
  /** Since when such a key was wanted: one that takes the place of an abandoned key has waited since then too. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly reason: Reason | undefined;
  readonly outcome: RotationOutcome;
}

/**
 * It became the active key; it was given up, and another one was intended; or it brought the old credentials again, and the
 * old key stayed.
 */
export const ROTATION_OUTCOMES = ["Succeeded", "Abandoned", "Ineffective"] as const;
export type RotationOutcome = (typeof ROTATION_OUTCOMES)[number];

/** A key outside, as it was seen; only keys that bear our marks, or the name that is pending. */
export interface SeenKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number | undefined;
  readonly state: "creating" | "ready" | "failed" | "deleting";
  /** Undefined: not ours. */
  readonly sequence: number | undefined;
  /** Since when it is there and does not work; undefined when all is well, or nobody can tell. */
  readonly illSince?: number | undefined;
  /** What is wrong is not with the key itself: another one would fare no better. */
  readonly isHindered?: boolean | undefined;
  /** Since when it is being deleted; undefined when it is not, or nobody can tell. */
  readonly leavingSince?: number | undefined;
  /** It was to be deleted, which failed. */
  readonly isHalfDeleted?: boolean | undefined;
}

/** What the Secret holds; `keyId` undefined when it is missing, damaged or not of this resource. */
interface SeenSecret {
  readonly keyId: string | undefined;
  readonly sequence: number | undefined;
  /** When it was written, at the latest, by our clock or the API server's; undefined where nobody says. */
  readonly publishedAt?: number | undefined;
}

/** What this pass has found out so far; undefined means that it has not looked. */
export interface Observation {
  /** All keys with our marks, and all under the pending name. */
  readonly outside: readonly SeenKey[] | undefined;
  /** Keys that were asked for by their id, where the list does not show them. */
  readonly observed: ReadonlyMap<string, SeenKey | "gone">;
  readonly secret: SeenSecret | undefined;
  /** Keys that the resource does not know, in Secrets that it has left: as far as the watch tells. */
  readonly formerKeyIds: readonly string[];
  /** This very pass wrote the pending intent, so nobody can have made the key yet. */
  readonly wroteIntent: boolean;
  /** This very pass has brought a rotation to its end: what has expired meanwhile goes before another one begins. */
  readonly hasCommitted: boolean;
  /** This very process left the resource in exactly this state: it is not from the past, and nobody has touched it. */
  readonly isContinued: boolean;
  /** The key of the pending intent, made or found, whose credentials were published by this pass. */
  readonly published: string | undefined;
  /** The key, of the pending intent or the active one, that exists, and whose credentials the outside does not give. */
  readonly unreadable: string | undefined;
  /** The key of the pending intent whose credentials are those of the old key: the rotation has changed nothing. */
  readonly ineffective: string | undefined;
  /** What became of an attempt to adopt: there is nothing under that id, or it belongs to somebody else. */
  readonly adoption: "absent" | "foreign" | undefined;
  /** The next step towards the pending key has failed in this pass. */
  readonly isBlocked?: boolean | undefined;
  /** By the id of each retired key that was asked about: who has not moved on from it; nobody: it is free. */
  readonly consumers: ReadonlyMap<string, readonly string[]> | undefined;
}

/** What holds rotation back, or tells how things are around it. */
interface Surroundings {
  readonly now: number;
  readonly isPaused: boolean;
  readonly isFrozen: boolean;
  /** The local clock and the API server's differ too much to act on dates. */
  readonly isSkewed: boolean;
  readonly windows: WindowView;
  /** When the outside is to be looked at even if nothing asks for it. */
  readonly driftCheckAt: number;
  /** A digest of what a key would be made from now. */
  readonly madeFrom: string;
  /** Whether an earlier digest can be compared with that of now: those under another digest key cannot. */
  readonly isComparable: (madeFrom: string) => boolean;
  /** What the resource lets us do outside. */
  readonly may: Permissions;
  /** The outside tells when something has changed there: nobody has to ask again and again. */
  readonly hearsOutside?: boolean;
  /** When the outside was asked for the pending key, where this very process did that. */
  readonly askedAt?: number | undefined;
  /** The name of the key with this sequence. */
  readonly nameOf: (sequence: number) => string;
}

/** What managementPolicies allow. */
export interface Permissions {
  readonly create: boolean;
  readonly delete: boolean;
}

/** Maintenance windows, seen from now: open when there are none. */
interface WindowView {
  readonly isOpen: boolean;
  /** When it opens next; undefined when it is open, or never. */
  readonly opensAt: number | undefined;
}

export interface Situation {
  readonly policy: Policy;
  readonly state: State;
  readonly observation: Observation;
  readonly surroundings: Surroundings;
}

/** Why something is done: the same word in events, conditions, the history, the CLI and the audit. */
export const REASONS = [
  "FirstKey",
  "NothingToAdopt",
  "RotationDue",
  "Forced",
  "Compromised",
  "SpecChanged",
  "ActiveKeyGone",
  "ActiveKeyIll",
  "ExternalNameChanged",
  "StatusFromThePast",
  "Adopted",
  "NameTaken",
  "CredentialsUnavailable",
] as const;
export type Reason = (typeof REASONS)[number];

export interface GivenUp {
  readonly id: string;
  readonly at: number;
}

/** One step, the next one. The caller does it, sees what came of it, and asks again. */
export type Decision =
  | { readonly kind: "wait"; readonly until: number; readonly reason: WaitReason }
  | { readonly kind: "addFinalizer" }
  /** List what bears our marks, and what is under the pending name. */
  | { readonly kind: "look" }
  /** Ask for one key by its id: the list does not show it. */
  | { readonly kind: "observe"; readonly id: string }
  /** Take over the key that external-name points to, if it is there and nobody else's. */
  | { readonly kind: "adopt"; readonly id: string; readonly next: Pending }
  /**
   * What the status says of the active key is put right: the digest of what it was made from where that cannot be
   * compared, and when it was made where the outside says otherwise.
   */
  | { readonly kind: "rebase"; readonly madeFrom: string; readonly createdAt: number }
  /** Write the intent: what becomes of the active key, and which key is to be next. */
  | {
      readonly kind: "intend";
      readonly next: Pending;
      readonly retire: readonly RetiredKey[];
      readonly reason: Reason;
      /** The key of the intent before, where there was one and it is not to be had. */
      readonly givesUp?: GivenUp;
    }
  | { readonly kind: "create" }
  | { readonly kind: "recordId"; readonly id: string }
  /** A request that came while the key was being made: it is fulfilled by it too. */
  | { readonly kind: "recordRequest"; readonly request: Request }
  | { readonly kind: "publish"; readonly id: string }
  | { readonly kind: "activate"; readonly id: string }
  | { readonly kind: "commit"; readonly id: string }
  /** Give the intent up and keep the old key: the new one changes nothing. */
  | { readonly kind: "undo"; readonly retire: RetiredKey; readonly postponedUntil: number }
  | { readonly kind: "removeFailed"; readonly id: string }
  | { readonly kind: "retire"; readonly keys: readonly RetiredKey[] }
  /** What the status says of these retired keys is put right. */
  | { readonly kind: "amend"; readonly keys: readonly RetiredKey[] }
  | { readonly kind: "republish"; readonly id: string }
  /**
   * The Secret holds retired keys again, or no longer: when they were replaced is not known until it has been written, and
   * then it is that moment.
   */
  | { readonly kind: "redate"; readonly ids: readonly string[]; readonly replacedAt: number | undefined }
  /** Find out who has not moved on from these keys, whose time is over. */
  | { readonly kind: "askConsumers"; readonly ids: readonly string[] }
  | { readonly kind: "expire"; readonly ids: readonly string[] }
  | { readonly kind: "forget"; readonly ids: readonly string[] };

export type WaitReason =
  | "Paused"
  | "Settled"
  | "Frozen"
  | "ClockSkewed"
  | "WindowClosed"
  | "TooManyForced"
  | "NotAllowed"
  | "KeyBeingMade"
  | "AdoptionRefused"
  | "KeyBeingDeleted"
  | "ConsumersBehind";
