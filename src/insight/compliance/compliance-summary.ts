import { type ComplianceItem, isInOrder } from "./compliance-report.ts";

/** How many there are of one kind, and how they fare. */
export interface KindSummary {
  readonly kind: string;
  readonly credentials: number;
  readonly inOrder: number;
  readonly overdue: number;
  readonly withExceptions: number;
  readonly withProblems: number;
}

export function summaryOf(items: readonly ComplianceItem[]): readonly KindSummary[] {
  return [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, own]) => ({
    kind,
    credentials: own.length,
    inOrder: own.filter(isInOrder).length,
    overdue: own.filter(({ overdueMs }) => overdueMs > 0).length,
    withExceptions: own.filter(({ exceptions }) => exceptions.length > 0).length,
    withProblems: own.filter(({ problems }) => problems.length > 0).length,
  }));
}
