import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { DueTimes, jitter } from "./due-times.ts";

const DAY_MS = 86_400_000;

interface Fired {
  readonly key: string;
  readonly at: number;
}

function newDueTimes(options: { recheckMs?: number } = {}): { clock: ManualClock; due: DueTimes; fired: Fired[] } {
  const clock = new ManualClock();
  const fired: Fired[] = [];
  const onDue = (key: string): void => void fired.push({ key, at: clock.now() });
  return { clock, fired, due: new DueTimes({ clock, logger: silentLogger, onDue, ...options }) };
}

const keys = (fired: readonly Fired[]): string[] => fired.map((entry) => entry.key);

describe("due times", () => {
  test("earliest first, each at its time, with one timer for all", async () => {
    const { clock, due, fired } = newDueTimes();
    const startAt = clock.now();
    due.set("late", startAt + 300);
    due.set("early", startAt + 100);
    due.set("middle", startAt + 200);
    assert.equal(clock.timerCount, 1);
    await clock.advance(1_000);
    assert.deepEqual(fired, [
      { key: "early", at: startAt + 100 },
      { key: "middle", at: startAt + 200 },
      { key: "late", at: startAt + 300 },
    ]);
    assert.equal(clock.timerCount, 0, "idle means no timer");
  });

  test("set again moves, clear forgets, Infinity is never, the past is now, NaN is refused", async () => {
    const { clock, due, fired } = newDueTimes();
    const startAt = clock.now();
    due.set("moved", startAt + 100);
    due.set("moved", startAt + 500);
    due.set("cleared", startAt + 100);
    due.clear("cleared");
    due.set("never", startAt + 100);
    due.set("never", Infinity);
    due.set("past", startAt - DAY_MS);
    assert.throws(() => due.set("broken", Number.NaN), RangeError);
    await clock.advance(0);
    assert.deepEqual(keys(fired), ["past"]);
    await clock.advance(499);
    assert.deepEqual(keys(fired), ["past"]);
    await clock.advance(1);
    assert.deepEqual(keys(fired), ["past", "moved"]);
    assert.equal(due.size, 0);
  });

  for (const days of [24, 25, 49.8, 400, 36_500]) {
    test(`fires after ${days} days, to the millisecond and not before`, async () => {
      const { clock, due, fired } = newDueTimes({ recheckMs: 30 * DAY_MS });
      const dueAt = clock.now() + days * DAY_MS;
      due.set("key", dueAt);
      await clock.advance(days * DAY_MS - 1);
      assert.deepEqual(fired, []);
      await clock.advance(1);
      assert.deepEqual(fired, [{ key: "key", at: dueAt }]);
    });
  }

  test("a clock set forward is noticed within the recheck time", async () => {
    const { clock, due, fired } = newDueTimes({ recheckMs: 60_000 });
    due.set("key", clock.now() + DAY_MS);
    await clock.advance(30_000);
    clock.jump(DAY_MS);
    await clock.advance(29_999);
    assert.deepEqual(fired, []);
    await clock.advance(1);
    assert.deepEqual(keys(fired), ["key"]);
  });

  test("a clock set back: fires when the wall clock says so, not when the old timer ends", async () => {
    const { clock, due, fired } = newDueTimes();
    const dueAt = clock.now() + 10_000;
    due.set("key", dueAt);
    clock.jump(-3_600_000);
    await clock.advance(3_609_999);
    assert.deepEqual(fired, []);
    await clock.advance(1);
    assert.deepEqual(fired, [{ key: "key", at: dueAt }]);
  });

  test("a key may be set again from within its call, also to the past, without an endless loop", async () => {
    const clock = new ManualClock();
    let calls = 0;
    const due = new DueTimes({
      clock,
      logger: silentLogger,
      onDue: (key) => {
        if (++calls < 5) due.set(key, clock.now() - 1);
      },
    });
    due.set("key", clock.now());
    await clock.advance(0);
    assert.equal(calls, 5);
  });

  test("a key that an earlier call of the same turn clears or moves does not fire; a throwing call stops nobody", async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    const due = new DueTimes({
      clock,
      logger: silentLogger,
      onDue: (key) => {
        fired.push(key);
        due.clear("cleared");
        if (key === "first") due.set("moved", clock.now() + 50);
        if (key === "first") throw new Error("broken consumer");
      },
    });
    const dueAt = clock.now() + 10;
    for (const key of ["first", "cleared", "moved", "last"]) due.set(key, dueAt);
    await clock.advance(10);
    assert.deepEqual(fired, ["first", "last"]);
    await clock.advance(50);
    assert.deepEqual(fired, ["first", "last", "moved"]);
  });

  test("stop forgets everything", async () => {
    const { clock, due, fired } = newDueTimes();
    due.set("a", clock.now() + 1);
    due.stop();
    due.set("b", clock.now() + 1);
    await clock.advance(10);
    assert.deepEqual(fired, []);
    assert.equal(clock.timerCount, 0);
  });
});

