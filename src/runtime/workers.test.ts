import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { after, backoff, KeyturnError, never, type RetryRule } from "../base/errors.ts";
import { ManualClock, settle } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { integerBetween, seededRandom } from "../base/random.ts";
import { type LogLine, recordingLogger } from "../base/recording-logger.fixture.ts";
import { Conflict } from "../kube/errors.ts";
import { DueTimes } from "./due-times.ts";
import { WorkQueue } from "./queue.ts";
import { type Reconcile, type WorkerObserver, Workers } from "./workers.ts";

function start(
  reconcile: Reconcile,
  options: { count?: number; observer?: WorkerObserver; mayWork?: () => boolean } = {},
) {
  const clock = new ManualClock();
  const lines: LogLine[] = [];
  const logger = recordingLogger(lines);
  const backOff = { baseMs: 100, capMs: 1_000 };
  const queue = new WorkQueue({ clock, random: seededRandom(1), backOff });
  const dueTimes = new DueTimes({ clock, logger, onDue: (key) => queue.add(key, "drift") });
  const workers = new Workers({ queue, reconcile, dueTimes, clock, logger, stuckAfterMs: 60_000, ...options });
  workers.start();
  return { clock, lines, queue, dueTimes, workers };
}

const settled = { kind: "settled" } as const;
const fault = (retry: RetryRule, message = "the service said no"): KeyturnError =>
  new KeyturnError("ServiceFailed", message, { retry });

describe("outcomes", () => {
  test("settled clears the due time, recheck sets it, and the key comes back then", async () => {
    const calls: number[] = [];
    const { clock, queue, dueTimes, workers } = start(async () => {
      calls.push(clock.monotonic());
      return calls.length === 1 ? { kind: "recheck", at: clock.now() + 5_000 } : settled;
    });
    queue.add("a");
    await settle();
    assert.equal(dueTimes.size, 1);
    await clock.advance(60_000);
    assert.deepEqual(calls, [0, 5_000]);
    assert.equal(dueTimes.size, 0);
    await workers.stop();
  });

  test("a thrown error follows its retry rule", async () => {
    const cases: { retry: RetryRule; earliestMs: number; latestMs: number; reason: string }[] = [
      { retry: backoff, earliestMs: 50, latestMs: 100, reason: "back-off of the first failure" },
      { retry: after(3_000), earliestMs: 3_000, latestMs: 3_300, reason: "the time that was asked for" },
      { retry: never, earliestMs: Infinity, latestMs: Infinity, reason: "not without a change" },
    ];
    for (const { retry, earliestMs, latestMs, reason } of cases) {
      const calls: number[] = [];
      const { clock, queue, workers } = start(async () => {
        calls.push(clock.monotonic());
        if (calls.length === 1) throw fault(retry);
        return settled;
      });
      queue.add("a");
      await clock.advance(100_000);
      const secondAt = calls[1] ?? Infinity;
      assert.ok(secondAt >= earliestMs && secondAt <= latestMs, `${reason}: ${secondAt}`);
      await workers.stop();
    }
  });
});

describe("logging", () => {
  test("a conflict is silent and tried again at once", async () => {
    let calls = 0;
    const { lines, queue, workers } = start(async () => {
      if (++calls === 1) throw new Conflict("written before");
      return settled;
    });
    queue.add("a");
    await settle();
    assert.equal(calls, 2);
    assert.deepEqual(lines, []);
    await workers.stop();
  });

  test("a failure is logged when it changes, and its end is told; not every attempt", async () => {
    const outcomes = ["x", "x", "x", "y", "y", undefined, "y"];
    let calls = 0;
    const { clock, lines, queue, workers } = start(async () => {
      const message = outcomes[calls++];
      if (message !== undefined) throw fault(backoff, message);
      return settled;
    });
    queue.add("a");
    await clock.advance(10_000);
    queue.add("a");
    await settle();
    const seen = lines.map(
      (line) => `${line.message}${line.fields.error instanceof Error ? ` ${line.fields.error.message}` : ""}`,
    );
    assert.deepEqual(seen, ["reconcile failed x", "reconcile failed y", "reconcile works again", "reconcile failed y"]);
    await workers.stop();
  });

  test("what failed and is gone now is not said to work again", async () => {
    const { clock, lines, queue, workers } = start(async () => {
      if (lines.length === 0) throw fault(backoff, "x");
      return { kind: "settled", isOver: true };
    });
    queue.add("a");
    await clock.advance(10_000);
    assert.deepEqual(
      lines.map(({ message }) => message),
      ["reconcile failed"],
    );
    await workers.stop();
  });
});

