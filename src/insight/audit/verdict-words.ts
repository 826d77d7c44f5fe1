import type { Fault } from "../../audit/file-check.ts";
import type { Verdict } from "../../audit/verdict.ts";

/** Whether the audit log is as it was written, in one line. */
export function verdictHead({ lines, chains, faults, isSound }: Verdict): string {
  const counts = `${lines} ${lines === 1 ? "line" : "lines"} of ${chains.length} ${chains.length === 1 ? "process" : "processes"}`;
  if (isSound) return `Sound: ${counts}, all as they were written.`;
  return `Not sound: ${counts}, and ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}.`;
}

/** `audit.log:17  missing: …` */
export function faultLine({ kind, file, line, chain, words }: Fault): string {
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
