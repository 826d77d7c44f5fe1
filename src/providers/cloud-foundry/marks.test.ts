import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { Marks } from "../contract.ts";
import { decodeMarks, encodeMarks, isTouched, markChange, markSelector } from "./marks.ts";
import { checkedMetadata } from "./metadata.ts";
import { rejects } from "./scripted.fixture.ts";

const word = fc.stringMatching(/^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/);
const long = fc.string({ minLength: 1, maxLength: 253 });
const anyMarks: fc.Arbitrary<Marks> = fc.record(
  {
    clusterId: word,
    ownerUid: word,
    ownerKind: long,
    ownerNamespace: long,
    ownerName: long,
    sequence: fc.integer({ min: 0, max: 10 ** 12 }),
  },
  { requiredKeys: ["clusterId", "ownerUid", "ownerKind", "ownerName", "sequence"], noNullPrototype: true },
);

test("marks come back as they were put on, whatever else stands there", () => {
  fc.assert(
    fc.property(anyMarks, fc.dictionary(word, word), (marks, others) => {
      const { labels, annotations } = encodeMarks(marks);
      const read = decodeMarks({ labels: { ...others, ...labels }, annotations: { ...others, ...annotations } });
      assert.deepEqual(read, marks);
      for (const value of Object.values(labels)) assert.ok(value.length <= 63);
      assert.doesNotThrow(() => checkedMetadata({ labels, annotations }), "within what Cloud Foundry takes");
    }),
  );
});

test("half of the marks are nobody's", () => {
  fc.assert(
    fc.property(anyMarks, fc.nat(), (marks, index) => {
      const { labels, annotations } = encodeMarks(marks);
      const needed = [...Object.keys(labels), ...Object.keys(annotations)].filter(
        (key) => key !== "keyturn.dev/owner" && key !== "keyturn.dev/namespace",
      );
      const lost = needed[index % needed.length] ?? "";
      const without = (entries: Readonly<Record<string, string>>) =>
        Object.fromEntries(Object.entries(entries).filter(([key]) => key !== lost));
      const rest = { labels: without(labels), annotations: without(annotations) };
      assert.equal(decodeMarks(rest), undefined, lost);
      assert.equal(isTouched(rest), true, "and still not bare");
    }),
  );
  assert.equal(isTouched({ labels: { team: "a" }, annotations: {} }), false);
});

test("a change of marks leaves none of the old ones, and takes only ours away", () => {
  fc.assert(
    fc.property(anyMarks, fc.option(anyMarks, { nil: undefined }), (before, after) => {
      const start = encodeMarks(before);
      const change = markChange(after);
      const apply = (from: Readonly<Record<string, string>>, changes: Readonly<Record<string, string | null>>) =>
        Object.fromEntries(Object.entries({ theirs: "x", ...from, ...changes }).filter(([, value]) => value !== null));
      const labels = apply(start.labels, change.labels) as Record<string, string>;
      const annotations = apply(start.annotations, change.annotations) as Record<string, string>;
      assert.deepEqual(decodeMarks({ labels, annotations }), after);
      assert.equal(labels.theirs, "x");
      if (!after) assert.equal(isTouched({ labels, annotations }), false);
    }),
  );
});

test("an owner is selected by kind, namespace and name, whatever its UID; a cluster by its id", () => {
  const owner = { uid: "u", kind: "K", name: "n" };
  const of = (changes: object) => markSelector({ clusterId: "c", owner: { ...owner, ...changes } });
  assert.equal(of({}), of({ uid: "other" }));
  const selectors = [of({}), of({ kind: "L" }), of({ name: "m" }), of({ namespace: "x" }), of({ namespace: "" })];
  assert.equal(new Set(selectors).size, selectors.length);
  assert.equal(markSelector({ clusterId: "c" }), "keyturn.dev/cluster=c");
  assert.ok(of({}).startsWith("keyturn.dev/cluster=c,keyturn.dev/owner="));
});

test("what does not fit into a label is refused, not cut", async () => {
  const marks: Marks = { clusterId: "c", ownerUid: "u", ownerKind: "K", ownerName: "n", sequence: 1 };
  for (const ownerUid of ["", "x".repeat(64), "a b", "a,b=c", "-a"]) {
    await rejects(
      Promise.resolve().then(() => encodeMarks({ ...marks, ownerUid })),
      "ProviderRefused",
      ownerUid,
    );
  }
  await rejects(
    Promise.resolve().then(() => markSelector({ clusterId: "a,b" })),
    "ProviderRefused",
  );
});
