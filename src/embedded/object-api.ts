import type { KubeObject, ObjectRef } from "../kube/objects.ts";
import type { Json } from "./json.ts";
import type { ResourceDefinition } from "./registry.ts";

/**
 * The verbs of the embedded server on objects, without HTTP: what the HTTP layer, the simulated controllers and the
 * simulation call. Everything but waiting for changes is synchronous; refusals are thrown as `StatusError`. Objects that
 * come out are shared and must not be changed. Must not: know paths, headers, encodings or tables.
 */
export interface ObjectApi {
  get(definition: ResourceDefinition, ref: ObjectRef, notOlderThan?: string): KubeObject;
  list(definition: ResourceDefinition, query: ListQuery): ListResult;
  watch(definition: ResourceDefinition, query: WatchQuery): WatchFeed;
  create(definition: ResourceDefinition, namespace: string | undefined, body: Json, context: WriteContext): Written;
  update(definition: ResourceDefinition, ref: ObjectRef, body: Json, context: WriteContext): Written;
  patch(definition: ResourceDefinition, ref: ObjectRef, patch: PatchRequest, context: WriteContext): Written;
  delete(definition: ResourceDefinition, ref: ObjectRef, options: DeleteRequest): Deleted;
}

interface SelectionQuery {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListQuery extends SelectionQuery {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
}

export interface ListResult {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchQuery extends SelectionQuery {
  /** Absent or "0": start with the present state as ADDED events, then changes. */
  readonly resourceVersion?: string;
  readonly sendInitialEvents?: boolean;
}

export interface FeedEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

/**
 * The changes of one kind from one resourceVersion on, as one watcher's selection sees them. Holds a position in the
 * shared history and no buffer of its own: a watcher that falls behind what the history keeps gets a 410.
 */
export interface WatchFeed {
  /** What has happened since the last call; empty if nothing has. Throws `StatusError` 410 when history is lost. */
  take(): readonly FeedEvent[];
  /** Resolves when `take` may have something, or the feed was closed. */
  wait(): Promise<void>;
  /** The resourceVersion up to which everything was taken: what a bookmark may say. */
  readonly position: string;
  readonly closed: boolean;
  close(): void;
}

export interface WriteContext {
  /** Who is writing, for managedFields. */
  readonly fieldManager: string;
  readonly subresource?: string;
  readonly dryRun?: boolean;
  /** What to do about unknown and duplicate fields; kubectl sends Strict, the default is Warn. */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** Unknown or duplicate fields that decoding the body already found (duplicates are invisible after parsing). */
  readonly decodeWarnings?: readonly string[];
  /** The server's own doing, which no policy may stop. */
  readonly bypassesAdmission?: boolean;
}

export type PatchRequest =
  | { readonly type: "json" | "merge" | "strategic"; readonly body: Json }
  | { readonly type: "apply"; readonly body: Json; readonly force: boolean };

export interface Written {
  readonly object: KubeObject;
  /** True for a create, also one by apply: the answer is 201. */
  readonly created: boolean;
  /** Sent as `Warning:` headers. */
  readonly warnings: readonly string[];
}

export interface DeleteRequest {
  /** As for a `WriteContext`. */
  readonly bypassesAdmission?: boolean;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface Deleted {
  readonly object: KubeObject;
  /** False while finalizers or a grace period hold the object. */
  readonly gone: boolean;
  readonly warnings: readonly string[];
}
