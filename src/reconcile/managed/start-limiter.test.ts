import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { fc } from "../../base/properties.fixture.ts";
import { StartLimiter } from "./start-limiter.ts";

/** Whoever is told to wait comes back at that time, as the queue does. Returns who started when, in order. */
async function startAll(
  limiter: StartLimiter,
  clock: ManualClock,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly at: number }[]> {
  const started: { id: string; at: number }[] = [];
  const waiting = new Map(ids.map((id) => [id, clock.now()]));
  while (waiting.size > 0) {
    const next = Math.min(...waiting.values());
    if (next > clock.now()) await clock.advance(next - clock.now());
    for (const [id, at] of waiting) {
      if (at > clock.now()) continue;
      const slotAt = limiter.admit("group", id);
      if (slotAt > clock.now()) waiting.set(id, slotAt);
      else {
        waiting.delete(id);
        started.push({ id, at: clock.now() });
      }
    }
  }
  return started;
}

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `key-${index}`);

test("everybody starts, in the order they came, and never more than the rate within any second", async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 1, max: 20 }),
    async (count, perSecond) => {
      const clock = new ManualClock();
      const beganAt = clock.now();
      const started = await startAll(new StartLimiter({ clock, perSecond }), clock, ids(count));
      assert.deepEqual(
        started.map(({ id }) => id),
        ids(count),
      );
      for (const { at } of started) {
        // Slots may lie between milliseconds, so a second is given one of them as a margin.
        const within = started.filter((other) => other.at >= at && other.at < at + 999);
        assert.ok(within.length <= perSecond, `${within.length} of ${perSecond} from ${at - beganAt}`);
      }
      const lastAt = started.at(-1)?.at ?? beganAt;
      assert.ok(lastAt - beganAt <= (count / perSecond) * 1000 + 1, "no slot is left empty");
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test("groups do not wait for one another", () => {
  const clock = new ManualClock();
  const limiter = new StartLimiter({ clock, perSecond: 1 });
  assert.equal(limiter.admit("a", "1"), clock.now());
  assert.equal(limiter.admit("b", "2"), clock.now());
  assert.equal(limiter.admit("a", "3"), clock.now() + 1000);
});

test("a slot is kept for whoever comes back, early or late, and asking again does not cost another", async () => {
  const clock = new ManualClock();
  const limiter = new StartLimiter({ clock, perSecond: 1 });
  limiter.admit("a", "first");
  const slotAt = limiter.admit("a", "second");
  await clock.advance(300);
  assert.equal(limiter.admit("a", "second"), slotAt, "early");
  assert.equal(limiter.admit("a", "third"), slotAt + 1000, "the next one in the queue is not pushed back by it");
  await clock.advance(5000);
  assert.ok(limiter.admit("a", "second") <= clock.now(), "late");
});

test("those whom an outage kept from their slots do not start together when it is over", async () => {
  const clock = new ManualClock();
  const perSecond = 5;
  const limiter = new StartLimiter({ clock, perSecond });
  for (const id of ids(50)) limiter.admit("group", id);
  await clock.advance(600_000);
  const overAt = clock.now();
  const started = await startAll(limiter, clock, ids(50));
  for (let second = 0; second < 10; second++) {
    const [from, to] = [overAt + second * 1000, overAt + (second + 1) * 1000];
    const within = started.filter(({ at }) => at >= from && at < to);
    assert.equal(within.length, perSecond, `second ${second}`);
  }
});

test("whoever always comes late gets to start all the same", async () => {
  const clock = new ManualClock();
  const limiter = new StartLimiter({ clock, perSecond: 2 });
  let waiting = ids(20).filter((id) => limiter.admit("group", id) > clock.now());
  for (let round = 0; waiting.length > 0; round++) {
    assert.ok(round < 20, `${waiting.length} still wait`);
    await clock.advance(15_000);
    waiting = waiting.filter((id) => limiter.admit("group", id) > clock.now());
  }
});

test("time that passed unused is not saved up", async () => {
  const clock = new ManualClock();
  const limiter = new StartLimiter({ clock, perSecond: 2 });
  limiter.admit("a", "1");
  await clock.advance(60_000);
  const slots = ids(4).map((id) => limiter.admit("a", id) - clock.now());
  assert.deepEqual(slots, [0, 500, 1000, 1500]);
});

test("a wall clock that jumps moves no slot", async () => {
  const clock = new ManualClock();
  const limiter = new StartLimiter({ clock, perSecond: 1 });
  limiter.admit("a", "first");
  limiter.admit("a", "second");
  clock.jump(-3_600_000);
  assert.equal(limiter.admit("a", "second"), clock.now() + 1000);
  clock.jump(7_200_000);
  assert.equal(limiter.admit("a", "second"), clock.now() + 1000);
});

test("those who never come back are forgotten in the end, those who wait are not", async () => {
  const clock = new ManualClock();
  const limiter = new StartLimiter({ clock, perSecond: 1000 });
  for (const id of ids(20_000)) limiter.admit("a", id);
  await clock.advance(30_000);
  limiter.admit("slow", "taken");
  const slots = ids(100).map((id) => limiter.admit("slow", `waiting-${id}`));
  assert.deepEqual(
    ids(100).map((id) => limiter.admit("slow", `waiting-${id}`)),
    slots,
  );
});
