import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { Marks } from "../../providers/contract.ts";
import { matchesFilter } from "../../providers/mark-filter.ts";
import { markMetadata, markPatch, markSelector, readMarks } from "./child-marks.ts";

const name = fc.stringMatching(/^[a-z0-9]{1,20}$/);
const marksArbitrary: fc.Arbitrary<Marks> = fc
  .record(
    { clusterId: name, ownerUid: name, ownerKind: name, ownerNamespace: name, ownerName: name, sequence: fc.nat() },
    { requiredKeys: ["clusterId", "ownerUid", "ownerKind", "ownerName", "sequence"] },
  )
  .map((marks) => ({ ...marks }));

test("marks are read as they were written, and every label is one that Kubernetes takes", () => {
  fc.assert(
    fc.property(marksArbitrary, (marks) => {
      const metadata = { name: "child", ...markMetadata(marks) };
      assert.deepEqual(readMarks(metadata), marks);
      for (const value of Object.values(metadata.labels)) assert.match(value, /^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/);
    }),
  );
});

test("what a filter means is found by its selector, whatever the UID", () => {
  fc.assert(
    fc.property(marksArbitrary, name, (marks, uid) => {
      const { clusterId, ownerKind: kind, ownerName, ownerNamespace: namespace } = marks;
      const owner = { uid, kind, name: ownerName, ...(namespace !== undefined && { namespace }) };
      assert.ok(matchesFilter(marks, { clusterId, owner }));
      const { labels } = markMetadata(marks);
      for (const term of markSelector({ clusterId, owner }).split(",")) {
        const [key = "", value] = term.split("=");
        assert.equal(labels[key], value);
      }
    }),
  );
});

test("the parents of one name in two namespaces are told apart", () => {
  const owner = { uid: "u", kind: "Parent", name: "orders" };
  const selectors = ["a", "b", undefined].map((namespace) =>
    markSelector({ clusterId: "c", owner: { ...owner, ...(namespace !== undefined && { namespace }) } }),
  );
  assert.equal(new Set(selectors).size, 3);
});

const complete = markMetadata({ clusterId: "c", ownerUid: "u", ownerKind: "K", ownerName: "n", sequence: 3 });
const damages: readonly (readonly [reason: string, labels: object, annotations: object])[] = [
  ["a label is missing", { "keyturn.dev/cluster": undefined }, {}],
  ["a sequence that is none", { "keyturn.dev/sequence": "three" }, {}],
  ["a sequence without end", { "keyturn.dev/sequence": "9".repeat(40) }, {}],
  ["an annotation is missing", {}, { "keyturn.dev/parent-name": undefined }],
];

for (const [reason, labels, annotations] of damages) {
  test(`damaged marks are none: ${reason}`, () => {
    const metadata = {
      name: "child",
      labels: { ...complete.labels, ...labels } as Readonly<Record<string, string>>,
      annotations: { ...complete.annotations, ...annotations } as Readonly<Record<string, string>>,
    };
    assert.equal(readMarks(metadata), undefined);
  });
}

test("taking marks off names every one of them", () => {
  const { labels, annotations } = markPatch(undefined);
  assert.deepEqual(Object.keys(labels).sort(), Object.keys(complete.labels).sort());
  for (const key of Object.keys(complete.annotations)) assert.equal(annotations[key], null);
});
