import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { SourceId } from "../../restart/model.ts";
import { podType } from "../../restart/workload-kinds.ts";
import { fieldsOf } from "../managed/read-fields.ts";
import type { Workload } from "./restart-caches.ts";
import type { RestartReporter } from "./restart-reporter.ts";

export interface BarePodsOptions {
  readonly kube: Kube;
  readonly reporter: RestartReporter;
}

/**
 * What is done to a pod that stands alone when what it uses has changed: with `restartOnChange: delete` it is deleted, this
 * very pod in this very state; with `true` it is said that nobody would make it again. Returns whether it was deleted.
 */
export async function restartBarePod(
  { metadata, record }: Workload,
  changed: readonly SourceId[],
  { kube, reporter }: BarePodsOptions,
  signal: AbortSignal,
): Promise<boolean> {
  if (!record.optIn.isDelete) {
    reporter.nobodyMakesItAgain({ type: podType, metadata }, changed, signal);
    return false;
  }
  const { namespace = "", name, uid = "", resourceVersion = "" } = metadata;
  const pod = await kube.get(podType, { namespace, name }, { signal });
  // One that is over runs on nothing, and may be wanted for its logs.
  if (isOver(pod)) return false;
  await kube.delete(podType, { namespace, name }, { uid, resourceVersion, signal });
  return true;
}

/** Its containers have ended, and none starts again. */
export const isOver = ({ status }: KubeObject): boolean =>
  ["Succeeded", "Failed"].includes(String(fieldsOf(status).phase));
