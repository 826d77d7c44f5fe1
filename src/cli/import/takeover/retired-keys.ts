import type { Policy, RetiredKey } from "../../../engine/model.ts";
import type { RetiredSight } from "./facts.ts";

/**
 * Keys that another operator has rotated away, in our words: none of them lives shorter for being taken over. Pure.
 */
export function retiredKeys(sights: readonly RetiredSight[], policy: Policy, now: number): readonly RetiredKey[] {
  return sights.flatMap(({ entry, key }) => {
    if (!key) return [];
    // Others write down less than we do: what is not known is taken as it is best for who uses the key.
    const isUndated = policy.ttlMs === undefined && entry.deletionAt <= now;
    const overlapMs = isUndated ? policy.forcedOverlapMs : entry.overlapMs;
    const replacedAt = isUndated ? now : (entry.replacedAt ?? now);
    return [
      {
        id: entry.id,
        name: key.name,
        createdAt: key.createdAt ?? entry.createdAt,
        retiredAt: entry.retiredAt,
        replacedAt,
        overlapMs,
        deletionAt: Math.max(entry.deletionAt, replacedAt + overlapMs),
        cause: "rotated" as const,
      },
    ];
  });
}

/** The oldest first: in this order they were intended. */
export const inOrder = (sights: readonly RetiredSight[]): readonly RetiredSight[] =>
  [...sights].sort((a, b) => a.entry.createdAt - b.entry.createdAt || (a.entry.id < b.entry.id ? -1 : 1));
