import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LOOK_WORDS, lookOf } from "./key-looks.ts";

describe("how a key looks", () => {
  for (const [key, words, reason] of [
    [{ state: "active" }, "active", "it is the one that is published"],
    [{ state: "retired" }, "retired", "it goes on working for a while"],
    [{ state: "retired", heldFor: "web" }, "held back", "it would be gone if nobody ran on it"],
    [{ state: "deleted", heldFor: "web" }, "deleted", "nobody holds what is gone"],
  ] as const) {
    it(`${words}: ${reason}`, () => {
      assert.equal(LOOK_WORDS[lookOf({ id: "a", name: "a", createdAt: 0, ...key })], words);
    });
  }
});