describe("nothing kills the pool", () => {
  const evils: { reconcile: Reconcile; reason: string }[] = [
    { reconcile: () => Promise.reject(undefined), reason: "rejects with nothing" },
    { reconcile: () => Promise.reject("text"), reason: "rejects with a text" },
    { reconcile: () => { throw new TypeError("before any promise"); }, reason: "throws synchronously" }, // biome-ignore format: one line each
    { reconcile: () => JSON.parse("null"), reason: "returns no promise and no outcome" },
    { reconcile: async () => JSON.parse('{"kind":"other"}'), reason: "returns an unknown outcome" },
    { reconcile: async () => ({ kind: "recheck", at: Number.NaN }), reason: "returns an instant that is none" },
  ];
  for (const { reconcile, reason } of evils) {
    test(`a reconcile that ${reason}`, async () => {
      let isEvil = true;
      let good = 0;
      const { clock, lines, queue, workers } = start(
        (key, signal) => {
          if (isEvil) return reconcile(key, signal);
          good++;
          return Promise.resolve(settled);
        },
        { count: 1 },
      );
      queue.add("a");
      await settle();
      assert.equal(lines.filter((line) => line.level === "error").length, 1, "said once");
      isEvil = false;
      await clock.advance(1_000);
      queue.add("b");
      await settle();
      assert.equal(good, 2, "the same worker goes on, and the key was tried again");
      await workers.stop();
    });
  }
});

describe("a reconcile that never returns", () => {
  test("is reported again and again, counted, never doubled, and keeps no other key waiting", async () => {
    const stuck: number[] = [];
    let hangs = 0;
    let others = 0;
    const release = Promise.withResolvers<typeof settled>();
    const { clock, lines, queue, workers } = start(
      (key) => {
        if (key !== "hangs") return Promise.resolve(settled).finally(() => others++);
        hangs++;
        return hangs === 1 ? release.promise : Promise.resolve(settled);
      },
      { count: 2, observer: { stuckChanged: (count) => stuck.push(count) } },
    );
    queue.add("hangs");
    await settle();
    queue.add("hangs");
    queue.add("other");
    await clock.advance(130_000);
    assert.equal(hangs, 1, "never two at once");
    assert.equal(others, 1);
    assert.deepEqual(stuck, [1]);
    assert.equal(lines.filter((line) => /has not returned/.test(line.message)).length, 2);
    assert.deepEqual(workers.runningKeys(), ["hangs"]);
    release.resolve(settled);
    await clock.advance(0);
    assert.equal(hangs, 2, "the wish that came meanwhile is not lost");
    assert.deepEqual(stuck, [1, 0]);
    await workers.stop();
  });

  test("fails liveness when all workers are stuck, or when it lasts beyond hope", async () => {
    const never = new Promise<typeof settled>(() => {});
    const { clock, queue, workers } = start(() => never, { count: 2 });
    assert.equal(workers.state().ready, true);
    queue.add("a");
    await clock.advance(61_000);
    assert.equal(workers.state().ready, true, "one of two is no reason to restart");
    queue.add("b");
    await clock.advance(61_000);
    assert.deepEqual(workers.state(), { ready: false, reason: "all 2 workers are stuck" });

    const lone = start(() => never, { count: 2 });
    lone.queue.add("a");
    await lone.clock.advance(30 * 60_000);
    assert.deepEqual(lone.workers.state(), { ready: false, reason: "reconcile of a has not returned for 1800 s" });
  });
});

