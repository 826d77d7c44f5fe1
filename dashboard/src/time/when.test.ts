import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bothTexts, utcDay, utcText } from "./when.ts";

describe("words for times", () => {
  for (const [at, words, reason] of [
    [Date.UTC(2026, 10, 18, 10, 21, 5), "2026-11-18 10:21:05 UTC", "an ordinary instant"],
    [Date.parse("0001-01-01T00:00:00Z"), "0001-01-01 00:00:00 UTC", "what Go writes for a time that was never set"],
    [Date.UTC(9999, 11, 31), "9999-12-31 00:00:00 UTC", "the last day that a document can say"],
    [8.64e15 * 2, "9999-12-31 23:59:59 UTC", "beyond every calendar"],
    [Infinity, "never", "an instant that does not come"],
    [Number.NaN, "never", "no date at all"],
  ] as const) {
    it(`${words}: ${reason}`, () => {
      assert.equal(utcText(at), words);
      assert.equal(utcDay(at), words.split(" ")[0]);
      assert.equal(typeof bothTexts(at), "string");
    });
  }
});
