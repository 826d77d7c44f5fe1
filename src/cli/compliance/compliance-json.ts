import { formatDuration } from "../../base/duration.ts";
import { formatInstant } from "../../base/instant.ts";
import { type ComplianceItem, type ComplianceReport, isInOrder } from "../../insight/compliance/compliance-report.ts";
import { summaryOf } from "../../insight/compliance/compliance-summary.ts";

/** The report for programs: dates as RFC 3339, lengths as specs have them. */
export const complianceJson = (report: ComplianceReport) => ({
  generatedAt: formatInstant(report.at),
  maxPeriod: lengthOf(report.maxPeriodMs),
  summary: summaryOf(report.items),
  credentials: report.items.map(itemJson),
  notLookedAt: report.unseen,
});

const itemJson = (item: ComplianceItem) => ({
  kind: item.kind,
  namespace: item.namespace,
  name: item.name,
  secret: item.secret,
  period: lengthOf(item.periodMs),
  activeKey: item.activeKey,
  lastRotationAt: dateOf(item.lastRotationAt),
  nextRotationAt: dateOf(item.nextRotationAt),
  dueAt: dateOf(item.dueAt),
  overdue: item.overdueMs > 0 ? lengthOf(item.overdueMs) : undefined,
  heldBackBy: item.heldBackBy,
  isInOrder: isInOrder(item),
  problems: item.problems.map(({ reason }) => reason),
  exceptions: item.exceptions,
  rotatedBy: item.parent,
});

const dateOf = (at: number | undefined): string | undefined =>
  at === undefined || !Number.isFinite(at) ? undefined : formatInstant(at);

const lengthOf = (ms: number | undefined): string | undefined =>
  ms === undefined || !Number.isFinite(ms) ? undefined : formatDuration(Math.floor(ms / 1000) * 1000);
