import { formatInstant } from "../../base/instant.ts";
import type { ComplianceItem, ComplianceReport } from "../../insight/compliance/compliance-report.ts";
import { summaryOf } from "../../insight/compliance/compliance-summary.ts";
import { oneLine } from "../../insight/words/one-line.ts";
import { shortLength } from "../../insight/words/when.ts";

/** The report for people and their auditors. It says what is, and claims nothing. */
export function complianceMarkdown(report: ComplianceReport): string {
  const { at, items, unseen, maxPeriodMs } = report;
  const overdue = items.filter(({ overdueMs }) => overdueMs > 0);
  const exceptional = items.filter(({ exceptions }) => exceptions.length > 0);
  const troubled = items.filter(({ problems }) => problems.length > 0);
  const limit = Number.isFinite(maxPeriodMs) ? ` Periods over ${shortLength(maxPeriodMs)} are exceptions.` : "";
  return [
    "# Rotated credentials",
    "",
    `As of ${formatInstant(at)}: ${items.length} ${items.length === 1 ? "credential" : "credentials"}.${limit} Read from the cluster; a date is what the operator has written down, and keys are named and never shown.`,
    "",
    ...section("Summary", SUMMARY_HEAD, summaryOf(items).map(summaryRow)),
    ...section("Inventory", INVENTORY_HEAD, items.map(inventoryRow)),
    ...section("Overdue", ["Credential", "Late by", "Due at", "Held back by"], overdue.map(overdueRow)),
    ...section("Exceptions", ["Credential", "Exception", "Why"], exceptional.flatMap(exceptionRows)),
    ...section("Problems", ["Credential", "Problems"], troubled.map(problemRow)),
    ...(unseen.length === 0
      ? []
      : section(
          "Not looked at",
          ["What", "Why"],
          unseen.map(({ what, why }) => [what, why]),
        )),
  ].join("\n");
}

const SUMMARY_HEAD = ["Kind", "Credentials", "In order", "Overdue", "With exceptions", "With problems"];
const INVENTORY_HEAD = ["Credential", "Secret", "Period", "Key", "Last rotation", "Next rotation"];

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [`## ${title}`, "", "None.", ""];
  return [`## ${title}`, "", line(head), line(head.map(() => "---")), ...rows.map(line), ""];
}

/** What stands in a cell must not end it. */
const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => oneLine(cell).replaceAll("|", "\\|")).join(" | ")} |`;

const summaryRow = (summary: ReturnType<typeof summaryOf>[number]): readonly string[] => [
  summary.kind,
  ...[summary.credentials, summary.inOrder, summary.overdue, summary.withExceptions, summary.withProblems].map(String),
];

const inventoryRow = (item: ComplianceItem): readonly string[] => [
  item.label,
  item.secret ?? "-",
  periodOf(item),
  item.activeKey ? `${item.activeKey.name} (${item.activeKey.id})` : "-",
  dateOf(item.lastRotationAt),
  dateOf(item.nextRotationAt),
];

const overdueRow = ({ label, overdueMs, dueAt, heldBackBy }: ComplianceItem): readonly string[] => [
  label,
  shortLength(overdueMs),
  dateOf(dueAt),
  heldBackBy ?? "nothing",
];

const exceptionRows = ({ label, exceptions }: ComplianceItem): readonly (readonly string[])[] =>
  exceptions.map(({ kind, words }) => [label, kind, words]);

const problemRow = ({ label, problems }: ComplianceItem): readonly string[] => [
  label,
  problems.map(({ reason }) => reason).join(", "),
];

function periodOf({ periodMs, parent }: ComplianceItem): string {
  if (periodMs === undefined) return "-";
  if (Number.isFinite(periodMs)) return shortLength(periodMs);
  return parent === undefined ? "none" : `by ${parent}`;
}

const dateOf = (at: number | undefined): string => (at === undefined || !Number.isFinite(at) ? "-" : formatInstant(at));
