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
  /** Called once, when the caches exist. */
  readonly createReconcile: (context: ControllerContext) => Reconcile;
}

export interface Watch {
  readonly type: ResourceType;
  readonly selection?: Selection;
  readonly metadataOnly?: boolean;
  /** What of an object is kept in the cache; as little as the reconcile needs. */
  readonly record: (object: KubeObject) => unknown;
  /** The keys that a change concerns. */
  readonly keysOf: (delta: Delta<unknown>) => readonly string[];
}

interface ControllerContext {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The cache of one of the controller's own watches. */
  readonly cacheOf: (watch: Watch) => ResourceCache<unknown>;
}
