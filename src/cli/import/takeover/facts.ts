import type { RetiredKey } from "../../../engine/model.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { OutsideKey } from "../../../providers/contract.ts";
import type { ManagedFamily } from "../../../reconcile/managed/family.ts";
import type { ManagedSpec } from "../../../reconcile/managed/managed-kind.ts";
import type { Differences } from "../differences.ts";

/** What was found out of a key that another operator has made, and of what it is published in: no value of either. */
export interface TakeoverFacts {
  readonly family: ManagedFamily;
  readonly clusterId: string;
  /** The resource that is to have the key; undefined until it is made. */
  readonly object: KubeObject | undefined;
  /** What it asks for, or is to ask for. */
  readonly spec: ManagedSpec;
  readonly keyId: string;
  readonly outside: OutsideSight;
  /** Those that live on beside it, the oldest first. */
  readonly retired: readonly RetiredSight[];
  readonly secret: SecretSight;
  readonly now: number;
}

export type OutsideSight =
  | { readonly kind: "unknown"; readonly problem: string }
  /** The key is undefined where the service says that there is none. */
  | { readonly kind: "seen"; readonly instanceId: string; readonly key: OutsideKey | undefined };

export interface RetiredSight {
  /** As the other operator knows it. */
  readonly entry: RetiredKey;
  /** Undefined: it is gone. */
  readonly key: OutsideKey | undefined;
}

export type SecretSight =
  /** The key is published nowhere. */
  | { readonly kind: "none" }
  /** Without a look outside nobody looks at it. */
  | { readonly kind: "unseen" }
  | { readonly kind: "missing" }
  | {
      readonly kind: "present";
      /** Without its data. */
      readonly secret: KubeObject;
      /** Whether all credentials of the key are in it; undefined where the service does not give them again. */
      readonly holdsKey: boolean | undefined;
      readonly differences: Differences;
      /** Why Keyturn could not publish these credentials as the resource asks for. */
      readonly problem?: string;
      /** It says that it holds this key of this resource, and its data is what it was then. */
      readonly marked?: { readonly keyId: string | undefined; readonly sequence: number | undefined };
    };
