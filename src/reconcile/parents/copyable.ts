import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import { keyIdOf, type SecretAddress } from "../../publish/secret-publisher.ts";
import { ANNOTATIONS } from "../managed/managed-kind.ts";
import { isOwnedBy } from "./child-owner.ts";
import type { ChildPlan } from "./child-plan.ts";

export interface SeenSecret {
  /** Where it should be; undefined for a child that publishes nothing. */
  readonly address: SecretAddress | undefined;
  /** Undefined when there is none. */
  readonly metadata: ObjectMeta | undefined;
}

/**
 * What stands against using what a child publishes, in words; undefined when nothing does. The Secret must have been read
 * after the child. Pure.
 */
export function obstacleTo(plan: ChildPlan, child: KubeObject, { address, metadata }: SeenSecret): string | undefined {
  if (child.metadata.deletionTimestamp !== undefined) return "it is being deleted";
  const health = plan.healthOf(child);
  if (health.kind === "coming") return "it is not ready yet";
  if (health.kind === "ill") return health.complaint;
  if (!address) return undefined;
  const place = `its Secret ${address.namespace}/${address.name}`;
  if (!metadata) return `${place} is not there`;
  const { uid = "", annotations = {} } = child.metadata;
  if (plan.ownsSecrets && !isOwnedBy(metadata, { uid })) return `${place} belongs to somebody else`;
  const keyId = keyIdOf(metadata);
  if (keyId !== undefined && keyId !== annotations[ANNOTATIONS.externalName])
    return `${place} holds another key than it says`;
  return undefined;
}
