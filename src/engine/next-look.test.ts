import assert from "node:assert/strict";
import { test } from "node:test";
import { nextLook } from "./next-look.ts";

test("what has just begun is looked at more than once a second, what lasts ever less often", () => {
  const table: readonly (readonly [elapsedMs: number, pauseMs: number, reason: string])[] = [
    [0, 800, "it has just begun"],
    [9_600, 800, "still within the first ten seconds"],
    [60_000, 5000, "a twelfth of the time it has taken"],
    [3_600_000, 30_000, "no less often than twice a minute"],
    [-5000, 800, "begun in the future, by a clock that was wrong"],
  ];
  for (const [elapsedMs, pauseMs, reason] of table) {
    assert.equal(nextLook(1_000_000, 1_000_000 + elapsedMs), 1_000_000 + elapsedMs + pauseMs, reason);
  }
});
