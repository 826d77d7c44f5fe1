import { oneLine } from "../../insight/words/one-line.ts";
import type { Paint } from "../print/paint.ts";
import { counted, type Finding } from "./finding.ts";
import type { FindingGroup } from "./judge/judge.ts";

const TITLES: Readonly<Record<string, string>> = {
  server: "API server",
  clock: "Clock",
  definitions: "Definitions",
  rights: "Rights",
  admission: "Admission",
  operator: "Operator",
  configurations: "Provider configurations",
  neighbours: "Other operators",
  resources: "Resources",
};

const WIDTH = "problem".length;
const INDENT = " ".repeat(2 + WIDTH + 2);

/** The findings for people: a line each, below it what to do, and at the end what it comes to. */
export function checkText(groups: readonly FindingGroup[], paint: Paint): string {
  const sections = groups.map(({ name, findings }) => {
    const lines = findings.flatMap((finding) => linesOf(finding, paint));
    return [paint.heading(TITLES[name] ?? name), ...lines, ""].join("\n");
  });
  return `${sections.join("\n")}\n${summary(groups)}\n`;
}

function linesOf(finding: Finding, paint: Paint): readonly string[] {
  const { level, about, message } = finding;
  const colour = { ok: paint.faint, hint: paint.notice, problem: paint.problem }[level];
  const line = `  ${colour(level.padEnd(WIDTH))}  ${about}: ${oneLine(message)}`;
  return level === "ok" ? [line] : [line, `${INDENT}remedy: ${finding.remedy}`];
}

export const countOf = (groups: readonly FindingGroup[], level: Finding["level"]): number =>
  groups.flatMap(({ findings }) => findings).filter((finding) => finding.level === level).length;

function summary(groups: readonly FindingGroup[]): string {
  const [problems, hints] = [countOf(groups, "problem"), countOf(groups, "hint")];
  const said = hints === 0 ? "" : `, ${counted(hints, "hint")}`;
  return problems === 0 ? `No problems${said}.` : `${counted(problems, "problem")}${said}.`;
}

/** The same for programs. */
export const checkJson = (groups: readonly FindingGroup[]): unknown => ({
  findings: groups.flatMap(({ name: group, findings }) =>
    findings.map(({ level, about, message, ...rest }) => ({
      group,
      level,
      about,
      message,
      ...("remedy" in rest && { remedy: rest.remedy }),
    })),
  ),
  problems: countOf(groups, "problem"),
  hints: countOf(groups, "hint"),
});
