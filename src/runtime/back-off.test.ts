import assert from "node:assert/strict";
import { test } from "node:test";
import { after, backoff, never } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import { seededRandom } from "../base/random.ts";
import { type BackOff, backOffCeilingMs, backOffMs, retryDelayMs } from "./back-off.ts";

const rule: BackOff = { baseMs: 100, capMs: 60_000, maxAfterMs: 600_000 };

test("the ceiling doubles from the base up to the cap", () => {
  const cases = [
    { failures: 1, expected: 100, reason: "the first failure waits the base" },
    { failures: 2, expected: 200, reason: "each failure doubles" },
    { failures: 5, expected: 1_600, reason: "each failure doubles" },
    { failures: 11, expected: 60_000, reason: "never above the cap" },
    { failures: 1_000_000, expected: 60_000, reason: "no overflow however often it fails" },
    { failures: 0, expected: 100, reason: "nonsense counts as the first" },
  ];
  for (const { failures, expected, reason } of cases) assert.equal(backOffCeilingMs(failures, rule), expected, reason);
});

test("a pause lies between half the ceiling and the ceiling", () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.integer(), (failures, seed) => {
      const ceilingMs = backOffCeilingMs(failures, rule);
      const pauseMs = backOffMs(failures, rule, seededRandom(seed));
      assert.ok(pauseMs >= ceilingMs / 2 && pauseMs <= ceilingMs, `${pauseMs} of ${ceilingMs}`);
    }),
  );
});

test("an `after` rule is never undercut below its limit, and no pause is endless", () => {
  const anyDelay = fc.oneof(fc.double(), fc.integer({ min: -10, max: 10_000_000 }));
  fc.assert(
    fc.property(anyDelay, fc.integer({ min: 1, max: 100 }), fc.integer(), (delayMs, failures, seed) => {
      const pause = retryDelayMs(after(delayMs), failures, rule, seededRandom(seed));
      assert.ok(pause);
      const askedMs = Number.isFinite(delayMs) ? Math.min(Math.max(0, delayMs), rule.maxAfterMs) : rule.maxAfterMs;
      assert.equal(pause.floorMs, askedMs);
      assert.ok(pause.delayMs >= askedMs);
      assert.ok(pause.delayMs <= Math.max(rule.capMs, askedMs * 1.1));
    }),
  );
});

test("the first after(0) is at once, repeated ones are not, and `never` is never", () => {
  const random = seededRandom(1);
  assert.equal(retryDelayMs(after(0), 1, rule, random)?.delayMs, 0, "a single conflict costs no time");
  assert.ok((retryDelayMs(after(0), 2, rule, random)?.delayMs ?? 0) >= 50, "a second in a row is no hot loop");
  assert.equal(retryDelayMs(never, 3, rule, random), undefined);
  assert.equal(retryDelayMs(backoff, 1, rule, random)?.floorMs, 0, "a plain back-off may be cut short");
});
