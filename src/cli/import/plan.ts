import { ownName } from "../../base/own-names.ts";
import type { KubeObject, ObjectMeta, ObjectRef, ResourceType } from "../../kube/objects.ts";
import type { Marks } from "../../providers/contract.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";

/**
 * What it takes to have something of another operator's looked after by Keyturn, as a value: made from facts alone, without
 * a key or a value of a Secret in it. A plan is made anew after each step, from what is there then. So whatever ends in
 * between, the next call goes on from there.
 */
export interface Plan {
  readonly steps: readonly Step[];
  /** While there is one, nothing is done. */
  readonly refusals: readonly Refusal[];
  /** What somebody should know, and nothing waits for. */
  readonly hints: readonly string[];
}

export interface Refusal {
  readonly problem: string;
  readonly remedy: string;
}

export interface Step {
  /** What is done, in words. */
  readonly does: string;
  /** Why it is safe, or needed at this place. */
  readonly why: string;
  /** Absent where it depends on what earlier steps bring about. */
  readonly action?: Action;
}

/** One write, which fails where what it was decided on has changed. */
export type Action =
  /** The key of the operator's fingerprints. */
  | { readonly kind: "identity" }
  | { readonly kind: "create"; readonly type: ResourceType; readonly object: KubeObject }
  /** A merge patch of exactly the version that was seen. */
  | { readonly kind: "patch"; readonly type: ResourceType; readonly seen: Seen; readonly body: PatchBody }
  /** The status as a whole. */
  | { readonly kind: "status"; readonly type: ResourceType; readonly object: KubeObject }
  | { readonly kind: "delete"; readonly type: ResourceType; readonly seen: Seen }
  /** Marks on a key outside: nothing else of it changes. */
  | { readonly kind: "mark"; readonly providerConfig: string; readonly keyId: string; readonly marks: Marks }
  | { readonly kind: "publish"; readonly publication: MarkedPublication };

/** Tells a Secret whose key it holds; its data stays what it is. */
export interface MarkedPublication {
  readonly kind: ManagedKind;
  readonly address: SecretAddress;
  /** The resource that it belongs to from now on. */
  readonly owner: KubeObject;
  readonly keyId: string;
  readonly sequence: number;
  readonly layout: string;
}

export type Seen = ObjectRef & Pick<ObjectMeta, "uid" | "resourceVersion">;

interface PatchBody {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export const NOTHING_TO_DO: Plan = { steps: [], refusals: [], hints: [] };

export const refusal = (problem: string, remedy: string): Refusal => ({ problem, remedy });

export const seenOf = ({ metadata }: KubeObject): Seen => {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
};

/** Plans that stand beside each other as one. */
export const together = (...plans: readonly Plan[]): Plan => ({
  steps: plans.flatMap(({ steps }) => steps),
  refusals: plans.flatMap(({ refusals }) => refusals),
  hints: plans.flatMap(({ hints }) => hints),
});

/** On a resource that is half taken over: it is paused until all is in place. */
export const IMPORTING = ownName("importing");
