import type { Json } from "../../json.ts";

/** Pairs, triples … of items that nested loops may look at in one expression. */
const MAX_STEPS = 30_000_000;

/** Whether loops nested this deep over all there is in a value would take too long. */
export const isTooExpensive = (loopDepth: number, value: Json): boolean =>
  loopDepth > 1 && weigh(value) ** loopDepth > MAX_STEPS;

/** How many values there are, up to what matters. */
export function weigh(value: Json): number {
  let count = 0;
  const pending: Json[] = [value];
  for (let next = pending.pop(); next !== undefined && count < MAX_STEPS; next = pending.pop()) {
    count++;
    if (typeof next !== "object" || next === null) continue;
    for (const item of Array.isArray(next) ? next : Object.values(next)) pending.push(item);
  }
  return count;
}
