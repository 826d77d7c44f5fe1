import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asNumber, asObject, asText } from "../kinds/json-fields.ts";
import { type Condition, conditionOf, withCondition } from "./conditions.ts";
import { replicasOf } from "./deployment-sets.ts";
import { budgetOf } from "./rollout-math.ts";

interface DeploymentView {
  readonly deployment: KubeObject;
  readonly current: KubeObject | undefined;
  readonly sets: readonly KubeObject[];
  readonly nowAt: number;
}

/** How far a Deployment is, in the words `kubectl rollout status` reads. Pure. */
export function deploymentStatus(view: DeploymentView): JsonObject {
  const { deployment, current, sets, nowAt } = view;
  const old = asObject(deployment.status);
  const sum = (field: string, of: readonly KubeObject[] = sets): number =>
    of.reduce((total, set) => total + asNumber(asObject(set.status)[field]), 0);
  const counts: Record<string, number> = {
    replicas: sum("replicas"),
    updatedReplicas: sum("replicas", current ? [current] : []),
    readyReplicas: sum("readyReplicas"),
    availableReplicas: sum("availableReplicas"),
  };
  const wanted = sets.reduce((total, set) => total + replicasOf(set), 0);
  counts.unavailableReplicas = Math.max(0, wanted - (counts.availableReplicas ?? 0));
  const shown = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  const base: JsonObject = {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...shown,
    terminatingReplicas: sum("terminatingReplicas"),
    ...(old.collisionCount !== undefined && { collisionCount: old.collisionCount }),
    conditions: old.conditions ?? [],
  };
  const now = new Date(nowAt).toISOString().replace(/\.\d{3}Z$/, "Z");
  const available = withCondition(base, availability(deployment, base), { now, updates: true });
  return withProgress({ ...view, status: available, now });
}

function availability(deployment: KubeObject, status: JsonObject): Condition {
  const { replicas, maxUnavailable } = budgetOf(deployment);
  const isAvailable = asNumber(status.availableReplicas) >= replicas - maxUnavailable;
  return {
    type: "Available",
    status: isAvailable ? "True" : "False",
    reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
    message: isAvailable ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
  };
}

export function isComplete(deployment: KubeObject, status: JsonObject): boolean {
  const wanted = replicasOf(deployment);
  const count = (field: string): number => asNumber(status[field]);
  return (
    count("updatedReplicas") === wanted &&
    count("replicas") === wanted &&
    count("availableReplicas") === wanted &&
    count("observedGeneration") >= (deployment.metadata.generation ?? 0)
  );
}

function withProgress(view: DeploymentView & { readonly status: JsonObject; readonly now: string }): JsonObject {
  const { deployment, current, status, now, nowAt } = view;
  const condition = conditionOf(status, "Progressing");
  const reason = asText(condition?.reason);
  const old = asObject(deployment.status);
  // Complete once, complete until something new starts: without this a lost Pod would look like a rollout.
  const isSettled = asNumber(old.replicas) === asNumber(old.updatedReplicas) && reason === "NewReplicaSetAvailable";
  if (isSettled || asObject(deployment.spec).paused === true) return status;
  const name = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const set = (holds: boolean, why: string, message: string): JsonObject => {
    const next = { type: "Progressing", status: holds ? "True" : "False", reason: why, message } as const;
    return withCondition(status, next, { now, updates: true });
  };
  if (isComplete(deployment, status))
    return set(true, "NewReplicaSetAvailable", `${name} has successfully progressed.`);
  if (hasProgressed(status, old)) return progressed(status, `${name} is progressing.`, now);
  const remainingMs = remainingUntilDeadline(deployment, status, nowAt);
  const isLate = remainingMs !== undefined && remainingMs <= 0;
  return isLate ? set(false, "ProgressDeadlineExceeded", `${name} has timed out progressing.`) : status;
}

function hasProgressed(status: JsonObject, old: JsonObject): boolean {
  const count = (of: JsonObject, field: string): number => asNumber(of[field]);
  const oldOnes = (of: JsonObject): number => count(of, "replicas") - count(of, "updatedReplicas");
  return (
    count(status, "updatedReplicas") > count(old, "updatedReplicas") ||
    oldOnes(status) < oldOnes(old) ||
    count(status, "readyReplicas") > count(old, "readyReplicas") ||
    count(status, "availableReplicas") > count(old, "availableReplicas")
  );
}

/** Progress renews the deadline even where the condition reads as before. */
function progressed(status: JsonObject, message: string, now: string): JsonObject {
  const old = conditionOf(status, "Progressing");
  const others = { ...status, conditions: asConditions(status).filter(({ type }) => type !== "Progressing") };
  const lastTransitionTime = old?.status === "True" ? asText(old.lastTransitionTime) || now : now;
  const next = {
    type: "Progressing",
    status: "True",
    reason: "ReplicaSetUpdated",
    message,
    lastUpdateTime: now,
    lastTransitionTime,
  };
  return { ...others, conditions: [...others.conditions, next] };
}

const asConditions = (status: JsonObject): readonly JsonObject[] =>
  Array.isArray(status.conditions) ? status.conditions.map(asObject) : [];

function remainingUntilDeadline(deployment: KubeObject, status: JsonObject, nowAt: number): number | undefined {
  const { progressDeadlineSeconds: seconds, paused } = asObject(deployment.spec);
  const condition = conditionOf(status, "Progressing");
  if (typeof seconds !== "number" || seconds >= 2 ** 31 - 1 || paused === true || !condition) return undefined;
  if (condition.reason === "NewReplicaSetAvailable" || condition.reason === "ProgressDeadlineExceeded")
    return undefined;
  return Date.parse(asText(condition.lastUpdateTime)) + seconds * 1000 - nowAt;
}

/** When to look again although nothing may happen: the moment the deadline passes. */
export function progressDeadlineMs(deployment: KubeObject, nowAt: number): number | undefined {
  const remainingMs = remainingUntilDeadline(deployment, asObject(deployment.status), nowAt);
  return remainingMs === undefined ? undefined : Math.max(1, remainingMs);
}
