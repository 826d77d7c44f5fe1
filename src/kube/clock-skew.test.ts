import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { ClockSkew } from "./clock-skew.ts";

test("clocks may differ by a minute, either way; more is too much to act on dates", () => {
  const table: readonly (readonly [skewMs: number, isSkewed: boolean, reason: string])[] = [
    [0, false, "the same time"],
    [60_000, false, "a minute ahead"],
    [60_001, true, "more than a minute ahead"],
    [-60_000, false, "a minute behind"],
    [-60_001, true, "more than a minute behind"],
    [365 * 86_400_000, true, "a year ahead"],
  ];
  for (const [skewMs, isSkewed, reason] of table) {
    const clock = new ManualClock();
    const skew = new ClockSkew(clock);
    skew.observe(clock.now() - skewMs);
    assert.deepEqual([skew.skewMs, skew.isSkewed], [skewMs, isSkewed], reason);
  }
});

test("nothing is suspected before the first answer, and the last answer counts", () => {
  const clock = new ManualClock();
  const skew = new ClockSkew(clock);
  assert.deepEqual([skew.skewMs, skew.isSkewed, skew.isKnown], [0, false, false]);
  skew.observe(clock.now() - 3_600_000);
  assert.equal(skew.isKnown, true);
  assert.equal(skew.isSkewed, true);
  skew.observe(clock.now() - 500);
  assert.deepEqual([skew.skewMs, skew.isSkewed], [500, false]);
});

test("a clock that jumps is noticed before the next answer, and trusted again when it is put right", async () => {
  const clock = new ManualClock();
  const skew = new ClockSkew(clock);
  skew.observe(clock.now());
  await clock.advance(300_000);
  assert.equal(skew.isSkewed, false, "time that passes is no skew");
  clock.jump(86_400_000);
  assert.equal(skew.isSkewed, true);
  clock.jump(-86_400_000);
  assert.equal(skew.isSkewed, false);
});
