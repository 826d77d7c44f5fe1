import { formatInstant } from "../base/instant.ts";

/**
 * Conditions: what is known of a resource, in words that stay the same as long as nothing changes. Pure. Must not: put
 * anything in a message that differs from one reconcile to the next, or key material.
 */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message?: string;
}

export interface StoredCondition extends Condition {
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/**
 * The conditions as they are to be stored: times move only when a status does; of the types in `ours` only the wanted ones
 * are there, all others are left alone.
 */
export function mergeConditions(
  stored: readonly StoredCondition[],
  wanted: readonly Condition[],
  options: { readonly nowAt: number; readonly generation: number | undefined; readonly ours: readonly string[] },
): readonly StoredCondition[] {
  const { nowAt, generation, ours } = options;
  const merged = wanted.map((condition): StoredCondition => {
    const before = stored.find(({ type }) => type === condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : formatInstant(nowAt);
    return { ...condition, lastTransitionTime, ...(generation !== undefined && { observedGeneration: generation }) };
  });
  const known = new Set([...ours, ...wanted.map(({ type }) => type)]);
  return [...merged, ...stored.filter(({ type }) => !known.has(type))];
}
