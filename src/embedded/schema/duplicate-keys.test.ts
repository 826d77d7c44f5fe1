import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { findDuplicateKeys, MAX_JSON_DEPTH } from "./duplicate-keys.ts";

/** [JSON, what Kubernetes 1.36 said is duplicate in it] */
const TEXTS: readonly (readonly [string, readonly string[]])[] = [
  ['{"a":1,"b":2}', []],
  ['{"spec":{"min":1,"min":2}}', ["spec.min"]],
  [
    '{"spec":{"min":1,"min":2,"free":{"a":1,"a":2,"l":[{"b":1,"b":1,"b":2}]}},"spec":{"q":1}}',
    ["spec.min", "spec.free.a", "spec.free.l[0].b", "spec"],
  ],
  ['{"l":[{"a":1},{"a":1,"a":2}]}', ["l[1].a"]],
  ['[{"a":1,"\\u0061":2}]', ["[0].a"]],
  ['{"a":"\\"b\\":1,","b":[1,{"c":{}}],"b":2}', ["b"]],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
];

test("duplicates are found and named with their path", () => {
  for (const [text, paths] of TEXTS) {
    assert.deepEqual(
      findDuplicateKeys(text),
      paths.map((path) => `duplicate field "${path}"`),
      text,
    );
  }
});

test("JSON nested too deep is a bad request, not a full stack", () => {
  assert.throws(() => findDuplicateKeys("[".repeat(1_000_000)), { status: 400, reason: "BadRequest" });
  assert.deepEqual(findDuplicateKeys(`${"[".repeat(MAX_JSON_DEPTH)}${"]".repeat(MAX_JSON_DEPTH)}`), []);
});

test("what JSON.stringify writes has no duplicates", () => {
  fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(findDuplicateKeys(text), [])));
});

test("a planted duplicate is found, whatever surrounds it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (before, after, key) => {
      const quoted = JSON.stringify(key);
      const text = `{"x":${JSON.stringify(before)},${quoted}:1,"y":[{}],${quoted}:${JSON.stringify(after)}}`;
      assert.deepEqual(findDuplicateKeys(text), [`duplicate field "${key}"`]);
    }),
  );
});

test("text that is no JSON only ends the search", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\a1 ') }), (text) =>
      Array.isArray(findDuplicateKeys(text)),
    ),
  );
});

test("time grows with the text, not faster", () => {
  const text = `{${Array.from({ length: 100_000 }, (_, index) => `"k${index % 50_000}":1`).join(",")}}`;
  assert.equal(findDuplicateKeys(text).length, 100, "and the answer is bounded");
});
