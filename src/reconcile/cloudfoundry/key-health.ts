import { parseInstant } from "../../base/instant.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type Fields, fieldsOf, itemsOf, textOf } from "../managed/read-fields.ts";
import type { ChildHealth } from "../parents/child-plan.ts";

/** In this order they are asked for, and complained of: what could not be done tells more than what is not there. */
const TYPES = ["Synced", "Ready"];
/** What a resource says while it is being made: nothing is wrong by that. */
const BEING_MADE = "Creating";

/** What hinders the controller of children, whichever child it looks at: no other one would be better off. */
const HINDRANCES: ReadonlySet<unknown> = new Set([
  "ProviderUnavailable",
  "ProviderThrottled",
  "ProviderForbidden",
  "ProviderBusy",
  "QuotaExceeded",
]);

/** How a ServiceCredentialBinding is by its conditions, ours or those of the Crossplane provider. Pure. */
export function keyHealth({ status, metadata }: KubeObject): ChildHealth {
  const all = itemsOf(fieldsOf(status).conditions);
  const wanted = TYPES.map((type) => all.find((condition) => condition.type === type));
  if (wanted.every((condition) => condition?.status === "True")) return { kind: "well" };
  const bad = wanted.find((condition) => condition?.status === "False" && condition.reason !== BEING_MADE);
  if (!bad) return { kind: "coming" };
  const since = parseInstant(bad.lastTransitionTime) ?? parseInstant(metadata.creationTimestamp) ?? 0;
  return { kind: "ill", since, complaint: complaintOf(bad), ...(HINDRANCES.has(bad.reason) && { isHindered: true }) };
}

function complaintOf({ type, reason, message }: Fields): string {
  const [why, words] = [textOf(reason) ?? `${type} is False`, textOf(message)];
  return words === undefined ? why : `${why}: ${words}`;
}
