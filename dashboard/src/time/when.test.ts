import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../src/base/properties.fixture.ts";
import * as commands from "../../../src/insight/words/when.ts";
import { bothTexts, isoInstant, relative, shortLength, utcText } from "./when.ts";

const DAY_MS = 86_400_000;

describe("words for times", () => {
  it("are those of the commands", () => {
    const instant = fc.oneof(fc.integer({ min: -1e13, max: 1e13 }), fc.constantFrom(Infinity, 0, 999, 1000));
    fc.assert(
      fc.property(instant, fc.integer({ min: 0, max: 2e12 }), (at, now) => {
        assert.equal(relative(at, now), commands.relative(at, now));
        assert.equal(shortLength(at), commands.shortLength(at));
      }),
    );
  });

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
      assert.equal(typeof bothTexts(at), "string");
    });
  }

  it("says instants to machines as documents do", () => {
    assert.equal(isoInstant(Date.UTC(2026, 0, 2, 3, 4, 5)), "2026-01-02T03:04:05Z");
    assert.equal(shortLength(8 * DAY_MS + 20 * 3_600_000), "8d20h");
  });
});
