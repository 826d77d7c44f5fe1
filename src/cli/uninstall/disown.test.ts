import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutReplicasOf } from "./disown.ts";

const entry = (manager: string, fieldsV1: object, operation = "Update") => ({
  ...{ manager, operation, apiVersion: "apps/v1", time: "2026-11-16T09:00:00Z", fieldsType: "FieldsV1" },
  fieldsV1,
});
const replicas = { "f:spec": { "f:replicas": {} } };
const applied = entry("kubectl", { "f:spec": { "f:template": {} } }, "Apply");

const CASES: readonly (readonly [reason: string, fields: readonly unknown[] | undefined, left: unknown])[] = [
  ["nothing is written down", undefined, undefined],
  ["somebody else's", [applied, entry("kubectl", replicas)], undefined],
  ["ours goes, and others stay", [applied, entry("us", replicas)], [applied]],
  ["ours alone: nobody owns anything", [entry("us", replicas)], [{}]],
  [
    "what else is ours stays",
    [entry("us", { "f:metadata": {}, "f:spec": { "f:replicas": {}, "f:paused": {} } })],
    [entry("us", { "f:metadata": {}, "f:spec": { "f:paused": {} } })],
  ],
  ["what cannot be read is left alone", ["x", null, { manager: "us" }], undefined],
];

for (const [reason, fields, left] of CASES) {
  test(`the number of replicas is let go of: ${reason}`, () => {
    assert.deepEqual(withoutReplicasOf("us", fields), left);
  });
}
