import type { KubeObject, ResourceType } from "../kube/objects.ts";

/**
 * Somebody who wants to see what controllers watch anyway, whoever leads. It is shown each object as it passes and keeps what
 * it makes of it; no second watch runs for it, and nothing is kept of the object. Must not: keep the object, or do anything
 * that others would have to wait for.
 */
export interface Onlooker<V = unknown> {
  readonly type: ResourceType;
  /** What it makes of an object; what it throws is logged, and the object is passed over. */
  glance(object: KubeObject): V;
  /** The object under this key is now as it was glanced at. */
  saw(key: string, view: V): void;
  lost(key: string): void;
}

/** How an operator fares, for whoever looks at it. */
export interface OperatorLook {
  /** Undefined: nobody leads, or nobody knows. */
  readonly leader: { readonly identity: string; readonly isThis: boolean } | undefined;
  readonly watches: readonly { readonly kind: string; readonly isReady: boolean; readonly words: string }[];
  readonly queues: readonly { readonly controller: string; readonly waiting: number; readonly working: number }[];
}
