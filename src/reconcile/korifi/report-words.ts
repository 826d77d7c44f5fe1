import type { Finding } from "../../korifi/finding.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { recordOf, type UnknownRecord } from "../../kube/record.ts";
import type { ObjectReport, Trouble } from "../objects/object-status.ts";

/** What passes by itself once somebody else has done their part; of a service of a broker's nothing is to be done at all. */
const WAITS: ReadonlySet<string> = new Set(["InstanceMissing", "InstanceNotReady", "BindingNotReady", "Managed"]);

export const troublesOf = (findings: readonly Finding[]): readonly Trouble[] =>
  findings.map(({ reason, message }) => ({ reason, message, ...(WAITS.has(reason) && { isWait: true }) }));

/** What is given out stays given out, whatever keeps a newer one from being so. */
export function readyOf(isGivenOut: boolean, troubles: readonly Trouble[]): ObjectReport["ready"] {
  const [first] = troubles;
  if (first?.reason === "Managed") return { status: "Unknown", reason: first.reason, message: first.message };
  if (isGivenOut) return { status: "True", reason: "Available" };
  if (!first) return { status: "False", reason: "Creating" };
  return { status: "False", reason: first.reason, message: first.message };
}

/** The status as it is, without what is said anew. */
export function keptStatus({ status }: KubeObject): UnknownRecord {
  const { conditions: _, observedGeneration: __, ...fields } = recordOf(status);
  return fields;
}
