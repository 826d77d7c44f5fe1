import { formatInstant } from "../../base/instant.ts";
import type { Paint } from "../print/paint.ts";
import { type Column, table } from "../print/table.ts";
import { relative, shortLength } from "../print/when.ts";
import { nameOf } from "../resources/managed-resource.ts";
import type { RetiredReport, StatusReport } from "./status-report.ts";

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

/** The reports for people: problems in words, then the keys in columns. */
export function statusText(reports: readonly StatusReport[], options: StatusTextOptions): string {
  const rows = reports.flatMap((report) => [
    activeRow(report, options.now),
    ...report.retired.map((key) => retiredRow(report, key, options.now)),
  ]);
  return `${problemLines(reports, options)}${table(columns(reports, options), rows)}`;
}

function problemLines(reports: readonly StatusReport[], { now, paint }: StatusTextOptions): string {
  const troubled = reports.filter(({ problems }) => problems.length > 0);
  if (troubled.length === 0) return "";
  const head = `${troubled.length} of ${reports.length} ${troubled.length === 1 ? "has a problem" : "have problems"}:`;
  const lines = troubled.flatMap(({ resource, problems }) =>
    problems.map(({ reason, message, since }) => {
      const ago = since === undefined ? "" : ` (since ${shortLength(now - since)})`;
      return `  ${paint.problem(nameOf(resource))}  ${reason}: ${message}${ago}`;
    }),
  );
  return `${[head, ...lines].join("\n")}\n\n`;
}

function columns(reports: readonly StatusReport[], { now, isWide, paint }: StatusTextOptions): readonly Column<Row>[] {
  const hasNamespaces = reports.some(({ resource }) => resource.object.metadata.namespace !== undefined);
  const kinds = new Set(reports.map(({ resource }) => resource.kind.type.kind));
  const ofFirst = (row: Row, text: string): string => (row.name === "" ? "" : text);
  return [
    ...(kinds.size > 1
      ? [{ title: "KIND", text: (row: Row) => ofFirst(row, row.report.resource.kind.type.kind) }]
      : []),
    ...(hasNamespaces
      ? [{ title: "NAMESPACE", text: (row: Row) => ofFirst(row, row.report.resource.object.metadata.namespace ?? "") }]
      : []),
    { title: "NAME", text: (row) => row.name },
    { title: "STATE", text: (row) => row.state, paint: (text, row) => painted(paint, text, row) },
    { title: "KEY", text: (row) => row.key?.name ?? "-" },
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
  return report.resource.isFrozen || report.resource.isPaused ? paint.notice(text) : text;
}

function activeRow(report: StatusReport, now: number): Row {
  const { resource, phase, problems, active, rotationAt } = report;
  const held = [resource.isFrozen ? "frozen" : "", resource.isPaused ? "paused" : ""].filter((word) => word !== "");
  const { name } = resource.object.metadata;
  const isTroubled = problems.length > 0;
  const main = !isTroubled ? phase : phase === "Ready" ? "Problem" : `Problem, ${phase.toLowerCase()}`;
  const state = [main, ...held].join(", ");
  return { report, name, state, key: active, next: nextOf(report, now), nextAt: rotationAt };
}

function nextOf({ phase, pending, active, rotationAt, resource }: StatusReport, now: number): string {
  if (phase === "Deleting") return "deletion of all keys";
  if (resource.isPaused) return "nothing while paused";
  if (pending) return `${pending.name} is being made`;
  if (!active) return "first key";
  if (resource.isFrozen) return "no rotation while frozen";
  if (!Number.isFinite(rotationAt)) return "no rotation";
  return rotationAt > now ? `rotation ${relative(rotationAt, now)}` : "rotation now";
}

function retiredRow(report: StatusReport, key: RetiredReport, now: number): Row {
  const next = !Number.isFinite(key.goesAt)
    ? "deletion after its successor is published"
    : key.goesAt > now
      ? `deletion ${relative(key.goesAt, now)}`
      : "deletion now";
  return { report, name: "", state: `retired (${key.cause})`, key, next, nextAt: key.goesAt };
}
