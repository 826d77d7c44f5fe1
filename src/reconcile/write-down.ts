import type { AuditEntry, AuditTrail } from "../audit/audit-entry.ts";
import type { KubeObject } from "../kube/objects.ts";

/** Where a controller writes down what it does. */
export interface Audit {
  readonly trail: AuditTrail;
  readonly controller: string;
}

/** One step, about one object, for the audit log; where there is none, nothing. */
export function writeDown(
  audit: Audit | undefined,
  { kind, metadata: { namespace, name, uid } }: KubeObject,
  step: Omit<AuditEntry, "controller" | "object">,
): void {
  const object = { kind, ...(namespace !== undefined && { namespace }), name, uid };
  audit?.trail.record({ controller: audit.controller, object, ...step });
}
