import { keyOf, type ObjectRef } from "../../kube/objects.ts";
import type { StatusReport } from "./status-report.ts";

/** A resource with those of the listed ones that are its keys; a child whose parent is not listed stands for itself. */
export interface Family {
  readonly report: StatusReport;
  readonly children: readonly StatusReport[];
}

/** Families in the order of their first members: where a child comes first, its parent comes first with it. */
export function familiesOf(reports: readonly StatusReport[]): readonly Family[] {
  const known = new Map(reports.map((report) => [ownId(report), report]));
  const families = new Map<StatusReport, StatusReport[]>();
  for (const report of reports) {
    const parent = report.parent && known.get(idOf(report.parent.kind.type.kind, report.parent));
    const head = parent ?? report;
    const children = families.get(head) ?? [];
    families.set(head, parent ? [...children, report] : children);
  }
  return [...families].map(([report, children]) => ({ report, children: inOrder(report, children) }));
}

const idOf = (kind: string, ref: ObjectRef): string => `${kind} ${keyOf(ref)}`;

const ownId = ({ resource: { kind, object } }: StatusReport): string => idOf(kind.type.kind, object.metadata);

export const uidOf = ({ resource }: StatusReport): string => resource.object.metadata.uid ?? "";

/** As the parent has them: the active one, the one to come, those that go, and what it says nothing of. */
function inOrder(parent: StatusReport, children: readonly StatusReport[]): readonly StatusReport[] {
  const order = [parent.active?.id, parent.pending?.id, ...parent.retired.map(({ id }) => id)];
  const place = (child: StatusReport): number => {
    const index = order.indexOf(uidOf(child));
    return index < 0 ? order.length : index;
  };
  return [...children].sort((a, b) => place(a) - place(b));
}
