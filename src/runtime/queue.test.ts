import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { after, backoff, never, type RetryRule } from "../base/errors.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { seededRandom } from "../base/random.ts";
import { type Priority, type Work, WorkQueue, type WorkQueueOptions } from "./queue.ts";

const succeeded = { kind: "succeeded" } as const;
const failed = (retry: RetryRule) => ({ kind: "failed", retry }) as const;
const empty = { person: 0, drift: 0, delayed: 0, running: 0 };

function newQueue(options: Partial<Omit<WorkQueueOptions, "clock" | "random">> = {}): {
  clock: ManualClock;
  queue: WorkQueue;
} {
  const clock = new ManualClock();
  const backOff = { baseMs: 100, capMs: 10_000, maxAfterMs: 60_000 };
  return { clock, queue: new WorkQueue({ clock, random: seededRandom(1), backOff, ...options }) };
}

async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth.person + queue.depth.drift > 0) {
    const work = await queue.take();
    if (!work) break;
    keys.push(work.key);
    queue.done(work.key, succeeded);
  }
  return keys;
}

describe("order", () => {
  test("first in, first out, each key once", async () => {
    const { queue } = newQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    assert.deepEqual(await takeAll(queue), ["a", "b", "c"]);
  });

  test("what a person triggered goes before drift checks, and a waiting drift key moves up", async () => {
    const { queue } = newQueue();
    queue.add("drift-1", "drift");
    queue.add("drift-2", "drift");
    queue.add("person-1", "person");
    queue.add("drift-2", "person");
    queue.add("person-1", "drift");
    assert.deepEqual(await takeAll(queue), ["person-1", "drift-2", "drift-1"]);
  });

  test("drift keys do not starve: one is taken after each burst", async () => {
    const { queue } = newQueue({ personBurst: 3 });
    queue.add("d1", "drift");
    queue.add("d2", "drift");
    for (let i = 1; i <= 7; i++) queue.add(`p${i}`, "person");
    assert.deepEqual(await takeAll(queue), ["p1", "p2", "p3", "d1", "p4", "p5", "p6", "d2", "p7"]);
  });

  test("takers are served in the order they came", async () => {
    const { queue } = newQueue();
    const takes = [queue.take(), queue.take()];
    queue.add("a");
    queue.add("b");
    assert.deepEqual(
      (await Promise.all(takes)).map((work) => work?.key),
      ["a", "b"],
    );
  });
});

describe("one at a time", () => {
  test("a key added while it is worked on is handed out again afterwards, not before", async () => {
    const { queue } = newQueue();
    queue.add("a", "drift");
    assert.equal((await queue.take())?.key, "a");
    queue.add("a", "drift");
    queue.add("a", "person");
    queue.add("a", "drift");
    assert.deepEqual(queue.depth, { ...empty, running: 1 });
    queue.done("a", succeeded);
    assert.equal((await queue.take())?.priority, "person", "the most urgent of the wishes counts");
  });

  test("giving back a key that was not taken is a mistake in the caller", async () => {
    const { queue } = newQueue();
    queue.add("a");
    assert.throws(() => queue.done("a", succeeded), /was given back but not taken/);
    assert.throws(() => queue.done("b", succeeded), /was given back but not taken/);
  });
});

