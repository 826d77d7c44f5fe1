import assert from "node:assert/strict";
import { test } from "node:test";
import { goJson, goNumber, goQuote, invalidValue, required, tooMany } from "./field-errors.ts";

test("strings are quoted as Go quotes them", () => {
  for (const [text, expected] of [
    ["plain", '"plain"'],
    ['A"bé\n', '"A\\"bé\\n"'],
    ["\x00\x07\x7f", '"\\x00\\a\\x7f"'],
    ["\u200b😀", '"\\u200b😀"'],
    ["\ud800", '"\\ufffd"'],
  ] as const) {
    assert.equal(goQuote(text), expected);
  }
});

test("numbers and JSON are printed as Go prints them", () => {
  assert.equal(goNumber(0.00001), "1e-05");
  assert.equal(goNumber(1e21), "1e+21");
  assert.equal(goNumber(0.5), "0.5");
  assert.equal(goJson({ b: 1, a: ["<x>", null] }), '{"a":["\\u003cx\\u003e",null],"b":1}');
});

test("a value too deep to print is cut off, not fatal", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  assert.match(invalidValue("x", deep, "d").message, /…/);
});

test("the root has no field", () => {
  assert.deepEqual(required(""), { reason: "FieldValueRequired", message: "Required value", field: "<nil>" });
  assert.equal(tooMany("a", 3, 1).message, "Too many: 3: must have at most 1 item");
});
