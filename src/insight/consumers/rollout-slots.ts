import { Forbidden, NotFound } from "../../kube/errors.ts";
import type { Kube } from "../../kube/port.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import { readRolloutCap } from "../../restart/pace.ts";
import { readState } from "../../restart/restart-state.ts";
import { rolloutOf } from "../../restart/rollout.ts";
import type { LiveWorkload } from "./neighbourhood.ts";

/**
 * Whether as many rollouts are under way in a namespace as there may be. The operator alone knows who has a slot, and how
 * many there are in the cluster: this is a hint.
 */
export async function isFull(kube: Kube, namespace: string, workloads: readonly LiveWorkload[]): Promise<boolean> {
  const rolling = workloads.filter(isRolling).length;
  if (rolling === 0) return false;
  const cap = await capOf(kube, namespace);
  return cap > 0 && rolling >= cap;
}

/** After a restart of ours, and not over. */
function isRolling({ kind, object, optIn }: LiveWorkload): boolean {
  if (!object || kind?.rolls !== "byItself" || optIn.by === undefined) return false;
  const { isComplete, isStuck } = rolloutOf(kind, object);
  return !isComplete && !isStuck && (readState(object)?.restartedAt.length ?? 0) > 0;
}

async function capOf(kube: Kube, name: string): Promise<number> {
  const { maxRolloutsPerNamespace } = DEFAULT_RESTART_SETTINGS;
  try {
    const { metadata } = await kube.get(namespaceType, { name }, { metadataOnly: true });
    return readRolloutCap(annotationsOf(metadata.annotations), maxRolloutsPerNamespace).cap;
  } catch (error) {
    if (error instanceof Forbidden || error instanceof NotFound) return maxRolloutsPerNamespace;
    throw error;
  }
}
