import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube, Selection } from "../kube/port.ts";
import type { Delta, ResourceCache } from "../kube/resource-cache.ts";
import type { Reconcile } from "./workers.ts";

/**
 * What can be switched on by name: the kinds it watches, how their changes become keys, and what is done with a key. Must
 * not: hold state of its own; that lives in the caches, the queue and the cluster.
 */
export interface Controller {
  readonly name: string;
  readonly watches: readonly Watch[];
  /**
   * Whom work on a key may have to wait for, where there is somebody: keys of one lane do not keep those of another
   * waiting. All the same to a controller that waits for nobody but the API server.
   */
  readonly laneOf?: (key: string) => string;
  /** How many keys of one lane are worked on at a time, where that is fewer than whoever runs the operator allows. */
  readonly laneWidth?: number;
  /** The same while there is work in other lanes too, where that is fewer still. */
  readonly laneWidthBeside?: number;
  /** How many lanes may be full at a time before those in the others have to wait. Each of them is connections, and memory. */
  readonly fullLanes?: number;
  /** Called once, when the caches exist. */
  readonly createReconcile: (context: ControllerContext) => Reconcile;
}

/** What is looked at, and what is kept of it. Controllers that name the very same source share its watch and its cache. */
export interface Source<R = unknown> {
  readonly type: ResourceType;
  readonly selection?: Selection;
  readonly metadataOnly?: boolean;
  /** What of an object is kept in the cache, as little as the reconciles need; undefined: the object is not kept at all. */
  record(object: KubeObject): R | undefined;
  /** The values under which records can be found, by the name of the index. */
  readonly indexes?: Readonly<Record<string, SourceIndexer<R>>>;
  /** Those for whose sake it is looked at: while nothing is in any of them, it is not watched at all. */
  readonly sakes?: readonly Source[];
}

/** What a source is to one controller. */
export interface Watch<R = unknown> {
  readonly source: Source<R>;
  /** The keys that a change concerns. */
  keysOf(delta: Delta<R>): readonly string[];
  /**
   * Whether somebody may have asked for something by this change; absent: always. What nobody asked for, such as the echo
   * of our own words about a failure, waits with a back-off instead of cutting it short.
   */
  isWish?(delta: Delta<R>): boolean;
  /** What it tells only saves time: work does not wait until it is complete. */
  readonly isHint?: boolean;
}

/** A method's type, so that a list can hold sources of different records: each is only ever given its own. */
type SourceIndexer<R> = { of(record: R): readonly string[] }["of"];

export interface ControllerContext {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Asks for a key that no change of a watch leads to; ignored until the work has begun. */
  readonly enqueue: (key: string) => void;
  /**
   * Asks for a key to be worked on at this instant at the latest, also if the reconcile that is under way fails. One that
   * succeeds says itself when the next one is due.
   */
  readonly lookBy: (key: string, at: number) => void;
  /** Whether every watch is complete and has heard from the server lately. */
  readonly isFresh: () => boolean;
  /** The cache of one of the controller's own watches. */
  cacheOf<R>(watch: Watch<R>): ResourceCache<R>;
}
