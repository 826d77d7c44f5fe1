import type { Redacted } from "../base/redacted.ts";

/**
 * What an external system must offer so that its keys can be rotated: nine verbs and their obligations. A provider is
 * one folder that implements `Connection`; `conformance.fixture.ts` is the suite every one of them passes. Must not: decide
 * anything (when to make, publish or delete a key), keep state between calls beyond a token and what it can lose without harm, or know Kubernetes.
 *
 * Obligations of all verbs:
 * - They throw `ProviderError`; a message never carries key material, and is the same for the same mistake.
 * - "Not there" is an answer only when the service itself gave it. A proxy's or router's 404, an empty body, a page that
 *   is missing from a list: all of these are `Unavailable`.
 * - They honour the signal, and bound their own time. They do not retry, but for one new token after a 401.
 * - They may be called concurrently.
 */
export interface Connection {
  /**
   * Every key that carries our cluster's mark, narrowed to one owner where given: by UID, or by kind and name whatever
   * the UID, because restores change it. Complete, or throws. Keys that are still being made or deleted are included.
   */
  listMarked(filter: MarkFilter, signal: AbortSignal): Promise<readonly OutsideKey[]>;

  /** Every key of an instance under this name, ours or not. Names may be taken twice: return them all. */
  findByName(instanceId: string, name: string, signal: AbortSignal): Promise<readonly OutsideKey[]>;

  /**
   * One key, or undefined when the service says that it is not there. Begins nothing; where nobody else carries on what
   * `create` or `delete` began, looking does.
   */
  observe(id: string, signal: AbortSignal): Promise<OutsideKey | undefined>;

  /**
   * Makes a key under this name with these marks, on it from the start. `ready`: it works, and these are its credentials.
   * `accepted`: its id is known and it is being made; `observe` tells when it is ready. When the call throws, a key may
   * or may not have come into being, now or later: the caller looks by name and by mark before it asks again.
   */
  create(request: CreateRequest, signal: AbortSignal): Promise<Created>;

  /** The credentials of a ready key, complete. Throws `CredentialsUnavailable` where the service does not give them again. */
  readCredentials(id: string, signal: AbortSignal): Promise<Credentials>;

  /**
   * Removes a key. `gone`: it does not work any more, or was not there. `accepted`: it is being removed; `observe` tells
   * when it is gone. The caller has made sure that the key is ours and not needed.
   */
  delete(id: string, signal: AbortSignal): Promise<"gone" | "accepted">;

  /**
   * Puts marks on a key, or takes ours off it (`undefined`). Other people's labels stay. With the marks comes what else is
   * to stand on the key, where the system has a place for it.
   */
  mark(id: string, marks: Marks | undefined, signal: AbortSignal, metadata?: KeyMetadata): Promise<void>;

  /**
   * Whether the instance that keys belong to exists. `gone` only when the service itself says so and something beside it
   * could be read with the same credentials, so that lost rights never look like a lost instance.
   */
  observeInstance(instanceId: string, signal: AbortSignal): Promise<"present" | "gone">;

  /**
   * What the instance is called, and what it is an instance of; undefined when the service says that it is not there. Asked
   * for only where a Secret is to tell of it. What cannot change under its id may be remembered, a name may not.
   */
  describeInstance(instanceId: string, signal: AbortSignal): Promise<DescribedInstance | undefined>;
}

/** Who a key belongs to: on every key outside, from its creation. */
export interface Marks {
  /** UID of the namespace kube-system. */
  readonly clusterId: string;
  readonly ownerUid: string;
  readonly ownerKind: string;
  readonly ownerNamespace?: string;
  readonly ownerName: string;
  /** Counts the keys that the owner ever intended. */
  readonly sequence: number;
}

export interface MarkFilter {
  readonly clusterId: string;
  readonly owner?: { readonly uid: string; readonly kind: string; readonly namespace?: string; readonly name: string };
}

export interface OutsideKey {
  readonly id: string;
  readonly name: string;
  readonly instanceId: string;
  /** Absent where the service does not say. */
  readonly createdAt?: number;
  /** `failed`: its creation failed; it has never worked and never will. */
  readonly state: "creating" | "ready" | "failed" | "deleting";
  /** Since when it is there and does not work, where the system can tell; absent while all is well. */
  readonly illSince?: number;
  /** What is wrong is not with the key itself: another one would fare no better, so it is not replaced for that. */
  readonly isHindered?: true;
  /** Since when it is being deleted, where the system can tell. */
  readonly leavingSince?: number;
  /** It was to be deleted, which failed: it is there, and need not have worked before. */
  readonly isHalfDeleted?: true;
  /** What is wrong with it, or what it waits for, in the system's words; without key material. */
  readonly complaint?: string;
  /** What is going on with it, where that is no fault and takes its time; the same words for as long as it lasts. */
  readonly notice?: string;
  /** What the system did with it last, in the words that it has for that; absent where it does not tell. */
  readonly lastOperation?: KeyOperation;
  /** Absent: not marked by any Keyturn. */
  readonly marks?: Marks;
  /** What stands on it beside marks, whoever put it there; absent where the system has no place for it. */
  readonly metadata?: KeyMetadata;
  /**
   * The system takes no marks when a key is made, and nobody has put any on this one since: whose it is, only its name can
   * tell. Whoever finds it under a name that is theirs alone marks it, and goes on. Told by `findByName`, and of what this
   * very connection has made by all: then `marks` are those that it is to have, and it is used only once it has them.
   */
  readonly isUnmarkedYet?: true;
}

export interface KeyOperation {
  readonly type: string;
  /** What became of it. */
  readonly state: string;
}

export interface DescribedInstance {
  readonly id: string;
  readonly name: string;
  /** The service, as its makers call it. */
  readonly offering: string;
  readonly plan: string;
  readonly tags: readonly string[];
}

export interface CreateRequest {
  readonly name: string;
  readonly instanceId: string;
  /** May hold secrets of the user's. */
  readonly parameters: Redacted<Readonly<Record<string, unknown>>>;
  readonly marks: Marks;
  /** For a key that belongs to an app as well, where the system knows apps. */
  readonly appId?: string;
  /** What else is to stand on the key, where the system has a place for it. */
  readonly metadata?: KeyMetadata;
}

export interface KeyMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export type Created =
  | { readonly kind: "ready"; readonly key: OutsideKey; readonly credentials: Credentials }
  | { readonly kind: "accepted"; readonly id: string };

/** What a workload needs to log in: any JSON object that the service gives out. */
export type Credentials = Redacted<Readonly<Record<string, unknown>>>;
