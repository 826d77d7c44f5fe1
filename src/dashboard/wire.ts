/**
 * What the page and its server say to each other. Types alone, so that both sides can import them and neither carries a
 * second copy of a rule: whatever follows from a policy, a status or the engine is worked out by the server. Instants are
 * milliseconds; what is unknown, or never comes, is left out. Must not: have a place where key material could stand.
 */

/** `ServiceBinding/orders`, `RotatingResource/shop/orders`: a resource, in links and in requests. */
export type CredentialId = string;

export interface Trouble {
  /** A word of the operator's, or of `keyturn status`. */
  readonly reason: string;
  readonly message: string;
  readonly since?: number;
  readonly group: TroubleGroup;
}

/** In the order in which they are shown. */
export const TROUBLE_GROUPS = ["overdue", "failing", "held", "ineffective", "skewed"] as const;
export type TroubleGroup = (typeof TROUBLE_GROUPS)[number];

/** One key as a bar: made, perhaps replaced, perhaps to be deleted. */
export interface KeyBar {
  readonly id: string;
  readonly name: string;
  readonly state: "pending" | "active" | "retired" | "deleted" | "foreseen";
  readonly createdAt: number;
  /** When it was, or will be, no longer the one that is published. */
  readonly replacedAt?: number;
  /** When it was, or will be, gone. Left out of one that is: nobody has written down when. */
  readonly deletedAt?: number;
  /** When it should have been replaced, or, retired, deleted, where that is over and it was not. */
  readonly dueAt?: number;
  /** For whom it is kept past its time. */
  readonly heldFor?: string;
  /** How it came to be: forced, late, compromised, … with a word for people. A rotation by schedule has none. */
  readonly mark?: KeyMark;
}

export interface KeyMark {
  readonly kind: "first" | "forced" | "compromised" | "late" | "changed" | "repaired" | "adopted";
  readonly words: string;
}

/** A credential in a list: one line, and its bars. */
export interface Row {
  readonly id: CredentialId;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The resource that this one is a key of. */
  readonly parent?: CredentialId;
  readonly phase: "Creating" | "Ready" | "Rotating" | "Deleting";
  readonly isFrozen?: true;
  readonly isPaused?: true;
  readonly troubles?: readonly Trouble[];
  readonly warnings?: readonly string[];
  readonly rotationAt?: number;
  /** Of its policy; both left out: it is never rotated. */
  readonly frequencyMs?: number;
  readonly ttlMs?: number;
  /** `namespace/name`. */
  readonly secret?: string;
  /** The active one, the pending one, and the latest of the retired ones. */
  readonly keys: readonly KeyBar[];
  /** How many more retired keys there are than `keys` has. */
  readonly moreKeys?: number;
}

/** What the page shows first. */
export interface Overview {
  readonly at: number;
  readonly kinds: readonly { readonly kind: string; readonly count: number; readonly troubled: number }[];
  readonly keys: { readonly active: number; readonly pending: number; readonly retired: number; readonly held: number };
  readonly frozen: number;
  readonly paused: number;
  /** Worst first; at most `MAX_TROUBLES` of them. */
  readonly troubles: readonly TroubleLine[];
  readonly troubleCounts: Readonly<Partial<Record<TroubleGroup, number>>>;
  /** What comes within an hour, a day, thirty days: each without what the one before it has. */
  readonly upcoming: readonly Upcoming[];
  readonly operator: OperatorView;
}

export interface TroubleLine extends Trouble {
  /** Left out: it is no credential's, but the operator's own. */
  readonly id?: CredentialId;
}

export interface Upcoming {
  readonly span: "hour" | "day" | "month";
  readonly rotations: number;
  readonly deletions: number;
  /** The next ones; at most `MAX_UPCOMING`. */
  readonly next: readonly { readonly id: CredentialId; readonly at: number; readonly what: "rotation" | "deletion" }[];
}

export const MAX_TROUBLES = 200;
export const MAX_UPCOMING = 20;

/** The state of the operator, as far as whoever serves the page can see it. */
export interface OperatorView {
  /** Who serves: the operator itself, or a command that looks at the cluster. */
  readonly seenFrom: "operator" | "command";
  readonly version: string;
  /** Undefined: nobody holds the Lease, or it may not be read. */
  readonly leader?: {
    readonly identity: string;
    readonly renewedAt?: number;
    readonly isThis?: true;
    readonly isStale?: true;
  };
  readonly watches: readonly { readonly kind: string; readonly isReady: boolean; readonly words: string }[];
  /** When whoever serves last heard of the API server; left out while it answers. */
  readonly silentSince?: number;
  /** Only the operator itself knows its queues. */
  readonly queues?: readonly { readonly controller: string; readonly waiting: number; readonly working: number }[];
  readonly lastDriftCheckAt?: number;
  /** How far the clock of this machine is from that of the API server. */
  readonly clockSkewMs?: number;
}