describe("lanes", () => {
  const laneOf = (key: string): string => key.charAt(0);

  test("a lane that is full is passed over, whatever the priority, until somebody leaves it", async () => {
    const { queue } = newQueue({ laneOf, laneWidth: 2 });
    for (const key of ["a1", "a2", "a3", "a4"]) queue.add(key, "person");
    for (const key of ["b1", "b2"]) queue.add(key, "drift");
    const taken = [await queue.take(), await queue.take(), await queue.take(), await queue.take()];
    assert.deepEqual(
      taken.map((work) => work?.key),
      ["a1", "a2", "b1", "b2"],
    );
    assert.deepEqual(queue.depth, { ...empty, person: 2, running: 4 });
    const next = queue.take();
    queue.done("b1", succeeded);
    queue.done("a2", succeeded);
    assert.equal((await next)?.key, "a3");
  });

  test("a lane is narrower while there is work in another one, and as wide as before a moment after it", async () => {
    const { clock, queue } = newQueue({ laneOf, laneWidth: 3, laneWidthBeside: 1 });
    for (const key of ["a1", "a2", "a3", "a4", "a5", "b1"]) queue.add(key);
    const keys: (string | undefined)[] = [];
    for (let count = 0; count < 4; count++) keys.push((await queue.take())?.key);
    assert.deepEqual(keys, ["a1", "a2", "a3", "b1"]);
    queue.done("b1", succeeded);
    queue.done("a1", succeeded);
    queue.done("a2", succeeded);
    const later = queue.take();
    await clock.advance(500);
    queue.add("b2");
    assert.equal((await later)?.key, "b2", "a3 is still there, and a is full with it");
    queue.done("b2", succeeded);
    await clock.advance(1000);
    const next = [queue.take(), queue.take()];
    queue.done("a3", succeeded);
    assert.deepEqual(
      (await Promise.all(next)).map((work) => work?.key),
      ["a4", "a5"],
    );
  });

  test("a key that fails or comes again leaves its place to the next of its lane", async () => {
    const { clock, queue } = newQueue({ laneOf, laneWidth: 1 });
    queue.add("a1");
    queue.add("a2");
    assert.equal((await queue.take())?.key, "a1");
    queue.add("a1");
    queue.done("a1", failed(backoff));
    assert.equal((await queue.take())?.key, "a2");
    queue.done("a2", succeeded);
    await clock.advance(10_000);
    assert.equal((await queue.take())?.key, "a1");
    queue.done("a1", succeeded);
    assert.deepEqual(queue.depth, empty);
  });

  test("a key whose lane has changed meanwhile leaves the one that it was taken in", async () => {
    let lane = "first";
    const { queue } = newQueue({ laneOf: (key) => (key === "moves" ? lane : "first"), laneWidth: 1 });
    queue.add("moves");
    await queue.take();
    lane = "second";
    queue.add("stays");
    queue.done("moves", succeeded);
    assert.equal((await queue.take())?.key, "stays");
  });

  const longPauses = { baseMs: 100, capMs: 300_000 };
  const outage: RetryRule = { kind: "backoff", isShared: true };

  /** The keys that are taken within so long, each of which fails or succeeds as it is told. */
  const worked = async (
    { clock, queue }: ReturnType<typeof newQueue>,
    ms: number,
    resultOf: (key: string) => ReturnType<typeof failed> | typeof succeeded,
  ): Promise<readonly string[]> => {
    const keys: string[] = [];
    for (let passed = 0; passed <= ms; passed += 100) {
      while (queue.depth.person + queue.depth.drift > 0) {
        const work = await queue.take();
        if (!work) break;
        keys.push(work.key);
        queue.done(work.key, resultOf(work.key));
      }
      if (passed < ms) await clock.advance(100);
    }
    return keys;
  };

  test("one success ends the pauses of all in the lane that failed by what they share, one after the other", async () => {
    const world = newQueue({ laneOf, backOff: longPauses });
    const { queue } = world;
    const keys = Array.from({ length: 50 }, (_, index) => `a${index + 1}`);
    for (const key of [...keys, "a-alone", "b1"]) queue.add(key);
    // Such pauses are longer than the rest of the test.
    await worked(world, 120_000, (key) => failed(key === "a-alone" ? backoff : outage));
    assert.deepEqual(queue.depth, { ...empty, delayed: 52 });
    queue.add("a0");
    assert.deepEqual(await worked(world, 0, () => succeeded), ["a0"], "not all at the same moment");
    const first = await worked(world, 500, () => succeeded);
    assert.ok(first.length > 10 && first.length < 40, `${first.length} of 50 in the first half of a second`);
    const rest = await worked(world, 500, () => succeeded);
    assert.deepEqual([...first, ...rest].sort(), keys.sort(), "neither another lane, nor what failed for itself");
  });

  test("however many have waited, none of them waits much longer", async () => {
    const world = newQueue({ laneOf, backOff: longPauses });
    const { queue } = world;
    for (let index = 1; index <= 1000; index++) queue.add(`a${index}`);
    await worked(world, 120_000, () => failed(outage));
    queue.add("a0");
    assert.equal((await worked(world, 3_000, () => succeeded)).length, 1001);
  });

  test("a pause that the other side has asked for is not cut short by anybody's success", async () => {
    const world = newQueue({ laneOf });
    const { queue } = world;
    queue.add("a1");
    await worked(world, 0, () => failed({ kind: "after", delayMs: 30_000, isShared: true }));
    queue.add("a0");
    assert.deepEqual(await worked(world, 29_900, () => succeeded), ["a0"]);
    assert.deepEqual(await worked(world, 5_000, () => succeeded), ["a1"]);
  });

  test("successes that mean nothing make nobody try for ever: the next one counts after a pause that doubles", async () => {
    const world = newQueue({ laneOf, backOff: longPauses });
    const { queue } = world;
    queue.add("a1");
    await worked(world, 120_000, () => failed(outage));
    let attempts = 0;
    for (let second = 0; second < 600; second++) {
      queue.add("a0");
      const keys = await worked(world, 1_000, (key) => (key === "a0" ? succeeded : failed(outage)));
      attempts += keys.filter((key) => key === "a1").length;
    }
    assert.ok(attempts > 3 && attempts < 12, `${attempts} attempts`);
  });

  test("what stands in a full lane is forgotten at the end like everything else", async () => {
    const { queue } = newQueue({ laneOf, laneWidth: 1 });
    for (const key of ["a1", "a2"]) queue.add(key);
    await queue.take();
    const closed = queue.close();
    queue.done("a1", succeeded);
    await closed;
    assert.deepEqual(queue.depth, empty);
  });
});

