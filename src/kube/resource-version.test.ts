import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { compareResourceVersions, isOlder } from "./resource-version.ts";

test("versions of any length compare as the numbers they are", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
      const order = compareResourceVersions(String(a), String(b));
      assert.equal(Math.sign(order ?? Number.NaN), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

const opaque: readonly [string, string, string][] = [
  ["abc", "5", "a word is no number"],
  ["", "5", "the empty version means anything"],
  ["05", "5", "no server writes leading zeros"],
  ["-1", "5", "versions are not negative"],
  ["1.5", "5", "versions are whole"],
];

for (const [a, b, reason] of opaque) {
  test(`what is not a version cannot be compared: ${reason}`, () => {
    assert.equal(compareResourceVersions(a, b), undefined, reason);
    assert.equal(isOlder(a, b), false, reason);
    assert.equal(isOlder(b, a), false, reason);
  });
}