/** Who looks at the page, and what they may do. */
export interface Viewer {
  /** As the API server calls them. */
  readonly name: string;
  /** Which cluster this is, for people; left out where nobody has named it. */
  readonly cluster?: string;
  /** False: whoever started this does not want changes, whatever the rights. */
  readonly mayChange: boolean;
  /** What may not be looked at, in words. */
  readonly unseen: readonly string[];
}

/**
 * One message of `GET /api/live`, an endless stream of server-sent events. It begins with `hello`, `overview` and all rows
 * in parts, of which the last one says so; then come changes. A comment comes every ten seconds when nothing else does.
 * After a break everything is told anew.
 */
export type LiveMessage =
  | { readonly type: "hello"; readonly at: number; readonly viewer: Viewer }
  | { readonly type: "overview"; readonly overview: Overview }
  | { readonly type: "rows"; readonly rows: readonly Row[]; readonly isLast: boolean; readonly count: number }
  | { readonly type: "changed"; readonly rows: readonly Row[]; readonly gone: readonly CredentialId[] }
  /** What this viewer may see has changed: forget all rows, they come anew. */
  | { readonly type: "reset"; readonly viewer: Viewer };

/** `GET /api/credential?id=ID`: everything about one. */
export interface CredentialView {
  readonly at: number;
  readonly row: Row;
  /** Which state of the resource this is; goes back with an action. */
  readonly seen: SeenState;
  /** The words of `keyturn explain`. */
  readonly facts: readonly FactLine[];
  /** Where it stands in the protocol; empty when nothing is under way. */
  readonly steps: readonly ProtocolStep[];
  /** All of them, the newest first; at most `MAX_KEYS`. */
  readonly keys: readonly KeyBar[];
  readonly moreKeys?: number;
  readonly secret?: SecretView;
  readonly consumers: readonly ConsumerView[];
  /** Why the consumers are not all of them. */
  readonly consumersUnseen: readonly string[];
  readonly children: readonly {
    readonly id?: CredentialId;
    readonly kind: string;
    readonly name: string;
    readonly state: string;
    readonly words: string;
  }[];
  readonly history: readonly HistoryLine[];
  /** A month back and a month ahead. */
  readonly windows: readonly WindowBar[];
  /** None where the viewer may change nothing here. */
  readonly actions: readonly ActionOffer[];
  /** Why there are none. */
  readonly refusal?: string;
}

export interface FactLine {
  readonly about: string;
  readonly text: string;
  readonly isProblem?: true;
  /** Nothing is wrong yet, and will be unless somebody does something. */
  readonly isWarning?: true;
}

export const MAX_KEYS = 500;

/**
 * `GET /api/last-failure?id=ID`: what stood in the way of one that is in order, last. It is asked for apart: an API server
 * looks through every event there is for it, and nobody should wait for that to see the credential itself.
 */
export interface LastFailureView {
  readonly text?: string;
}

export interface SeenState {
  readonly uid: string;
  readonly sequence: number;
}

export interface ProtocolStep {
  readonly step: "intend" | "create" | "publish" | "activate" | "commit";
  readonly state: "done" | "now" | "to come";
  readonly words: string;
}

/** Of a Secret, never what is in it. */
export interface SecretView {
  readonly namespace: string;
  readonly name: string;
  /** Undefined: it may not be looked at. */
  readonly isThere?: boolean;
  readonly keyId?: string;
  readonly fingerprint?: string;
  readonly publishedAt?: number;
}

export interface ConsumerView {
  /** `Deployment`. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** How it uses the Secret. */
  readonly uses: string;
  /** On which value its pods run, in words. */
  readonly runsOn: string;
  /**
   * `moved`: all of it runs on what the Secret is now. `moving`: its rollout is under way. `waiting`: its restart is to come by
   * itself. `behind`: it stays on an older value until somebody does something. Undefined: nobody can tell.
   */
  readonly standing?: "moved" | "moving" | "waiting" | "behind";
  readonly hasOptedIn?: boolean;
  /** How far its rollout is. */
  readonly rollout?: {
    readonly updated: number;
    readonly total: number;
    readonly isComplete: boolean;
    readonly words: string;
  };
  /** What happens to it on a change. */
  readonly change: string;
}

/** Something that has happened, from the status or from the audit log, the latest first. */
export interface HistoryLine {
  readonly at: number;
  readonly what: string;
  readonly keyId?: string;
  readonly reason?: string;
  readonly outcome?: string;
  readonly from: "status" | "audit";
}

export interface Interval {
  readonly from: number;
  readonly until: number;
}

