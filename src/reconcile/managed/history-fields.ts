import { formatInstant, parseInstant } from "../../base/instant.ts";
import {
  type HistoryEntry,
  REASONS,
  type Reason,
  ROTATION_OUTCOMES,
  type RotationOutcome,
} from "../../engine/model.ts";
import { MAX_HISTORY } from "../../engine/rotation-history.ts";
import { type Fields, itemsOf, textOf } from "./read-fields.ts";

const wordIn =
  <W extends string>(words: readonly W[]) =>
  (value: unknown): W | undefined =>
    words.find((word) => word === value);

/** A word of the engine; anything else was put there by somebody. */
export const readReason: (value: unknown) => Reason | undefined = wordIn(REASONS);
const readOutcome: (value: unknown) => RotationOutcome | undefined = wordIn(ROTATION_OUTCOMES);

/** `status.history`, the same for every kind. An entry that somebody has damaged is left out: nothing follows from it. */
export const readHistory = (value: unknown): readonly HistoryEntry[] =>
  itemsOf(value).flatMap(readEntry).slice(0, MAX_HISTORY);

function readEntry(fields: Fields): readonly HistoryEntry[] {
  const [keyId, outcome] = [textOf(fields.keyId), readOutcome(fields.outcome)];
  const [startedAt, endedAt] = [parseInstant(fields.startedAt), parseInstant(fields.endedAt)];
  if (keyId === undefined || outcome === undefined || startedAt === undefined || endedAt === undefined) return [];
  return [{ keyId, startedAt, endedAt, reason: readReason(fields.reason), outcome }];
}

/** Absent where there is none yet. */
export const historyFields = (history: readonly HistoryEntry[]): readonly Fields[] | undefined =>
  history.length > 0 ? history.map(entryFields) : undefined;

export const entryFields = ({ keyId, reason, startedAt, endedAt, outcome }: HistoryEntry): Fields => ({
  keyId,
  reason,
  startedAt: formatInstant(startedAt),
  endedAt: formatInstant(endedAt),
  outcome,
});
