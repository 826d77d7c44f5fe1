import type { Fault } from "../../audit/file-check.ts";
import type { ChainVerdict, Verdict } from "../../audit/verdict.ts";
import { oneLine } from "../../insight/words/one-line.ts";
import type { Paint } from "../print/paint.ts";
import { table } from "../print/table.ts";

/** What became of the audit log, for people: what is wrong first. */
export function verdictText(verdict: Verdict, paint: Paint): string {
  const { lines, chains, faults, notes, foreign, isSound } = verdict;
  const counts = `${lines} ${lines === 1 ? "line" : "lines"} of ${chains.length} ${chains.length === 1 ? "process" : "processes"}`;
  const head = isSound
    ? `Sound: ${counts}, all as they were written.`
    : paint.problem(`Not sound: ${counts}, and ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}.`);
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

/** `audit.log:17  missing: …` */
function faultLine({ kind, file, line, chain, words }: Fault): string {
  const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}  `;
  return `${place}${NAMES[kind]}: ${words}${chain === undefined ? "" : ` (chain ${chain})`}`;
}

const NAMES: Readonly<Record<Fault["kind"], string>> = {
  changed: "changed",
  missing: "missing",
  reordered: "reordered",
  repeated: "repeated",
  cutOff: "cut off",
  foreign: "not ours",
  unanchored: "not anchored",
  anchor: "anchors",
};

const COLUMNS = [
  { title: "CHAIN", text: ({ chain }: ChainVerdict) => chain },
  { title: "PROCESS", text: ({ instance }: ChainVerdict) => instance },
  { title: "LINES", text: ({ firstSequence, lastSequence }: ChainVerdict) => `${firstSequence}-${lastSequence}` },
  { title: "ANCHOR", text: ({ anchored }: ChainVerdict) => (anchored === undefined ? "-" : String(anchored)) },
  { title: "END", text: ({ isEnded }: ChainVerdict) => (isEnded ? "in order" : "-") },
];
