import assert from "node:assert/strict";
import { test } from "node:test";
import { nextLook } from "./next-look.ts";

test("what has just begun is looked at every second, what lasts ever less often, and at least once a minute", () => {
  const table: readonly (readonly [elapsedMs: number, pauseMs: number, reason: string])[] = [
    [0, 1000, "it has just begun"],
    [10_000, 1000, "still within the first ten seconds"],
    [60_000, 6000, "a tenth of the time it has taken"],
    [3_600_000, 60_000, "no less often than once a minute"],
    [-5000, 1000, "begun in the future, by a clock that was wrong"],
  ];
  for (const [elapsedMs, pauseMs, reason] of table) {
    assert.equal(nextLook(1_000_000, 1_000_000 + elapsedMs), 1_000_000 + elapsedMs + pauseMs, reason);
  }
});
