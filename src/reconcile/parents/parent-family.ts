import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretAddress, SecretPublisher } from "../../publish/secret-publisher.ts";
import type { ManagedKind } from "../managed/managed-kind.ts";
import type { ChildPlan } from "./child-plan.ts";

/**
 * A managed kind whose keys are other resources: children that the parent makes, copies from and deletes by the same
 * protocol by which keys are made at an external system. Must not: decide or do anything.
 */
export interface ParentFamily {
  /** The controller's name. */
  readonly name: string;
  readonly kind: ManagedKind;
  /** How to watch the children; absent where the operator may not, and they are looked at from time to time. */
  readonly children?: WatchedChildren;
  /** Throws `SpecProblem`. */
  planOf(object: KubeObject, signal: AbortSignal): ChildPlan | Promise<ChildPlan>;
  /** With whose rights children and Secrets are read and written; absent: with the operator's own. */
  accessOf?(object: KubeObject): ParentAccess;
}

/** Children that are all of one kind. */
export interface WatchedChildren {
  readonly type: ResourceType;
  /** Where a child has its Secret, as it says itself. */
  secretOf(child: KubeObject): SecretAddress | undefined;
}

export interface ParentAccess {
  readonly kube: Kube;
  readonly publisher: SecretPublisher;
}