test("stop tells running reconciles, waits for them, and starts nothing new", async () => {
  const started: string[] = [];
  const { lines, queue, workers } = start(
    (key, signal) =>
      new Promise((_, reject) => {
        started.push(key);
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
    { count: 1 },
  );
  queue.add("a");
  queue.add("b");
  await settle();
  await workers.stop();
  assert.deepEqual(started, ["a"]);
  assert.deepEqual(lines, [], "being told to stop is no failure");
});

test("while work is not allowed keys are put back, and worked on when it is again", async () => {
  let isLeader = false;
  let calls = 0;
  const reconcile: Reconcile = async () => {
    calls++;
    return settled;
  };
  const { clock, lines, queue, workers } = start(reconcile, { mayWork: () => isLeader });
  queue.add("a");
  await clock.advance(10_000);
  assert.equal(calls, 0);
  isLeader = true;
  await clock.advance(1_000);
  assert.equal(calls, 1);
  assert.deepEqual(lines, []);
  await workers.stop();
});

test("while work is not allowed, thousands of keys rest where they are instead of going round", async () => {
  let asked = 0;
  let isAllowed = false;
  const mayWork = (): boolean => {
    asked++;
    return isAllowed;
  };
  const { clock, queue, workers } = start(async () => settled, { mayWork, count: 4 });
  for (let index = 0; index < 5_000; index++) queue.add(`key-${index}`);
  await clock.advance(10_000);
  assert.ok(asked <= 4 * 25, `asked ${asked} times in 10 s by 4 workers`);
  isAllowed = true;
  await clock.advance(2_000);
  assert.deepEqual(queue.depth, { person: 0, drift: 0, delayed: 0, running: 0 });
  await workers.stop();
});

test("many quick keys give the event loop its turns", async () => {
  let now = 0;
  const clock = new ManualClock();
  const turns: number[] = [];
  const busy = {
    now: () => clock.now(),
    monotonic: () => now,
    setTimer: (callback: () => void, delayMs: number) => {
      if (delayMs === 0) turns.push(now);
      return clock.setTimer(callback, delayMs);
    },
  };
  const queue = new WorkQueue({ clock: busy, random: seededRandom(1) });
  const reconcile: Reconcile = async () => {
    now += 5;
    return settled;
  };
  const dueTimes = { set: () => {}, clear: () => {} };
  const workers = new Workers({ queue, reconcile, dueTimes, clock: busy, logger: recordingLogger([]), count: 1 });
  for (let i = 0; i < 20; i++) queue.add(`k${i}`);
  workers.start();
  await clock.advance(1_000);
  assert.equal(turns.length, 5, "every 20 ms of 100 ms of work");
  await workers.stop();
});

test("random reconciles: never two at once on one key, at most N at once, and all keys end settled", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = seededRandom(seed);
      const active = new Set<string>();
      // Collected, since an exception inside a reconcile is only one more failure.
      const problems: string[] = [];
      const dirty = new Set<string>();
      let faulty = true;
      const { clock, queue, workers } = start(
        async (key) => {
          if (active.has(key)) problems.push(`${key} twice at once`);
          active.add(key);
          if (active.size > 3) problems.push(`${active.size} at once`);
          dirty.delete(key);
          await new Promise<void>((resolve) => clock.setTimer(resolve, integerBetween(random, 0, 500)));
          active.delete(key);
          if (!faulty || random.next() < 0.5) return settled;
          dirty.add(key);
          throw random.next() < 0.5 ? fault(backoff) : new Conflict("written before");
        },
        { count: 3 },
      );
      for (let i = 0; i < 15; i++) {
        const key = `k${integerBetween(random, 0, 5)}`;
        dirty.add(key);
        queue.add(key, random.next() < 0.5 ? "person" : "drift");
        await clock.advance(integerBetween(random, 0, 200));
      }
      faulty = false;
      await clock.advance(10_000);
      assert.deepEqual(problems, []);
      assert.deepEqual([...dirty], []);
      await workers.stop();
      assert.equal(clock.timerCount, 0);
    }),
    { numRuns: 40 },
  );
});
