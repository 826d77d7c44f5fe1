import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { Marks } from "../contract.ts";
import { matchesFilter } from "../mark-filter.ts";
import { ProviderError } from "../provider-error.ts";
import {
  decodeLabels,
  decodeMarks,
  encodeMarks,
  LABELS,
  type LabelChange,
  type Labels,
  labelChanges,
  markCriteria,
} from "./marks.ts";
import { isQueryable, renderQuery } from "./query.ts";

const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,60}[a-z0-9])?$/);
const marksOf: fc.Arbitrary<Marks> = fc
  .record(
    {
      clusterId: fc.uuid(),
      ownerUid: fc.uuid(),
      ownerKind: fc.constantFrom("ServiceBinding", "Other"),
      ownerNamespace: name,
      ownerName: name,
      sequence: fc.nat(),
    },
    { requiredKeys: ["clusterId", "ownerUid", "ownerKind", "ownerName", "sequence"] },
  )
  .map((marks) => ({ ...marks }));

test("marks come back from their labels as they were", () => {
  fc.assert(
    fc.property(marksOf, (marks) => {
      const overTheWire: unknown = JSON.parse(JSON.stringify({ theirs: ["x"], ...encodeMarks(marks) }));
      assert.deepEqual(decodeMarks(decodeLabels(overTheWire)), marks);
    }),
  );
});

test("label keys can be asked for: the query language takes them, and its separator is not in them", () => {
  for (const key of Object.values(LABELS)) {
    assert.match(key, /^[-_/a-zA-Z0-9]+$/);
    assert.ok(!key.includes("and"), key);
  }
});

test("half of the marks are no marks", () => {
  const labels = encodeMarks({ clusterId: "c", ownerUid: "u", ownerKind: "K", ownerName: "n", sequence: 3 });
  for (const key of Object.keys(labels)) {
    const { [key]: _, ...rest } = labels;
    assert.equal(decodeMarks(rest), undefined, `without ${key}`);
    assert.equal(decodeMarks({ ...labels, [key]: [""] }), undefined, `with an empty ${key}`);
  }
  assert.equal(decodeMarks({ ...labels, [LABELS.sequence]: ["three"] }), undefined, "a sequence that is no number");
});

test("labels in any form are read without an error", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      for (const values of Object.values(decodeLabels(value)))
        assert.ok(values.every((item) => typeof item === "string"));
    }),
  );
});

test("a mark that does not fit is refused before anything is sent", () => {
  const marks: Marks = { clusterId: "c", ownerUid: "u", ownerKind: "K", ownerName: "n", sequence: 3 };
  for (const ownerName of ["", "x".repeat(256), "line\nbreak", "back\\slash"]) {
    assert.throws(() => encodeMarks({ ...marks, ownerName }), ProviderError, JSON.stringify(ownerName));
  }
});

/** As the service does it: values are added to a key and taken from it, an empty key goes. */
function apply(labels: Labels, changes: readonly LabelChange[]): Labels {
  const result: Record<string, readonly string[]> = { ...labels };
  for (const { op, key, values } of changes) {
    const present = result[key] ?? [];
    const next = op === "add" ? [...present, ...values] : present.filter((value) => !values.includes(value));
    if (next.length > 0) result[key] = next;
    else delete result[key];
  }
  return result;
}

test("changes lead from any labels to exactly the marks, others' labels stay, and the key is found all the way", () => {
  const before = fc.option(marksOf, { nil: undefined });
  fc.assert(
    fc.property(before, before, (old, wanted) => {
      const theirs: Labels = { environment: ["production", "eu"] };
      const start = { ...theirs, ...(old && encodeMarks(old)) };
      const { add, remove } = labelChanges(start, wanted);
      const middle = apply(start, add);
      if (wanted) assert.deepEqual(decodeMarks(middle)?.ownerUid, wanted.ownerUid);
      const end = apply(middle, remove);
      assert.deepEqual(end, { ...theirs, ...(wanted && encodeMarks(wanted)) });
      assert.deepEqual(labelChanges(end, wanted), { add: [], remove: [] });
      for (const changes of [add, remove]) assert.ok(changes.every(({ op }) => op === changes[0]?.op));
    }),
  );
});

test("an owner is found by its kind and name, whatever its UID, and nobody else's keys with it", () => {
  const marks: Marks = {
    clusterId: "c",
    ownerUid: "u",
    ownerKind: "K",
    ownerNamespace: "ns",
    ownerName: "n",
    sequence: 1,
  };
  const owner = { uid: "u", kind: "K", namespace: "ns", name: "n" };
  const table = [
    [{ clusterId: "c" }, true, "the whole cluster"],
    [{ clusterId: "d" }, false, "another cluster"],
    [{ clusterId: "c", owner }, true, "the owner itself"],
    [{ clusterId: "c", owner: { ...owner, uid: "v" } }, true, "a restored owner with another UID"],
    [{ clusterId: "c", owner: { ...owner, uid: "v", name: "m" } }, false, "another name"],
    [{ clusterId: "c", owner: { ...owner, uid: "v", kind: "L" } }, false, "another kind"],
    [{ clusterId: "c", owner: { ...owner, uid: "v", namespace: "other" } }, false, "another namespace"],
    [{ clusterId: "c", owner: { uid: "v", kind: "K", name: "n" } }, false, "a cluster-scoped owner of that name"],
  ] as const;
  for (const [filter, expected, reason] of table) assert.equal(matchesFilter(marks, filter), expected, reason);
  assert.equal(matchesFilter(undefined, { clusterId: "c" }), false);
  assert.equal(
    renderQuery(markCriteria({ clusterId: "c", owner })),
    "keyturn_cluster eq 'c' and keyturn_kind eq 'K' and keyturn_name eq 'n' and keyturn_namespace eq 'ns'",
  );
});

test("queries quote their strings, and know what they cannot say", () => {
  assert.equal(renderQuery([{ key: "name", value: "it's and eq 'x" }]), "name eq 'it''s and eq ''x'");
  for (const value of ["'x", "x'", "x\\", "a\nb", "a\u0000b", "a\u0085b"]) {
    assert.equal(isQueryable(value), false, JSON.stringify(value));
  }
  for (const value of ["x", "a b", "ü", "a'b"]) assert.equal(isQueryable(value), true, value);
});
