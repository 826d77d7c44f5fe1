import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { derivedFromText, originsOf, readDerivedFrom } from "./derived-from.ts";

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,8}[a-z0-9])?$/);
const keyId = fc.option(fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), { nil: undefined });

test("what is printed is read, whatever letters a key has", () => {
  const entries = fc.uniqueArray(fc.tuple(name, keyId), { selector: ([each]) => each, maxLength: 6 });
  fc.assert(
    fc.property(entries, (all) => {
      const text = derivedFromText(new Map(all));
      assert.deepEqual(new Map([...readDerivedFrom(text)].sort()), new Map([...all].sort()));
      assert.equal(derivedFromText(readDerivedFrom(text)), text);
    }),
  );
});

const rows = [
  { text: "", expected: [], reason: "made from nothing" },
  { text: "db", expected: [["db", undefined]], reason: "a Secret that nobody rotates" },
  {
    text: "db,key@k-1",
    expected: [
      ["db", undefined],
      ["key", "k-1"],
    ],
    reason: "one that is rotated",
  },
  { text: "key@a%2Cb%40c", expected: [["key", "a,b@c"]], reason: "odd letters are encoded" },
  { text: "key@50%", expected: [["key", "50%"]], reason: "somebody else's words are taken as they are" },
  { text: "key@1,key@2", expected: [["key", undefined]], reason: "two keys of one Secret: not known which" },
  { text: ",@x,", expected: [], reason: "nothing has a name" },
] as const;

for (const { text, expected, reason } of rows) {
  test(`${JSON.stringify(text)}: ${reason}`, () => assert.deepEqual([...readDerivedFrom(text)], expected));
}

test("what is made from a Secret is made from all that this was made from", () => {
  const origins = originsOf([
    { name: "db", derivedFrom: "rotated@k1" },
    { name: "cache", keyId: "k9" },
  ]);
  assert.equal(derivedFromText(origins), "cache@k9,db,rotated@k1");
});

test("of two Secrets with different keys of one it cannot be told which is in it", () => {
  const origins = originsOf([
    { name: "a", derivedFrom: "rotated@k1" },
    { name: "b", derivedFrom: "rotated@k2" },
  ]);
  assert.equal(derivedFromText(origins), "a,b,rotated");
});