describe("retries", () => {
  const failOnce = async (queue: WorkQueue, retry: RetryRule): Promise<void> => {
    queue.add("a", "drift");
    await queue.take();
    queue.done("a", failed(retry));
  };

  test("a failed key comes back after its back-off with its count, and success resets it", async () => {
    const { clock, queue } = newQueue();
    await failOnce(queue, backoff);
    assert.equal(queue.depth.delayed, 1);
    await clock.advance(49);
    assert.equal(queue.depth.drift, 0, "not before half the base");
    await clock.advance(51);
    assert.equal((await queue.take())?.failures, 1);
    queue.done("a", succeeded);
    assert.deepEqual(queue.depth, empty);
    await failOnce(queue, backoff);
    await clock.advance(100);
    assert.equal((await queue.take())?.failures, 1, "counted from one again");
  });

  test("a success resets the count also when the key was asked for again meanwhile", async () => {
    const { clock, queue } = newQueue();
    await failOnce(queue, backoff);
    await clock.advance(100);
    assert.equal((await queue.take())?.failures, 1);
    queue.add("a");
    queue.done("a", succeeded);
    assert.equal((await queue.take())?.failures, 0);
  });

  const addsDuringPause: { retry: RetryRule; priority: Priority; readyAtOnce: boolean; reason: string }[] = [
    { retry: backoff, priority: "person", readyAtOnce: true, reason: "a person cuts a back-off short" },
    { retry: backoff, priority: "drift", readyAtOnce: false, reason: "a drift check waits with it" },
    { retry: after(5_000), priority: "person", readyAtOnce: false, reason: "a pause the other side asked for stands" },
  ];
  for (const { retry, priority, readyAtOnce, reason } of addsDuringPause) {
    test(`an add during the pause: ${reason}`, async () => {
      const { clock, queue } = newQueue();
      await failOnce(queue, retry);
      queue.add("a", priority);
      assert.equal(queue.depth.person + queue.depth.drift, readyAtOnce ? 1 : 0, reason);
      await clock.advance(5_500);
      assert.deepEqual(await takeAll(queue), ["a"], "once, not twice");
      assert.equal(clock.timerCount, 0);
    });
  }

  test("an add while it runs and then fails follows the same rules", async () => {
    const { clock, queue } = newQueue();
    queue.add("a");
    await queue.take();
    queue.add("a", "person");
    queue.done("a", failed(after(5_000)));
    await clock.advance(4_999);
    assert.equal(queue.depth.person, 0);
    await clock.advance(1);
    assert.equal(queue.depth.person, 1);
  });

  test("a postponed key rests, counts no failure, and keeps what was asked for meanwhile", async () => {
    const retries: number[] = [];
    const { clock, queue } = newQueue({ observer: { retried: (delayMs) => void retries.push(delayMs) } });
    queue.add("a", "drift");
    await queue.take();
    queue.add("a", "person");
    queue.done("a", { kind: "postponed", delayMs: 500 });
    queue.add("a", "person");
    await clock.advance(499);
    assert.deepEqual(queue.depth, { ...empty, delayed: 1 });
    await clock.advance(1);
    const work = await queue.take();
    assert.deepEqual([work?.priority, work?.failures, retries], ["person", 0, []]);
    queue.done("a", succeeded);
    assert.deepEqual(queue.depth, empty);
  });

  test("`never` waits for the next add, and forgets the failures", async () => {
    const { clock, queue } = newQueue();
    await failOnce(queue, never);
    assert.deepEqual(queue.depth, empty);
    assert.equal(clock.timerCount, 0);
    queue.add("a");
    assert.equal((await queue.take())?.failures, 0);
  });

  test("a single conflict is tried again at once", async () => {
    const { queue } = newQueue();
    await failOnce(queue, after(0));
    assert.equal(queue.depth.drift, 1);
  });
});

