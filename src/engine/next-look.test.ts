import assert from "node:assert/strict";
import { test } from "node:test";
import { lookAgain, nextLook } from "./next-look.ts";

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

test("the pending key counts from when it was asked for, if that was later than its intent", () => {
  const [since, now] = [0, 3_600_000];
  const table: readonly (readonly [surroundings: Parameters<typeof lookAgain>[0], pauseMs: number, reason: string])[] =
    [
      [{ now }, 30_000, "nobody knows when it was asked for"],
      [{ now, askedAt: now - 2_000 }, 800, "just now, after an outage"],
      [{ now, askedAt: -5_000 }, 30_000, "for an earlier intent"],
      [{ now, askedAt: now - 2_000, hearsOutside: true }, 30_000, "who makes itself heard is not asked"],
    ];
  for (const [surroundings, pauseMs, reason] of table) {
    assert.equal(lookAgain(surroundings, since), now + pauseMs, reason);
  }
});
