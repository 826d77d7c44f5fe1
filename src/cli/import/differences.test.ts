import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { differencesOf, holdsCredentials, type Texts } from "./differences.ts";

interface DifferenceCase {
  readonly reason: string;
  readonly present: Texts;
  readonly expected: Texts;
  readonly differs: Partial<ReturnType<typeof differencesOf>>;
  readonly how?: "exact";
}

const NONE = { added: [], removed: [], changed: [] };

const CASES: readonly DifferenceCase[] = [
  { reason: "the same is no difference", present: { a: "1" }, expected: { a: "1" }, differs: {} },
  { reason: "a key that comes", present: {}, expected: { a: "1" }, differs: { added: ["a"] } },
  { reason: "a key that goes", present: { a: "1" }, expected: {}, differs: { removed: ["a"] } },
  { reason: "another value", present: { a: "1" }, expected: { a: "2" }, differs: { changed: ["a"] } },
  {
    reason: "JSON in another order says the same",
    present: { a: '{"x":1,"y":[1,2]}' },
    expected: { a: '{ "y": [1, 2], "x": 1 }' },
    differs: {},
  },
  {
    reason: "a list in another order does not",
    present: { a: "[1,2]" },
    expected: { a: "[2,1]" },
    differs: { changed: ["a"] },
  },
  {
    reason: "but properties are a set, by their names",
    present: { ".metadata": '{"p":[{"name":"a","format":"text"},{"name":"b","format":"json"}]}' },
    expected: { ".metadata": '{"p":[{"format":"json","name":"b"},{"format":"text","name":"a"}]}' },
    differs: {},
  },
  {
    reason: "a text that looks like a number is a text",
    present: { a: "1" },
    expected: { a: "1.0" },
    differs: { changed: ["a"] },
  },
  {
    reason: "exactly: other white space is a difference",
    present: { a: '{"x":1}' },
    expected: { a: '{ "x": 1 }' },
    differs: { changed: ["a"] },
    how: "exact",
  },
];

for (const { reason, present, expected, differs, how } of CASES) {
  test(`differences: ${reason}`, () => {
    assert.deepEqual(differencesOf(present, expected, how), { ...NONE, ...differs });
  });
}

const credentials = { user: "u-1", password: 'p"\n1', nested: { url: "https://x", port: 5 } };
const flat = { user: "u-1", password: 'p"\n1', nested: JSON.stringify(credentials.nested) };

const HOLDS: readonly { readonly reason: string; readonly present: Texts; readonly holds: boolean }[] = [
  { reason: "a key for each value", present: flat, holds: true },
  { reason: "everything under one key", present: { all: JSON.stringify(credentials) }, holds: true },
  { reason: "JSON of texts that are JSON", present: { root: JSON.stringify(flat) }, holds: true },
  { reason: "inside of a larger text", present: { conf: 'u=u-1;p=p"\n1;url=https://x' }, holds: true },
  { reason: "another password", present: { ...flat, password: "other" }, holds: false },
  { reason: "a value is missing", present: { user: "u-1", password: 'p"\n1' }, holds: false },
  { reason: "an empty Secret", present: {}, holds: false },
];

for (const { reason, present, holds } of HOLDS) {
  test(`holds the credentials: ${reason}: ${holds}`, () => {
    assert.equal(holdsCredentials(present, credentials), holds);
  });
}

test("whatever the texts are, what is laid out flat or as JSON is found again, and another password is not", () => {
  const texts = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), { minKeys: 1, maxKeys: 5 });
  fc.assert(
    fc.property(texts, (some) => {
      const secret = { ...some, password: "0123456789abcdef" };
      assert.ok(holdsCredentials(secret, secret));
      assert.ok(holdsCredentials({ all: JSON.stringify(secret) }, secret));
      assert.ok(!holdsCredentials({ ...some, password: "fedcba9876543210" }, secret));
    }),
  );
});
