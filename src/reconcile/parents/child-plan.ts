import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";

/**
 * What a parent makes its children from, and how it reads them: all in which one kind of parent differs from the next.
 * Pure. Must not: read or write anything.
 */
export interface ChildPlan {
  /** What the children are. */
  readonly type: ResourceType;
  /** Where they are: the parent's own namespace, or none. */
  readonly namespace: string | undefined;
  /**
   * What a child is made from beside its name: one that was made from something else is replaced. Absent: all that
   * `childOf` gives but the metadata.
   */
  readonly madeFrom?: unknown;
  /** The child under this name as a person would write it; who it belongs to is added by whoever makes it. */
  childOf(name: string): KubeObject;
  /**
   * Where the child of this name has its Secret; undefined where nothing is published. A child that is there already may
   * say so itself: what the parent asks for may have changed since it was made.
   */
  secretOf(name: string, child?: KubeObject): SecretAddress | undefined;
  /**
   * Whoever makes the Secrets says in an owner reference which child each belongs to: no other Secret counts, whatever a
   * child that somebody has edited points to.
   */
  readonly ownsSecrets?: boolean;
  /** How a child is, as it says of itself. */
  healthOf(child: KubeObject): ChildHealth;
  /**
   * What is to be said of a child that is well and cannot be copied from, such as one whose Secret is not there. Absent:
   * nothing, since whoever looks after the child will see to it.
   */
  complaintOf?(child: KubeObject, obstacle: string): string | undefined;
  /** When what the child stands for was made, where it says so: that may be long after the child itself was. */
  createdAt(child: KubeObject): number | undefined;
}

export type ChildHealth =
  /** What it publishes may be used. */
  | { readonly kind: "well" }
  /** It is being made, and nothing speaks against it. */
  | { readonly kind: "coming" }
  /** Something is wrong, since then: in its own words. */
  | {
      readonly kind: "ill";
      readonly since: number;
      readonly complaint: string;
      /** What is wrong is not with this child: another one would fare no better. */
      readonly isHindered?: boolean;
    };
