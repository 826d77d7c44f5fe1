import type { KubeObject, ObjectRef, ResourceType } from "./objects.ts";

/**
 * The one way to a Kubernetes API, for production, the embedded server and the simulation alike. Every call takes an
 * AbortSignal and throws the typed errors of `errors.ts`. Must not: retry, cache or decide anything; those are the
 * list-watch, the cache and the caller.
 */
export interface Kube {
  /** Reads one object live. Throws `NotFound`. */
  get<T extends KubeObject = KubeObject>(type: ResourceType, ref: ObjectRef, options?: ReadOptions): Promise<T>;
  /** One page of a list; follow `continue` for the rest. */
  list<T extends KubeObject = KubeObject>(type: ResourceType, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * One watch connection. Ends when the server ends it, throws when it breaks; a 410 or an ERROR event throws. Events
   * come in the order the server sent them. Leaving the loop closes the connection.
   */
  watch<T extends KubeObject = KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Throws `AlreadyExists`. `metadata.generateName` may stand in for the name. */
  create<T extends KubeObject>(type: ResourceType, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** Replaces the whole object, compare-and-swap when it carries a resourceVersion. Throws `Conflict`. */
  replace<T extends KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T>;
  /** A resourceVersion inside the patch makes it compare-and-swap. */
  patch<T extends KubeObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /** Returns the object as it was left: with a deletionTimestamp when finalizers hold it, else undefined. */
  delete(type: ResourceType, ref: ObjectRef, options?: DeleteOptions): Promise<KubeObject | undefined>;
  /** A plain GET for what is not an object: `/version`, discovery, OpenAPI. */
  fetch(path: string, options?: CallOptions & { readonly accept?: string }): Promise<unknown>;
  /** Which resources a group version serves; empty where the server does not know it. */
  discover(group: string, version: string, options?: CallOptions): Promise<readonly ResourceType[]>;
  close(): Promise<void>;
}

/** The part of it that reads single objects. */
export interface ObjectReader {
  get(type: ResourceType, ref: ObjectRef, options?: ReadOptions): Promise<KubeObject>;
}

/** What is needed to make an object: the server fills in the rest of the metadata. */
export type Draft<T extends KubeObject> = Omit<T, "metadata"> & {
  readonly metadata: Omit<T["metadata"], "name"> & { readonly name?: string };
};

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Overrides the client's default time-out for this call. */
  readonly timeoutMs?: number;
  /** The call is made with the rights of this user; whoever calls must have the right to impersonate it. */
  readonly as?: string;
  /** Which part of the program asks, for the server's records. */
  readonly caller?: string;
}

export interface ReadOptions extends CallOptions {
  /** Ask for PartialObjectMetadata: no spec, no data. */
  readonly metadataOnly?: boolean;
  readonly subresource?: string;
  readonly resourceVersion?: string;
}

export interface Selection {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends Selection, CallOptions {
  readonly metadataOnly?: boolean;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan" | "Exact";
}

export interface ObjectList<T extends KubeObject = KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchOptions extends Selection, Pick<CallOptions, "signal" | "as" | "caller"> {
  readonly metadataOnly?: boolean;
  readonly resourceVersion?: string;
  readonly timeoutSeconds?: number;
  /** WatchList: the state comes first as ADDED events, then a bookmark that says so. */
  readonly sendInitialEvents?: boolean;
  /** The connection is broken off when nothing, not even a bookmark, came for this long. */
  readonly idleTimeoutMs?: number;
  /** The server has accepted the watch; the first event may be long in coming. */
  readonly onOpen?: () => void;
}

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WriteOptions extends CallOptions {
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export type Patch =
  | { readonly type: "merge"; readonly body: object }
  | { readonly type: "json"; readonly body: readonly object[] }
  | { readonly type: "strategic"; readonly body: object }
  /** Server-side apply; needs `fieldManager`. `force` takes fields over from other managers. */
  | { readonly type: "apply"; readonly body: object; readonly force?: boolean };

export interface DeleteOptions extends CallOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}
