import type { HistoryEntry, State } from "./model.ts";

/**
 * What became of the last intents, the latest first. An entry comes into being with the very write that ends its intent: it
 * costs no write, and no crash loses or doubles it. Pure. Must not: be decided on; it goes with the status, and comes back
 * with it.
 */
export const MAX_HISTORY = 10;

type Ending = Pick<HistoryEntry, "keyId" | "endedAt" | "outcome">;

/** The history once the pending intent has ended like this. */
export function historyAfter({ history, pending }: State, ending: Ending): readonly HistoryEntry[] {
  if (!pending || isTold(history, ending)) return history;
  const { keyId, endedAt, outcome } = ending;
  const entry: HistoryEntry = { keyId, startedAt: pending.since, endedAt, reason: pending.reason, outcome };
  return [entry, ...history].slice(0, MAX_HISTORY);
}

/** A key becomes active once: one that is found again, since the count in the status was put back, is no other rotation. */
const isTold = (history: readonly HistoryEntry[], { keyId, outcome }: Ending): boolean =>
  outcome === "Succeeded" && history.some((entry) => entry.keyId === keyId && entry.outcome === outcome);
