import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { fc } from "../base/properties.fixture.ts";
import { anyJson } from "./korifi.fixture.ts";
import { isSameJson } from "./same-json.ts";

const pairs: readonly { readonly why: string; readonly a: string; readonly b: string; readonly isSame: boolean }[] = [
  { why: "another order of members", a: '{"a":1,"b":{"c":2,"d":3}}', b: '{"b":{"d":3,"c":2},"a":1}', isSame: true },
  { why: "another order of elements", a: "[1,2]", b: "[2,1]", isSame: false },
  { why: "another way to escape a text", a: '{"a":["x&y"]}', b: '{"\\u0061":["x\\u0026y"]}', isSame: true },
  { why: "another digit, where a double has none", a: "[9007199254740992]", b: "[9007199254740993]", isSame: false },
  { why: "another way to write a number", a: "[1.0,100,-0,0.0015]", b: "[1,1E+2,0,15e-4]", isSame: true },
  { why: "another sign", a: "-1", b: "1", isSame: false },
  { why: "another size", a: "10", b: "1", isSame: false },
  { why: "numbers that no double holds", a: "1e400", b: "1e401", isSame: false },
  { why: "exponents that no double holds", a: "1e99999999999999999999", b: "10e99999999999999999998", isSame: true },
  { why: "a text and a number", a: '"1"', b: "1", isSame: false },
  { why: "a text and a word", a: '"null"', b: "null", isSame: false },
  { why: "a list and an object of nothing", a: "[]", b: "{}", isSame: false },
  { why: "one member more", a: '{"a":1}', b: '{"a":1,"b":1}', isSame: false },
  { why: "of two members with one name the last counts", a: '{"a":1,"a":2}', b: '{"a":2}', isSame: true },
  { why: "a list in a list", a: "[[1],2]", b: "[[1,2]]", isSame: false },
];

for (const { why, a, b, isSame } of pairs) {
  test(`${isSame ? "the same" : "not the same"}: ${why}`, () => {
    assert.equal(isSameJson(a, b), isSame);
    assert.equal(isSameJson(b, a), isSame);
  });
}

/** Members the other way round, and everything escaped. */
const rewritten = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(rewritten).join(",")}]`;
  if (typeof value !== "object" || value === null) return escaped(JSON.stringify(value));
  const members = Object.entries(value).toReversed();
  return `{${members.map(([name, member]) => `${escaped(JSON.stringify(name))}:${rewritten(member)}`).join(",")}}`;
};

const escaped = (json: string): string =>
  json.startsWith('"') && !json.includes("\\")
    ? json.replace(/[a-z&<>]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)
    : json;

test("what JSON.parse takes for the same is the same, but for digits that it loses", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
      assert.ok(isSameJson(a, rewritten(JSON.parse(a))), `${a} ${rewritten(JSON.parse(a))}`);
      assert.equal(isSameJson(a, b), isDeepStrictEqual(JSON.parse(a), JSON.parse(b)));
    }),
    { numRuns: 500 },
  );
});

/** JavaScript has two zeros. */
const withoutSign = (_: string, value: unknown): unknown => (value === 0 ? 0 : value);

test("what differs for JSON.parse differs", () => {
  fc.assert(
    fc.property(anyJson, anyJson, ({ compact: a }, { compact: b }) => {
      assert.ok(isSameJson(a, a));
      if (isSameJson(a, b)) assert.deepEqual(JSON.parse(a, withoutSign), JSON.parse(b, withoutSign));
    }),
    { numRuns: 1000 },
  );
});

test("depth costs no stack, and hardly any time", () => {
  const deep = (inner: string): string => `${"[".repeat(300_000)}${inner}${"]".repeat(300_000)}`;
  assert.equal(isSameJson(deep("1"), deep("1.0")), true);
  assert.equal(isSameJson(deep("1"), deep("2")), false);
});
