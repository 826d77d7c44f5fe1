import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { instantText, sentenceParts } from "./sentence-parts.ts";

const NAMES = new Map([["040b-f0", "orders-a"]]);

describe("a sentence of the server", () => {
  for (const [text, drawn, reason] of [
    ["Nothing to do.", ["text Nothing to do."], "nothing in it is drawn otherwise"],
    ["", ["text "], "empty"],
    [
      "At 2026-11-29T02:41:12Z, in 10d: it is due.",
      ["text At ", "instant 2026-11-29 02:41:12Z", "text , in 10d: it is due."],
      "an instant in the midst",
    ],
    ["2026-11-29T02:41:12.123Z", ["instant 2026-11-29 02:41:12.123Z"], "nothing but an instant, as exact as it was"],
    ["due 2026-02-30T02:41:12Z", ["text due 2026-02-30T02:41:12Z"], "no day of the calendar"],
    [
      "orders-a (040b-f0), made at 2026-11-17T02:41:12Z",
      ["key orders-a", "text , made at ", "instant 2026-11-17 02:41:12Z"],
      "a key that is known, and an instant",
    ],
    [
      "ended (2026-11-17T02:41:12Z)",
      ["text ended (", "instant 2026-11-17 02:41:12Z", "text )"],
      "an instant in brackets is no id",
    ],
    ["orders-b (040b-f0)", ["text orders-b (040b-f0)"], "the id is another key's"],
    ["it was due (RotationDue).", ["text it was due (RotationDue)."], "no id at all"],
  ] as const) {
    it(`${JSON.stringify(text)}: ${reason}`, () => {
      assert.deepEqual(
        sentenceParts(text, NAMES).map((part) => `${part.kind} ${part.text}`),
        drawn,
      );
    });
  }

  it("keeps ids where nobody has named the keys", () => {
    assert.deepEqual(sentenceParts("orders-a (040b-f0)"), [{ kind: "text", text: "orders-a (040b-f0)" }]);
  });
});

describe("an instant", () => {
  it("has one form, and words where it does not come", () => {
    assert.equal(instantText(Date.UTC(2026, 10, 18, 10, 21, 5)), "2026-11-18 10:21:05Z");
    assert.equal(instantText(Infinity), "never");
    assert.equal(instantText(Number.NaN), "never");
  });
});