describe("the end", () => {
  test("drain works off what is ready, forgets what waits for a retry, takes nothing new", async () => {
    const { clock, queue } = newQueue();
    queue.add("retry");
    await queue.take();
    queue.done("retry", failed(backoff));
    queue.add("a");
    queue.add("b");
    let isDrained = false;
    const drained = queue.drain().then(() => {
      isDrained = true;
    });
    assert.equal(queue.add("late"), false);
    assert.deepEqual(await takeAll(queue), ["a", "b"]);
    await drained;
    assert.ok(isDrained);
    assert.equal(await queue.take(), undefined);
    assert.equal(clock.timerCount, 0);
  });

  test("close hands out nothing more and resolves when the running ones are back", async () => {
    const { queue } = newQueue();
    queue.add("running");
    queue.add("waiting");
    await queue.take();
    queue.add("running");
    let isClosed = false;
    const closed = queue.close().then(() => {
      isClosed = true;
    });
    assert.equal(await queue.take(), undefined);
    assert.equal(isClosed, false);
    queue.done("running", failed(backoff));
    await closed;
    assert.deepEqual(queue.depth, empty);
  });

  test("a taker that gives up by its signal, or is waiting at close, gets nothing and loses nothing", async () => {
    const { queue } = newQueue();
    const abort = new AbortController();
    const givenUp = queue.take(abort.signal);
    const waiting = queue.take();
    abort.abort();
    assert.equal(await givenUp, undefined);
    queue.add("a");
    assert.equal((await waiting)?.key, "a");
    queue.done("a", succeeded);
    const atClose = queue.take();
    await queue.close();
    assert.equal(await atClose, undefined);
    assert.equal(await queue.take(abort.signal), undefined);
  });
});

test("the observer hears depth, waiting, work and retries", async () => {
  const heard: string[] = [];
  const { clock, queue } = newQueue({
    observer: {
      taken: (priority, waitedMs) => heard.push(`taken ${priority} ${waitedMs}`),
      finished: (workMs) => heard.push(`finished ${workMs}`),
      retried: (delayMs) => heard.push(`retried ${delayMs > 0}`),
      depthChanged: (depth) => heard.push(JSON.stringify(Object.values(depth))),
    },
  });
  queue.add("a", "drift");
  await clock.advance(7);
  await queue.take();
  await clock.advance(3);
  queue.done("a", failed(backoff));
  assert.deepEqual(heard, ["[0,1,0,0]", "taken drift 7", "[0,0,0,1]", "finished 3", "retried true", "[0,0,1,0]"]);
});

