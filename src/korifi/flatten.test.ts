import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { flatten } from "./flatten.ts";
import { anyCredentials, credentialsOf, textsIn } from "./korifi.fixture.ts";

const rows: readonly { readonly why: string; readonly json: string; readonly text: string }[] = [
  { why: "a text stays raw", json: '"p@ss\\"word"', text: 'p@ss"word' },
  { why: "also where it looks like something else", json: '"null"', text: "null" },
  { why: "an empty text is empty", json: '""', text: "" },
  { why: "a text of several lines", json: '"-----BEGIN\\nabc\\n"', text: "-----BEGIN\nabc\n" },
  { why: "what was escaped is what it stands for", json: '"\\u0041\\u20ac\\ud83d\\ude00"', text: "A€😀" },
  { why: "a number", json: "5432", text: "5432" },
  { why: "a large integer keeps every digit", json: "12345678901234567890123", text: "12345678901234567890123" },
  { why: "a fraction keeps its zeros", json: "1.10", text: "1.10" },
  { why: "a number beyond all numbers", json: "1e999", text: "1e999" },
  { why: "a boolean", json: "false", text: "false" },
  { why: "null", json: "null", text: "null" },
  { why: "a list is compact JSON", json: '[ 1, "a", null ]', text: '[1,"a",null]' },
  { why: "an object is, too", json: '{"name":"alice", "password": "bob"}', text: '{"name":"alice","password":"bob"}' },
  { why: "an empty object", json: "{ }", text: "{}" },
  { why: "an empty list", json: "[\n]", text: "[]" },
  { why: "& < > in nested values stay as they are", json: '{"uri":"a?b=1&c=<d>"}', text: '{"uri":"a?b=1&c=<d>"}' },
  {
    why: "large integers in nested values, too",
    json: '{"id": [98765432109876543210]}',
    text: '{"id":[98765432109876543210]}',
  },
];

for (const { why, json, text } of rows) {
  test(`a value: ${why}`, () => {
    assert.deepEqual(textsIn(flatten(credentialsOf(`{"type":"t","value":${json}}`)).data), { type: "t", value: text });
  });
}

test("the example of the document", () => {
  const flat = flatten(credentialsOf('{"type":"database","user":{"name":"alice", "password": "bob"}}'));
  assert.equal(flat.type, "servicebinding.io/database");
  assert.deepEqual(textsIn(flat.data), { type: "database", user: '{"name":"alice","password":"bob"}' });
});

const types: readonly { readonly why: string; readonly json: string; readonly type: string; readonly entry: string }[] =
  [
    { why: "none", json: '{"a":"b"}', type: "user-provided", entry: "user-provided" },
    { why: "one", json: '{"type":"postgresql"}', type: "postgresql", entry: "postgresql" },
    { why: "an empty one is none, and stays what it is", json: '{"type":""}', type: "user-provided", entry: "" },
    { why: "a number is none, and stays what it is", json: '{"type":5}', type: "user-provided", entry: "5" },
    { why: "null is none", json: '{"type":null}', type: "user-provided", entry: "null" },
    { why: "too long for one", json: `{"type":"${"t".repeat(254)}"}`, type: "user-provided", entry: "t".repeat(254) },
  ];

for (const { why, json, type, entry } of types) {
  test(`the type of the Secret: ${why}`, () => {
    const flat = flatten(credentialsOf(json));
    assert.equal(flat.type, `servicebinding.io/${type}`);
    assert.equal(textsIn(flat.data).type, entry);
  });
}

test("provider is passed through", () => {
  assert.equal(textsIn(flatten(credentialsOf('{"provider":"bitnami"}')).data).provider, "bitnami");
});

test("every value comes back from its file: texts as they are, all else by its JSON, to the last digit", () => {
  let values = 0;
  fc.assert(
    fc.property(anyCredentials, ({ written, members }) => {
      const flat = new Map(Object.entries(textsIn(flatten(credentialsOf(written)).data)));
      assert.deepEqual(new Set(flat.keys()), new Set([...members.map(([name]) => name), "type"]));
      for (const [name, { compact }] of members) {
        const value: unknown = JSON.parse(compact);
        assert.equal(flat.get(name), typeof value === "string" ? value : compact);
        values++;
      }
    }),
    { numRuns: 1000 },
  );
  assert.ok(values > 1000, `only ${values} values were tried`);
});
