import { formatInstant } from "../../base/instant.ts";
import { nameOf } from "../../insight/resources/managed-resource.ts";
import { deletionWords } from "../../insight/status/deletion-words.ts";
import { type Family, familiesOf, uidOf } from "../../insight/status/families.ts";
import type { RetiredReport, StatusReport } from "../../insight/status/status-report.ts";
import { oneLine } from "../../insight/words/one-line.ts";
import { relative, shortLength } from "../../insight/words/when.ts";
import { cut } from "../print/cut.ts";
import type { Paint } from "../print/paint.ts";
import { type Column, table } from "../print/table.ts";
import { consumerLines } from "./consumer-lines.ts";

export interface StatusTextOptions {
  readonly now: number;
  readonly isWide: boolean;
  readonly paint: Paint;
}

/** A line of the table: a key, and what happens to it next. */
interface Row {
  readonly report: StatusReport;
  /** Empty on the lines of retired keys. */
  readonly name: string;
  readonly state: string;
  readonly key: { readonly id: string; readonly name: string; readonly createdAt: number } | undefined;
  readonly next: string;
  readonly nextAt: number;
}

/** Names in the table are as long as most are; `-o wide` and `-o json` have them whole. */
const MAX_NAME = 48;
/** A name in a text that nobody reads to its end; what stands around it stays. */
const LONG_WORD = /[a-z0-9][a-z0-9.-]{64,}/g;

/** The reports for people: problems in words, then the keys in columns. */
export function statusText(reports: readonly StatusReport[], options: StatusTextOptions): string {
  const rows = familiesOf(reports).flatMap((family) => familyRows(family, options));
  const below = `${consumerSection(reports, options)}${warningLines(reports, options)}`;
  return `${problemLines(reports, options)}${table(columns(reports, options), rows)}${below}`;
}

function consumerSection(reports: readonly StatusReport[], { isWide }: StatusTextOptions): string {
  const lines = consumerLines(reports, isWide);
  return lines.length === 0 ? "" : `\n${["Consumers:", ...lines].join("\n")}\n`;
}

/** A child that is listed itself says what becomes of it: its parent does not say it again. */
function familyRows({ report, children }: Family, { now, isWide }: StatusTextOptions): readonly Row[] {
  const listed = new Set(children.map(uidOf));
  const own = [
    ...(isWide ? pendingRows(report) : []),
    ...report.retired.map((key) => retiredRow(report, key, now)),
  ].filter(({ key }) => !listed.has(key?.id ?? ""));
  const ofChildren = children.flatMap((child) => [
    childRow(child, report, now),
    ...child.retired.map((key) => retiredRow(child, key, now)),
  ]);
  return [activeRow(report, now), ...ofChildren, ...own];
}

/** One line in a list: what is too long for the table is cut here as well. */
function listLine(label: string, text: string, { isWide, paint }: StatusTextOptions, isProblem: boolean): string {
  const fitting = (words: string): string => (isWide ? words : words.replace(LONG_WORD, (word) => cut(word, MAX_NAME)));
  const name = fitting(label);
  return `  ${isProblem ? paint.problem(name) : paint.notice(name)}  ${fitting(oneLine(text))}`;
}

/** What the table marks as `warning`, in words. */
function warningLines(reports: readonly StatusReport[], options: StatusTextOptions): string {
  const lines = reports.flatMap(({ resource, warnings }) =>
    warnings.map((warning) => listLine(nameOf(resource), warning, options, false)),
  );
  return lines.length === 0 ? "" : `\n${["Warnings:", ...lines].join("\n")}\n`;
}

function problemLines(reports: readonly StatusReport[], options: StatusTextOptions): string {
  const troubled = reports.filter(({ problems }) => problems.length > 0);
  if (troubled.length === 0) return "";
  const head = `${troubled.length} of ${reports.length} ${troubled.length === 1 ? "has a problem" : "have problems"}:`;
  const lines = troubled.flatMap(({ resource, problems }) =>
    problems.map(({ reason, message, since }) => {
      const ago = since === undefined ? "" : ` (since ${shortLength(options.now - since)})`;
      return `${listLine(nameOf(resource), `${reason}: ${message}`, options, true)}${ago}`;
    }),
  );
  return `${[head, ...lines].join("\n")}\n\n`;
}

