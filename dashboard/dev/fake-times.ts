import type { Interval, KeyBar, Row, WindowBar } from "../../src/dashboard/wire.ts";

/** What surrounds the keys of the made-up world: those that were there before, and windows. Pure. */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

/** As an audit log of a year would tell of them: all before the oldest that the row still has. */
export function goneKeys(
  { id, name, keys, frequencyMs = 0, ttlMs = frequencyMs }: Row,
  now: number,
): readonly KeyBar[] {
  if (frequencyMs < DAY_MS || keys.length === 0) return [];
  const bars: KeyBar[] = [];
  const oldest = Math.min(...keys.map(({ createdAt }) => createdAt));
  for (let createdAt = oldest - frequencyMs; createdAt > now - YEAR_MS; createdAt -= frequencyMs) {
    const number = bars.length + 1;
    const dates = { createdAt, replacedAt: createdAt + frequencyMs, deletedAt: createdAt + ttlMs };
    bars.push({ id: `gone-${id}-${number}`, name: `${name}-gone${number}`, state: "deleted", ...dates });
  }
  return bars;
}

/** From ten at night to four, UTC. */
export function nights(sight: Interval): readonly WindowBar[] {
  if (sight.until - sight.from > 400 * DAY_MS) return [{ ...sight, isMany: true }];
  const first = Math.floor(sight.from / DAY_MS) * DAY_MS - DAY_MS + 22 * HOUR_MS;
  const bars: WindowBar[] = [];
  for (let from = first; from < sight.until; from += DAY_MS) bars.push({ from, until: from + 6 * HOUR_MS });
  return bars;
}
