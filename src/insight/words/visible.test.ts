import assert from "node:assert/strict";
import { test } from "node:test";
import { oneLine } from "./one-line.ts";
import { visible } from "./visible.ts";

test("what turns letters around or moves a terminal is written as what it is, and all else stays", () => {
  const table: readonly (readonly [text: string, shown: string, reason: string])[] = [
    ["a\u202egnp.exe", "a\\u202egnp.exe", "right-to-left override"],
    ["\u200e\u200f\u061c", "\\u200e\\u200f\\u061c", "marks"],
    ["\u2066a\u2069", "\\u2066a\\u2069", "isolates"],
    ["\u001b[2J\u0007\u009b", "\\u001b[2J\\u0007\\u009b", "what a terminal obeys"],
    ["a\u2028b", "a\\u2028b", "ends of lines that are none"],
    ["a\tb\r\nc", "a\tb\r\nc", "tabs and lines"],
    ["שלום, 世界 😀 Ünïcödé", "שלום, 世界 😀 Ünïcödé", "letters of any script"],
  ];
  for (const [text, shown, reason] of table) assert.equal(visible(text), shown, reason);
});

test("a message on one line has nothing of the kind", () => {
  assert.equal(oneLine("no \u202ekcul\n  | ^\n at all"), "no \\u202ekcul at all");
});
