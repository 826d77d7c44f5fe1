import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { delay, systemClock } from "./clock.ts";
import { ManualClock } from "./manual-clock.ts";
import { fc } from "./properties.fixture.ts";
import { integerBetween, pick, seededRandom, systemRandom, uuid } from "./random.ts";
import { Redacted } from "./redacted.ts";

test("a manual clock fires timers in the order of their times, and none before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(1000), { maxLength: 20 }), async (delays) => {
      const clock = new ManualClock();
      const fired: { delayMs: number; at: number }[] = [];
      for (const delayMs of delays) clock.setTimer(() => fired.push({ delayMs, at: clock.monotonic() }), delayMs);
      await clock.advance(1000);
      assert.deepEqual(
        fired.map(({ delayMs }) => delayMs),
        [...delays].sort((a, b) => a - b),
      );
      for (const { delayMs, at } of fired) assert.equal(at, delayMs);
    }),
    { numRuns: 20 },
  );
});

test("a jump moves the wall clock and no timer", async () => {
  const clock = new ManualClock(0);
  let hasFired = false;
  clock.setTimer(() => {
    hasFired = true;
  }, 10);
  clock.jump(86_400_000);
  assert.deepEqual([clock.now(), clock.monotonic(), hasFired], [86_400_000, 0, false]);
  await clock.advance(10);
  assert.ok(hasFired);
});

test("a delay ends early when its signal aborts, and leaves no timer behind", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const waiting = delay(clock, 1_000_000, stop.signal);
  stop.abort();
  await waiting;
  assert.equal(clock.timerCount, 0);
});

test("a timer beyond what the host can represent does not fire at once", async () => {
  let hasFired = false;
  const timer = systemClock.setTimer(
    () => {
      hasFired = true;
    },
    2 ** 31 + 1,
  );
  await delay(systemClock, 5);
  timer.cancel();
  assert.equal(hasFired, false);
});

test("a seed gives the same numbers again, and they are spread", () => {
  const draw = (): number[] => {
    const random = seededRandom(7);
    return Array.from({ length: 1000 }, () => random.next());
  };
  const numbers = draw();
  assert.deepEqual(numbers, draw());
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  assert.ok(Math.abs(mean - 0.5) < 0.05, `the mean is ${mean}`);
});

test("numbers, picks and UUIDs are within their bounds", () => {
  for (const random of [systemRandom, seededRandom(1)]) {
    for (let i = 0; i < 200; i++) {
      const number = integerBetween(random, 3, 5);
      assert.ok([3, 4, 5].includes(number));
      assert.ok(["a", "b"].includes(pick(random, ["a", "b"])));
      assert.match(uuid(random), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  }
  assert.throws(() => pick(systemRandom, []), RangeError);
});

test("a redacted value shows itself in no form but on request", () => {
  const canary = "canary-3f9";
  const value = new Redacted({ password: canary });
  const forms = [String(value), JSON.stringify({ value }), inspect(value, { depth: 9, showHidden: true }), `${value}`];
  for (const form of forms) assert.ok(!form.includes(canary), form);
  assert.deepEqual(Object.keys(value), []);
  assert.equal(value.reveal().password, canary);
});
