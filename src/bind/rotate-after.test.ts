import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { DEFAULT_ROTATE_AFTER, parseRotateAfter } from "./rotate-after.ts";

const HOUR_MS = 3_600_000;

const table: readonly (readonly [text: string, ms: number | undefined, why: string])[] = [
  ["1h", HOUR_MS, "the least"],
  ["59m59s999ms", undefined, "a millisecond less"],
  ["8760h", 8760 * HOUR_MS, "the most"],
  ["365d", 8760 * HOUR_MS, "the most, in days"],
  ["8760h1ms", undefined, "a millisecond more"],
  ["100h12m12s", 360_732_000, "the document's own example of a Go duration"],
  ["30d", 720 * HOUR_MS, "days, as the document writes them"],
  ["4w", 672 * HOUR_MS, "weeks"],
  ["1.5d", 36 * HOUR_MS, "fractions"],
  ["", undefined, "nothing"],
  ["0h", undefined, "zero"],
  ["-720h", undefined, "a sign"],
  ["720 h", undefined, "a space"],
];

for (const [text, ms, why] of table) {
  test(`${JSON.stringify(text)} is ${ms ?? "refused"}: ${why}`, () => {
    if (ms === undefined) assert.throws(() => parseRotateAfter(text), InvalidValue);
    else assert.deepEqual(parseRotateAfter(text), { text, ms });
  });
}

test("the default is what its text says", () => {
  assert.deepEqual(parseRotateAfter(DEFAULT_ROTATE_AFTER.text), DEFAULT_ROTATE_AFTER);
});

test("the minimum can be lowered, and is named with the flag that does it", () => {
  assert.equal(parseRotateAfter("30s", 1000).ms, 30_000);
  assert.throws(() => parseRotateAfter("999ms", 1000), /at least 1s \(--min-rotate-after of the operator\)/);
});