const step = fc.oneof(
  fc.record({ op: fc.constant("set" as const), key: fc.nat(9), inMs: fc.integer({ min: -5_000, max: 40 * DAY_MS }) }),
  fc.record({ op: fc.constant("set" as const), key: fc.nat(9), inMs: fc.integer({ min: 0, max: 5_000 }) }),
  fc.record({ op: fc.constant("set" as const), key: fc.nat(9), inMs: fc.nat(12) }),
  fc.record({ op: fc.constant("advance" as const), ms: fc.nat(12) }),
  fc.record({ op: fc.constant("clear" as const), key: fc.nat(9) }),
  fc.record({ op: fc.constant("jump" as const), ms: fc.integer({ min: -50 * DAY_MS, max: 50 * DAY_MS }) }),
  fc.record({ op: fc.constant("advance" as const), ms: fc.nat(30_000) }),
);

test("any set, clear, jump and wait: nothing fires before its time, twice, out of order within a turn, or is forgotten", async () => {
  const recheckMs = 10_000;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = new ManualClock();
      const expected = new Map<string, number>();
      const turn = { at: Number.NaN, lastDueAt: Number.NEGATIVE_INFINITY };
      // Collected, since an exception inside the call would be caught there.
      const problems: string[] = [];
      const onDue = (key: string): void => {
        const dueAt = expected.get(key) ?? Number.NaN;
        if (Number.isNaN(dueAt)) problems.push(`${key} fired although it was not set`);
        if (dueAt > clock.now()) problems.push(`${key} fired ${dueAt - clock.now()} ms early`);
        if (turn.at === clock.monotonic() && dueAt < turn.lastDueAt) problems.push(`${key} fired out of order`);
        turn.at = clock.monotonic();
        turn.lastDueAt = dueAt;
        expected.delete(key);
      };
      const due = new DueTimes({ clock, logger: silentLogger, recheckMs, onDue });
      for (const each of steps) {
        if (each.op === "set") {
          expected.set(`k${each.key}`, clock.now() + each.inMs);
          due.set(`k${each.key}`, clock.now() + each.inMs);
          turn.at = Number.NaN;
        } else if (each.op === "clear") {
          expected.delete(`k${each.key}`);
          due.clear(`k${each.key}`);
        } else if (each.op === "jump") clock.jump(each.ms);
        else await clock.advance(each.ms);
        assert.ok(clock.timerCount <= 1, "more than one timer");
        assert.equal(due.size, expected.size);
      }
      assert.deepEqual(problems, []);
      const beforeAt = clock.now();
      await clock.advance(recheckMs);
      for (const [key, dueAt] of expected) assert.ok(dueAt > beforeAt, `${key} was due and has not fired`);
    }),
    { numRuns: 200 },
  );
});

test("jitter depends on the UID alone, lies in [0, span) and spreads", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 10 * DAY_MS }), (uid, spanMs) => {
      const value = jitter(uid, spanMs);
      assert.ok(Number.isInteger(value) && value >= 0 && value < spanMs);
      assert.equal(jitter(uid, spanMs), value);
    }),
  );
  assert.equal(jitter("a", 0), 0);
  assert.equal(jitter("a", -5), 0);
  const buckets = new Set(Array.from({ length: 200 }, (_, index) => Math.floor(jitter(`uid-${index}`, 1_000) / 100)));
  assert.equal(buckets.size, 10, "two hundred UIDs reach every tenth of the span");
});
