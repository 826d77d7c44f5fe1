import type { EvidenceItem } from "../../../src/dashboard/wire.ts";
import { shortLength } from "../../../src/insight/words/when.ts";
import { grouped, type StateWords } from "./words.ts";

/** In the order in which they are shown; each credential has one, and counts once: the figures are those of the table. */
export const VERDICTS = ["overdue", "problem", "overLimit", "excepted", "inOrder"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** A period that is longer than was asked for breaks the limit, and nobody has allowed it: it is no exception to be let be. */
function verdictOf({ isInOrder, overdueMs, problems, exceptions }: EvidenceItem): Verdict {
  if (isInOrder) return "inOrder";
  if (overdueMs > 0) return "overdue";
  if (problems.length > 0) return "problem";
  return exceptions.some(({ kind }) => kind === "PeriodTooLong") ? "overLimit" : "excepted";
}

export function verdictWords(item: EvidenceItem): StateWords {
  switch (verdictOf(item)) {
    case "overdue":
      return { word: `Overdue ${shortLength(item.overdueMs)}`, shape: "trouble", tone: "trouble" };
    case "problem":
      return { word: "Problem", shape: "trouble", tone: "trouble" };
    case "overLimit":
      return { word: "Over limit", shape: "trouble", tone: "trouble" };
    case "excepted":
      return { word: "Excepted", shape: "note", tone: "still" };
    case "inOrder":
      return { word: "In order", shape: "ok", tone: "calm" };
  }
}

const rank = (item: EvidenceItem): number => VERDICTS.indexOf(verdictOf(item));

export const worstFirst = (items: readonly EvidenceItem[]): readonly EvidenceItem[] =>
  [...items].sort((a, b) => rank(a) - rank(b) || (a.label < b.label ? -1 : 1));

export function verdictCounts(items: readonly EvidenceItem[]): Readonly<Record<Verdict, number>> {
  const counts = { overdue: 0, problem: 0, overLimit: 0, excepted: 0, inOrder: 0 };
  for (const item of items) counts[verdictOf(item)]++;
  return counts;
}

/** All that is said against a credential, line by line. */
export const objections = ({ problems, exceptions, heldBackBy }: EvidenceItem): readonly string[] => [
  ...problems.map(({ reason, words }) => (words === "" ? reason : `${reason}: ${words}`)),
  ...exceptions.map(({ kind, words }) => `${kind}: ${words}`),
  ...(heldBackBy === undefined ? [] : [`held back: ${heldBackBy}`]),
];

/** `Sound: 16204 lines of 2 processes, …` without the verdict, which the page shows by itself: `16,204 lines of …`. */
export const auditSentence = (head: string): string =>
  head
    .slice(head.indexOf(": ") + 1)
    .trim()
    .replace(/\d{4,}/g, (digits) => grouped(Number(digits)));
