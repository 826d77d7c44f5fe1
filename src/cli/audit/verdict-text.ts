import type { ChainVerdict, Verdict } from "../../audit/verdict.ts";
import { faultLine, verdictHead } from "../../insight/audit/verdict-words.ts";
import { oneLine } from "../../insight/words/one-line.ts";
import type { Paint } from "../print/paint.ts";
import { table } from "../print/table.ts";

/** What became of the audit log, for people: what is wrong first. */
export function verdictText(verdict: Verdict, paint: Paint): string {
  const { chains, faults, notes, foreign, isSound } = verdict;
  const head = isSound ? verdictHead(verdict) : paint.problem(verdictHead(verdict));
  const others = foreign === 0 ? [] : [`Passed over: ${foreign} lines of others.`];
  const below = [
    ...section("Faults:", faults.map(faultLine).map(paint.problem)),
    ...section("Notes:", notes),
    ...(chains.length > 0 ? ["", table(COLUMNS, chains).trimEnd()] : []),
  ];
  return `${[head, ...others, ...below].join("\n")}\n`;
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${oneLine(line)}`)];

const COLUMNS = [
  { title: "CHAIN", text: ({ chain }: ChainVerdict) => chain },
  { title: "PROCESS", text: ({ instance }: ChainVerdict) => instance },
  { title: "LINES", text: ({ firstSequence, lastSequence }: ChainVerdict) => `${firstSequence}-${lastSequence}` },
  { title: "ANCHOR", text: ({ anchored }: ChainVerdict) => (anchored === undefined ? "-" : String(anchored)) },
  { title: "END", text: ({ isEnded }: ChainVerdict) => (isEnded ? "in order" : "-") },
];