/** When rotations may begin, by the policy of now. */
export interface WindowBar extends Interval {
  /** Several openings, which follow each other sooner than could be drawn. */
  readonly isMany?: true;
}

export const ACTIONS = ["rotate", "compromised", "freeze", "unfreeze"] as const;
export type Action = (typeof ACTIONS)[number];

export interface ActionOffer {
  readonly action: Action;
  /** Why it cannot be done now; left out where it can. */
  readonly obstacle?: string;
}

/** `GET /api/preview?id=ID&action=ACTION&until=MS`: what an action would do, from the engine that will do it. */
export interface Preview {
  readonly action: Action;
  /** Plain sentences, in order. */
  readonly statement: readonly string[];
  /** The keys as they are, and as they would be from now on. */
  readonly keys: readonly KeyBar[];
  /** As far back as ahead. */
  readonly windows: readonly WindowBar[];
}

/** `POST /api/action`. */
export interface ActionRequest {
  readonly id: CredentialId;
  readonly action: Action;
  /** What the page had seen when the button was pressed: an action is for that state, and for no other. */
  readonly seen: SeenState;
}

export interface ActionAnswer {
  /** What happens now, in words. */
  readonly words: string;
}

/** `POST /api/futures`: the bars to come of those that are in sight, at most `MAX_FUTURES` of them. */
export interface FuturesRequest {
  readonly ids: readonly CredentialId[];
  readonly until: number;
  /** Of which time the windows are told: it need not be that of the keys. */
  readonly sight: Interval;
}

export const MAX_FUTURES = 100;

export interface FuturesAnswer {
  readonly futures: Readonly<Record<CredentialId, Future>>;
}

export interface Future {
  /**
   * Those that will be and the keys that are there, with how they end, at most `MAX_FUTURE_KEYS`; then those that are no
   * more: of the last year, as far as the audit log tells, and of the last rotations by the status, at most `MAX_PAST_KEYS`.
   * The newest first.
   */
  readonly keys: readonly KeyBar[];
  /** Those of `sight`, in the past as well. Left out where it may be rotated at any time. */
  readonly windows?: readonly WindowBar[];
  /** Up to when what is to come is complete, where that is before what was asked for. */
  readonly until?: number;
}

export const MAX_FUTURE_KEYS = 400;

/** Of one that is rotated every day, those of a year. */
export const MAX_PAST_KEYS = 400;

/** `GET /api/consumers?namespace=NS&name=NAME`: who uses a Secret. */
export interface ConsumersView {
  readonly at: number;
  readonly secret: SecretView;
  /** Whose key it holds. */
  readonly credential?: CredentialId;
  readonly consumers: readonly ConsumerView[];
  readonly unseen: readonly string[];
  readonly notes: readonly string[];
}

/** `GET /api/workloads?namespace=NS`: from workloads to the published Secrets that they use. */
export interface WorkloadsView {
  readonly namespace: string;
  readonly workloads: readonly {
    readonly kind: string;
    readonly name: string;
    readonly secrets: readonly { readonly secret: string; readonly credential?: CredentialId }[];
  }[];
  readonly unseen: readonly string[];
}

/** `GET /api/evidence?maxPeriod=90d`: the compliance report, and whether the audit log is as it was written. */
export interface EvidenceView {
  readonly at: number;
  readonly maxPeriodMs?: number;
  readonly items: readonly EvidenceItem[];
  /** Retired keys that are kept for somebody: no verdict is about them, since what is published was rotated. */
  readonly heldKeys: number;
  readonly unseen: readonly string[];
  readonly audit: AuditView;
}

export interface EvidenceItem {
  /** As kubectl names it; each is there once. */
  readonly label: string;
  readonly kind: string;
  /** With its namespace, where its kind has one. */
  readonly name: string;
  readonly id?: CredentialId;
  readonly secret?: string;
  readonly periodMs?: number;
  readonly lastRotationAt?: number;
  readonly nextRotationAt?: number;
  readonly overdueMs: number;
  readonly heldBackBy?: string;
  readonly exceptions: readonly { readonly kind: string; readonly words: string }[];
  readonly problems: readonly { readonly reason: string; readonly words: string }[];
  readonly isInOrder: boolean;
}

export type AuditView =
  | { readonly kind: "none"; readonly words: string }
  | {
      readonly kind: "verified";
      readonly isSound: boolean;
      readonly words: readonly string[];
      readonly lines: number;
      readonly from?: number;
      readonly until?: number;
    };

/** `POST /api/session` with the token of the link, once: what requests bear from then on. */
export interface SessionAnswer {
  readonly token: string;
}

/** The body of every answer that is no success. */
export interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

/** `GET /api/way-in`, open to everybody: how to prove who one is. */
export interface WayIn {
  /** The one-time token of a link, or a token that the cluster knows. */
  readonly by: "link" | "cluster-token";
}