const key = fc.constantFrom("a", "b", "c", "d", "e");
const rules: readonly RetryRule[] = [backoff, after(0), after(700), after(90_000), never];
const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant("add" as const),
      key,
      priority: fc.constantFrom<Priority>("person", "drift"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("take" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("finish" as const), index: fc.nat(4), fails: fc.option(fc.nat(4)) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("advance" as const), ms: fc.nat(3_000) }) },
);

/** Drives a queue and remembers what it owes: a key is owed from an add, or a retried failure, until it is taken. */
class Driver {
  readonly clock = new ManualClock();
  readonly queue = new WorkQueue({ clock: this.clock, random: seededRandom(5), personBurst: 2 });
  readonly held: string[] = [];
  readonly owed = new Set<string>();
  readonly problems: string[] = [];

  add(name: string, priority: Priority): void {
    if (this.queue.add(name, priority)) this.owed.add(name);
  }

  take(): void {
    void this.queue.take().then((work: Work | undefined) => {
      if (!work) return;
      if (this.held.includes(work.key)) this.problems.push(`${work.key} was handed out twice at once`);
      if (!this.owed.delete(work.key)) this.problems.push(`${work.key} was handed out although nobody asked for it`);
      this.held.push(work.key);
    });
  }

  finish(index: number, retry: RetryRule | undefined): void {
    const [name] = this.held.splice(index % Math.max(1, this.held.length), 1);
    if (name === undefined) return;
    if (retry && retry.kind !== "never") this.owed.add(name);
    this.queue.done(name, retry ? failed(retry) : succeeded);
  }
}

test("under random adds, failures and priorities no key is held twice and none is lost; nothing is left over", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
      const driver = new Driver();
      for (const step of commands) {
        if (step.op === "add") driver.add(step.key, step.priority);
        else if (step.op === "take") driver.take();
        else if (step.op === "finish") driver.finish(step.index, step.fails === null ? undefined : rules[step.fails]);
        else await driver.clock.advance(step.ms);
        for (let i = 0; i < 4; i++) await undefined;
      }
      for (let round = 0; round < 12; round++) {
        driver.take();
        await undefined;
        await driver.clock.advance(100_000);
        while (driver.held.length > 0) driver.finish(0, undefined);
      }
      assert.deepEqual(driver.problems, []);
      assert.deepEqual([...driver.owed], [], "lost");
      assert.deepEqual(driver.queue.depth, empty);
      assert.equal(driver.clock.timerCount, 0);
    }),
    { numRuns: 150 },
  );
});

test("close at any moment: what runs may finish, nothing is handed out after it, and it always resolves", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 30 }), fc.boolean(), async (commands, drains) => {
      const driver = new Driver();
      for (const step of commands) {
        if (step.op === "add") driver.add(step.key, step.priority);
        else if (step.op === "take") driver.take();
        else if (step.op === "finish") driver.finish(step.index, step.fails === null ? undefined : rules[step.fails]);
        for (let i = 0; i < 4; i++) await undefined;
      }
      let isOver = false;
      void (drains ? driver.queue.drain() : driver.queue.close()).then(() => {
        isOver = true;
      });
      const heldBefore = driver.held.length;
      for (let round = 0; round < 12; round++) {
        driver.take();
        for (let i = 0; i < 4; i++) await undefined;
        if (!drains) assert.ok(driver.held.length <= heldBefore, "handed out after close");
        driver.finish(0, backoff);
      }
      for (let i = 0; i < 4; i++) await undefined;
      assert.ok(isOver, "never resolved");
      assert.deepEqual(driver.problems, []);
      assert.deepEqual(driver.queue.depth, empty);
      assert.equal(driver.clock.timerCount, 0);
    }),
    { numRuns: 150 },
  );
});

test("a hundred thousand keys cost little: no quadratic step inside", async () => {
  const { queue } = newQueue();
  for (let i = 0; i < 100_000; i++) queue.add(`k${i}`, i % 2 === 0 ? "person" : "drift");
  assert.equal((await takeAll(queue)).length, 100_000);
  assert.deepEqual(queue.depth, empty);
});
