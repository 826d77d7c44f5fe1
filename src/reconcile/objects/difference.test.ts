import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { APPLIED, differs, withDigest } from "./difference.ts";

const object = (fields: object, kind = "ConfigMap"): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "a" },
  ...fields,
});

const rows: readonly (readonly [reason: string, wanted: object, live: object, isDifferent: boolean])[] = [
  ["the same", { spec: { a: 1 } }, { spec: { a: 1 } }, false],
  ["what the server adds is no difference", { spec: { a: 1 } }, { spec: { a: 1, b: 2 }, status: {} }, false],
  ["another value", { spec: { a: 1 } }, { spec: { a: 2 } }, true],
  ["a value that is missing", { spec: { a: 1 } }, { spec: {} }, true],
  ["nothing is asked for by what says nothing", { spec: { a: null } }, { spec: {} }, false],
  ["an empty object is one", { spec: { a: {} } }, { spec: {} }, true],
  ["defaults in an element", { spec: [{ n: 1 }] }, { spec: [{ n: 1, d: 2 }] }, false],
  ["elements in another order", { spec: [{ n: 1 }, { n: 2 }] }, { spec: [{ n: 2 }, { n: 1 }] }, false],
  ["texts in another order", { spec: ["a", "b"] }, { spec: ["b", "a"] }, true],
  ["somebody's element beside ours", { spec: [{ n: 1 }] }, { spec: [{ n: 1 }, { n: 2 }] }, true],
  ["an element that is missing", { spec: [{ n: 1 }] }, { spec: [] }, true],
  ["a list that is none", { spec: [1] }, { spec: { 0: 1 } }, true],
];

for (const [reason, wanted, live, isDifferent] of rows) {
  test(`difference: ${reason}`, () => assert.equal(differs(object(wanted), object(live)), isDifferent));
}

test("the data of a Secret is ours as a whole, and that of a ConfigMap is not", () => {
  const [wanted, live] = [{ data: { a: "" } }, { data: { a: "", b: "" } }];
  assert.ok(differs(object(wanted, "Secret"), object(live, "Secret")));
  assert.ok(!differs(object(wanted), object(live)));
});

test("a field that is wanted no more is told by the digest, whatever the order of names; a Secret has none", () => {
  const before = withDigest(object({ spec: { a: 1, b: 2 } }));
  assert.ok(differs(withDigest(object({ spec: { a: 1 } })), before));
  assert.ok(!differs(withDigest(object({ spec: { b: 2, a: 1 } })), before));
  assert.equal(withDigest(object({ data: { a: "" } }, "Secret")).metadata.annotations?.[APPLIED], undefined);
});