function columns(reports: readonly StatusReport[], { now, isWide, paint }: StatusTextOptions): readonly Column<Row>[] {
  const hasNamespaces = reports.some(({ resource }) => resource.object.metadata.namespace !== undefined);
  const kinds = new Set(reports.map(({ resource }) => resource.kind.type.kind));
  const fitting = (text: string): string => (isWide ? text : cut(text, MAX_NAME));
  const ofFirst = (row: Row, text: string): string => (row.name === "" ? "" : text);
  return [
    ...(kinds.size > 1
      ? [{ title: "KIND", text: (row: Row) => ofFirst(row, row.report.resource.kind.type.kind) }]
      : []),
    ...(hasNamespaces
      ? [{ title: "NAMESPACE", text: (row: Row) => ofFirst(row, row.report.resource.object.metadata.namespace ?? "") }]
      : []),
    { title: "NAME", text: (row) => fitting(row.name) },
    { title: "STATE", text: (row) => row.state, paint: (text, row) => painted(paint, text, row) },
    { title: "KEY", text: (row) => fitting(row.key?.name ?? "-") },
    ...(isWide && reports.some(({ childKind }) => childKind !== undefined)
      ? [{ title: "CHILD", text: (row: Row) => row.report.childKind ?? "-" }]
      : []),
    ...(isWide ? [{ title: "ID", text: (row: Row) => row.key?.id ?? "-" }] : []),
    { title: "AGE", text: (row) => (row.key ? shortLength(now - row.key.createdAt) : "-") },
    ...(isWide ? [{ title: "CREATED", text: (row: Row) => (row.key ? formatInstant(row.key.createdAt) : "-") }] : []),
    { title: "NEXT", text: (row) => row.next },
    ...(isWide
      ? [
          { title: "AT", text: (row: Row) => (Number.isFinite(row.nextAt) ? formatInstant(row.nextAt) : "-") },
          { title: "SECRET", text: (row: Row) => ofFirst(row, row.report.secret ?? "-") },
        ]
      : []),
  ];
}

function painted(paint: Paint, text: string, { report, name }: Row): string {
  if (name === "") return paint.faint(text);
  if (report.problems.length > 0) return paint.problem(text);
  const isNotable = report.resource.isFrozen || report.resource.isPaused || report.warnings.length > 0;
  return isNotable ? paint.notice(text) : text;
}

function activeRow(report: StatusReport, now: number): Row {
  const { resource, phase, problems, warnings, active, rotationAt } = report;
  const held = [
    ...(resource.isFrozen ? ["frozen"] : []),
    ...(resource.isPaused ? ["paused"] : []),
    ...(warnings.length > 0 ? ["warning"] : []),
  ];
  const { name } = resource.object.metadata;
  const isTroubled = problems.length > 0;
  const main = !isTroubled ? phase : phase === "Ready" ? "Problem" : `Problem, ${phase.toLowerCase()}`;
  const state = [main, ...held].join(", ");
  return { report, name, state, key: active, next: nextOf(report, now), nextAt: rotationAt };
}

/** Indented, with what it is to its parent. What it does itself just now comes first. */
function childRow(report: StatusReport, parent: StatusReport, now: number): Row {
  const row = activeRow(report, now);
  const name = `  ${row.name}`;
  const uid = uidOf(report);
  const retired = parent.retired.find(({ id }) => id === uid);
  if (retired) {
    const { state, next, nextAt } = retiredRow(parent, retired, now);
    return { ...row, name, state: `${row.state}, ${state}`, next, nextAt };
  }
  if (report.phase !== "Ready" || report.resource.isPaused) return { ...row, name };
  if (parent.active?.id === uid) return { ...row, name, next: "in use" };
  return parent.pending?.id === uid ? { ...row, name, next: TAKES_OVER } : { ...row, name };
}

const TAKES_OVER = "it takes over when it is ready";

/** A child that is being made can be looked at itself. */
function pendingRows(report: StatusReport): readonly Row[] {
  const { pending, childKind } = report;
  if (pending?.id === undefined || childKind === undefined) return [];
  const key = { id: pending.id, name: pending.name, createdAt: pending.since };
  return [{ report, name: "", state: "pending", key, next: TAKES_OVER, nextAt: Infinity }];
}

function nextOf({ phase, pending, active, rotationAt, resource }: StatusReport, now: number): string {
  if (phase === "Deleting") return "deletion of all keys";
  if (resource.isPaused) return "nothing while paused";
  if (pending) return `${cut(pending.name, MAX_NAME)} is being made`;
  if (!active) return "first key";
  if (resource.isFrozen) return "no rotation while frozen";
  if (!Number.isFinite(rotationAt)) return "no rotation";
  return rotationAt > now ? `rotation ${relative(rotationAt, now)}` : "rotation now";
}

const retiredRow = (report: StatusReport, key: RetiredReport, now: number): Row => ({
  report,
  name: "",
  state: `retired (${key.cause})`,
  key,
  next: deletionWords(key, now),
  nextAt: key.goesAt,
});
