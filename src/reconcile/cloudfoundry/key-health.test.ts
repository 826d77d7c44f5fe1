import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { ChildHealth } from "../parents/child-plan.ts";
import { keyHealth } from "./key-health.ts";

const AT = "2025-11-05T13:14:28Z";
const condition = (type: string, status: string, reason: string, message?: string): object => ({
  type,
  status,
  reason,
  ...(message !== undefined && { message }),
  lastTransitionTime: AT,
});
const illness = (complaint: string) => ({ kind: "ill", since: Date.parse(AT), complaint }) as const;
const ill = (complaint: string): ChildHealth => illness(complaint);
const [ready, synced] = [condition("Ready", "True", "Available"), condition("Synced", "True", "ReconcileSuccess")];

const table: readonly (readonly [reason: string, conditions: unknown, health: ChildHealth])[] = [
  ["ready and synced", [ready, synced], { kind: "well" }],
  ["nothing is said yet", undefined, { kind: "coming" }],
  ["a status that somebody has damaged", "all fine", { kind: "coming" }],
  ["synced alone is not enough", [synced], { kind: "coming" }],
  ["being made is no illness", [condition("Ready", "False", "Creating"), synced], { kind: "coming" }],
  ["unknown is no illness either", [condition("Ready", "Unknown", "Any"), synced], { kind: "coming" }],
  [
    "what could not be done comes before what is not there",
    [condition("Ready", "False", "Creating"), condition("Synced", "False", "InstanceNotFound", "no such instance")],
    ill("InstanceNotFound: no such instance"),
  ],
  [
    "ready with what it had before, and not able to follow",
    [ready, condition("Synced", "False", "ReconcileError", "no")],
    ill("ReconcileError: no"),
  ],
  [
    "what hinders every child alike is not its own illness",
    [ready, condition("Synced", "False", "ProviderForbidden", "no role")],
    { ...illness("ProviderForbidden: no role"), isHindered: true },
  ],
  ["not available any more", [condition("Ready", "False", "Unavailable"), synced], ill("Unavailable")],
];

for (const [reason, conditions, health] of table) {
  test(`how a key is, by its conditions: ${reason}`, () => {
    const child: KubeObject = { apiVersion: "x/v1", kind: "X", metadata: { name: "k" }, status: { conditions } };
    assert.deepEqual(keyHealth(child), health);
  });
}
