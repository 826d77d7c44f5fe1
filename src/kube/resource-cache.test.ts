import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { type Delta, type Entry, ResourceCache } from "./resource-cache.ts";

interface Row {
  readonly team: string;
}

const entry = (key: string, uid: string, resourceVersion: string, team = "red"): Entry<Row> => ({
  key,
  uid,
  resourceVersion,
  record: { team },
});
const asMap = (...entries: readonly Entry<Row>[]): Map<string, Entry<Row>> =>
  new Map(entries.map((one) => [one.key, one]));
const brief = (deltas: readonly Delta<Row>[]): string[] =>
  deltas.map((delta) => `${delta.type} ${delta.key} ${delta.via}`);

function filled(...entries: readonly Entry<Row>[]): ResourceCache<Row> {
  const cache = new ResourceCache<Row>({ indexes: { team: (row) => [row.team] } });
  for (const delta of cache.deltasOfReplacement(asMap(...entries))) cache.apply(delta);
  return cache;
}

const upserts: readonly { readonly reason: string; readonly next: Entry<Row>; readonly expected: readonly string[] }[] =
  [
    { reason: "a new key", next: entry("b", "2", "7"), expected: ["added b watch"] },
    { reason: "a new version", next: entry("a", "1", "6"), expected: ["updated a watch"] },
    { reason: "the same state again", next: entry("a", "1", "5"), expected: [] },
    { reason: "an older state", next: entry("a", "1", "4"), expected: [] },
    {
      reason: "another object under the same name",
      next: entry("a", "2", "6"),
      expected: ["deleted a watch", "added a watch"],
    },
    { reason: "a predecessor of what is there", next: entry("a", "0", "3"), expected: [] },
    { reason: "versions that cannot be compared", next: entry("a", "1", "x9"), expected: ["updated a watch"] },
  ];

for (const { reason, next, expected } of upserts) {
  test(`an object as it is now: ${reason}`, () => {
    assert.deepEqual(brief(filled(entry("a", "1", "5")).deltasOfUpsert(next)), expected, reason);
  });
}

test("a removal that is older than what is there is about its predecessor", () => {
  const cache = filled(entry("a", "2", "5"));
  assert.deepEqual(brief(cache.deltasOfRemoval("a", "4")), []);
  assert.deepEqual(brief(cache.deltasOfRemoval("a", "6")), ["deleted a watch"]);
  assert.deepEqual(brief(cache.deltasOfRemoval("b", "6")), []);
});

test("a replacement: deletions first, then changes in the order they were written", () => {
  const cache = filled(entry("a", "1", "1"), entry("b", "2", "2"), entry("c", "3", "3"), entry("d", "4", "4"));
  const deltas = cache.deltasOfReplacement(
    asMap(entry("a", "9", "11"), entry("c", "3", "3"), entry("d", "4", "9"), entry("e", "5", "10")),
  );
  assert.deepEqual(brief(deltas), [
    "deleted b refresh",
    "updated d refresh",
    "added e refresh",
    "deleted a refresh",
    "added a refresh",
  ]);
});

test("a replacement leads exactly there, and replaying its deltas is legal", () => {
  const anyMap = fc
    .uniqueArray(
      fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat(2), fc.nat(9), fc.constantFrom("red", "blue")),
      {
        selector: ([key]) => key,
      },
    )
    .map((rows) =>
      asMap(...rows.map(([key, uid, version, team]) => entry(key, `${key}${uid}`, String(version), team))),
    );
  fc.assert(
    fc.property(fc.array(anyMap, { minLength: 1, maxLength: 5 }), (states) => {
      const cache = filled();
      for (const state of states) {
        for (const delta of cache.deltasOfReplacement(state)) {
          const before = cache.entry(delta.key);
          assert.equal(before !== undefined, delta.type !== "added");
          if (delta.type !== "added") assert.equal(delta.old, before);
          cache.apply(delta);
        }
        const identity = (one: Entry<Row>): string => `${one.key} ${one.uid} ${one.resourceVersion}`;
        assert.deepEqual([...cache.entries()].map(identity).sort(), [...state.values()].map(identity).sort());
        for (const team of ["red", "blue"]) {
          const expected = [...cache.entries()].filter((one) => one.record.team === team).map((one) => one.key);
          assert.deepEqual(
            cache
              .find("team", team)
              .map((one) => one.key)
              .sort(),
            expected.sort(),
          );
        }
        assert.deepEqual(cache.deltasOfReplacement(state), [], "what is the same is not told again");
      }
    }),
  );
});

