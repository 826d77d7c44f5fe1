import type { JsonObject } from "../json.ts";
import { asObject, asObjects } from "../kinds/json-fields.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}

export function conditionOf(status: unknown, type: string): JsonObject | undefined {
  return asObjects(asObject(status).conditions).find((condition) => condition.type === type);
}

/**
 * The status with this condition set. The transition time moves only when the condition turns; one that says the same
 * already stays as it is, so that nothing is written. `updates` adds lastUpdateTime, as Deployments have it.
 */
export function withCondition(
  status: JsonObject,
  condition: Condition,
  { now, updates = false }: { readonly now: string; readonly updates?: boolean },
): JsonObject {
  const old = conditionOf(status, condition.type);
  const isSame = old?.status === condition.status && old.reason === condition.reason;
  if (isSame && (updates || old.message === condition.message)) return status;
  const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
  const next: JsonObject = { ...condition, ...(updates && { lastUpdateTime: now }), lastTransitionTime } as JsonObject;
  const others = asObjects(status.conditions);
  const conditions = old ? others.map((one) => (one === old ? next : one)) : [...others, next];
  return { ...status, conditions };
}
