import type { KubeObject } from "../../kube/objects.ts";
import { asObject, asText } from "../kinds/json-fields.ts";
import { conditionOf } from "./conditions.ts";

/** What a Pod is, as far as its controllers care. */
export const isPodEnding = (pod: KubeObject): boolean => pod.metadata.deletionTimestamp !== undefined;

export const phaseOf = (pod: KubeObject): string => asText(asObject(pod.status).phase);

export const isPodOver = (pod: KubeObject): boolean => phaseOf(pod) === "Succeeded" || phaseOf(pod) === "Failed";

export const isPodActive = (pod: KubeObject): boolean => !isPodEnding(pod) && !isPodOver(pod);

export const isPodReady = (pod: KubeObject): boolean => conditionOf(pod.status, "Ready")?.status === "True";

/** When a Pod became, or will become, available; undefined while it is not ready. */
function podAvailableAt(pod: KubeObject, minReadySeconds: number): number | undefined {
  const ready = conditionOf(pod.status, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY;
  return Date.parse(asText(ready.lastTransitionTime)) + minReadySeconds * 1000;
}

export const isPodAvailable = (pod: KubeObject, minReadySeconds: number, nowAt: number): boolean =>
  (podAvailableAt(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= nowAt;

/** How long until the next of these Pods becomes available by the mere passing of time. */
export function nextAvailableMs(
  pods: readonly KubeObject[],
  minReadySeconds: number,
  nowAt: number,
): number | undefined {
  const waits = pods
    .map((pod) => (podAvailableAt(pod, minReadySeconds) ?? Number.NEGATIVE_INFINITY) - nowAt)
    .filter((waitMs) => waitMs > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