test("reads: by key, all, by index, and an index that does not exist is a mistake", () => {
  const cache = filled(entry("a", "1", "1", "red"), entry("b", "2", "2", "blue"));
  assert.deepEqual(cache.get("a"), { team: "red" });
  assert.equal(cache.get("z"), undefined);
  assert.deepEqual(cache.list(), [{ team: "red" }, { team: "blue" }]);
  assert.deepEqual(
    cache.find("team", "blue").map((one) => one.key),
    ["b"],
  );
  assert.deepEqual(cache.find("team", "green"), []);
  assert.throws(() => cache.find("colour", "blue"), RangeError);
});

test("own writes: not current until the watch has brought them", () => {
  const cache = filled(entry("a", "1", "5"));
  assert.equal(cache.isCurrent("a"), true);
  cache.noteWrite("a", "8");
  cache.noteWrite("a", "7");
  assert.equal(cache.isCurrent("a"), false);
  for (const delta of cache.deltasOfUpsert(entry("a", "1", "7"))) cache.apply(delta);
  assert.equal(cache.isCurrent("a"), false, "the older of two writes is not enough");
  for (const delta of cache.deltasOfUpsert(entry("a", "1", "9"))) cache.apply(delta);
  assert.equal(cache.isCurrent("a"), true, "a later state includes it");
});

test("own writes: a position beyond them is enough, whatever became of the object", () => {
  const cache = filled();
  cache.noteWrite("a", "8");
  cache.advance("7");
  assert.equal(cache.isCurrent("a"), false);
  cache.advance("8");
  assert.equal(cache.isCurrent("a"), true);
});

test("own writes with opaque versions: seen by the watch, or by a list that began afterwards", () => {
  const cache = filled();
  cache.noteWrite("a", "v-a");
  cache.noteWrite("b", "v-b");
  for (const delta of cache.deltasOfUpsert(entry("a", "1", "v-a"))) cache.apply(delta);
  for (const delta of cache.deltasOfUpsert(entry("a", "1", "v-later"))) cache.apply(delta);
  assert.equal(cache.isCurrent("a"), true, "it came by");
  assert.equal(cache.isCurrent("b"), false);
  cache.beginRefresh();
  cache.noteWrite("c", "v-c");
  cache.endRefresh("v-list");
  assert.equal(cache.isCurrent("b"), true, "written before the list began");
  assert.equal(cache.isCurrent("c"), false, "written while it was under way");
});

test("parts: a fresh look at one namespace leaves the others as they are", () => {
  const cache = new ResourceCache<Row>();
  const [red, blue] = [cache.part("red"), cache.part("blue")];
  const commit = (part: typeof red, position: string, ...entries: readonly Entry<Row>[]): readonly string[] => {
    part.beginRefresh();
    const deltas = part.deltasOfReplacement(asMap(...entries));
    for (const delta of deltas) part.apply(delta);
    part.endRefresh(position);
    return brief(deltas);
  };
  assert.deepEqual(commit(red, "5", entry("red/a", "1", "3")), ["added red/a refresh"]);
  assert.equal(cache.position, "", "not everything has been seen");
  assert.deepEqual(commit(blue, "9", entry("blue/a", "2", "4")), ["added blue/a refresh"]);
  assert.equal(cache.position, "5", "as far as the one that is furthest behind");
  assert.deepEqual(commit(red, "12"), ["deleted red/a refresh"]);
  assert.deepEqual(
    [...cache.entries()].map(({ key }) => key),
    ["blue/a"],
  );
  assert.equal(cache.position, "9");
});

test("parts: what we wrote is seen when its own namespace has come that far", () => {
  const cache = new ResourceCache<Row>();
  const [red, blue] = [cache.part("red"), cache.part("blue")];
  red.endRefresh("5");
  blue.endRefresh("5");
  cache.noteWrite("red/a", "7");
  blue.advance("8");
  assert.equal(cache.isCurrent("red/a"), false, "another namespace tells nothing of this one");
  blue.beginRefresh();
  blue.endRefresh("20");
  assert.equal(cache.isCurrent("red/a"), false);
  red.advance("7");
  assert.equal(cache.isCurrent("red/a"), true);
  cache.noteWrite("red/b", "opaque");
  blue.beginRefresh();
  blue.endRefresh("21");
  assert.equal(cache.isCurrent("red/b"), false, "a look at another namespace began after the write");
  red.beginRefresh();
  red.endRefresh("9");
  assert.equal(cache.isCurrent("red/b"), true);
});

test("parts: a Namespace is its own", () => {
  const cache = new ResourceCache<Row>();
  const shop = cache.part("shop");
  cache.part("bank");
  for (const delta of shop.deltasOfReplacement(asMap(entry("shop", "1", "3")))) shop.apply(delta);
  assert.deepEqual(brief(shop.deltasOfReplacement(asMap())), ["deleted shop refresh"]);
});
