import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { compactJson, itemsOf, membersOf, objectText, stringIn } from "./json-text.ts";
import { anyJson } from "./korifi.fixture.ts";

const rows: readonly { readonly why: string; readonly text: string; readonly compact: string | undefined }[] = [
  { why: "white space between tokens goes", text: ' { "a" : [ 1 ,\n2 ] }\t', compact: '{"a":[1,2]}' },
  { why: "white space in strings stays", text: '{"a b": " c\\n "}', compact: '{"a b":" c\\n "}' },
  { why: "quotation marks in strings end nothing", text: '["a\\" , ]", "\\\\" ]', compact: '["a\\" , ]","\\\\"]' },
  {
    why: "every digit stays",
    text: "[12345678901234567890, 0.10, -0, 1E400]",
    compact: "[12345678901234567890,0.10,-0,1E400]",
  },
  { why: "what was escaped stays so, and what was not", text: '["\\u0026", "&<>"]', compact: '["\\u0026","&<>"]' },
  { why: "nothing is no JSON", text: "", compact: undefined },
  { why: "a byte order mark is no JSON", text: "\ufeff{}", compact: undefined },
  { why: "half an object is no JSON", text: '{"a":', compact: undefined },
  { why: "nor are two", text: "{}{}", compact: undefined },
];

for (const { why, text, compact } of rows) {
  test(`compact: ${why}`, () => assert.equal(compactJson(text), compact));
}

test("compact JSON is what was written but for the white space, to the last digit", () => {
  fc.assert(
    fc.property(anyJson, ({ written, compact }) => {
      assert.equal(compactJson(written), compact);
      assert.equal(compactJson(compact), compact);
    }),
    { numRuns: 1000 },
  );
});

test("what is taken apart can be put together", () => {
  fc.assert(
    fc.property(fc.array(anyJson), anyJson, (list, one) => {
      const items = list.map(({ compact }) => compact);
      assert.deepEqual(itemsOf(`[${items.join(",")}]`), items);
      const members = items.map((item, index) => [`"${index}" {[,`, item] as const);
      assert.deepEqual([...membersOf(objectText(members))], members);
      assert.equal(stringIn(one.compact), one.compact.startsWith('"') ? JSON.parse(one.written) : undefined);
    }),
    { numRuns: 300 },
  );
});

test("of two members with one name, however it is written, the last counts", () => {
  assert.deepEqual(
    [...membersOf('{"a":1,"b":2,"\\u0061":3}')],
    [
      ["a", "3"],
      ["b", "2"],
    ],
  );
});

test("depth costs no stack", () => {
  const text = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  assert.equal(objectText(membersOf(compactJson(text) ?? "")), text);
});
