import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HandClock } from "../base/hand-clock.fixture.ts";
import { Attendance } from "./attendance.ts";
import { type Locks, takeSlot } from "./live-slots.ts";

describe("whether somebody looks", () => {
  it("is no matter of a glance at another tab, ends after some seconds, and begins at once", async () => {
    const clock = new HandClock();
    const told: string[] = [];
    const attendance = new Attendance({
      clock,
      onAway: () => void told.push("away"),
      onBack: () => void told.push("back"),
    });
    attendance.hidden();
    await clock.move(4000);
    attendance.seen();
    await clock.move(60_000);
    assert.deepEqual(told, []);
    attendance.hidden();
    attendance.hidden();
    await clock.move(5000);
    assert.deepEqual([told, attendance.isAway], [["away"], true]);
    attendance.seen();
    attendance.seen();
    assert.deepEqual([told, attendance.isAway], [["away", "back"], false]);
    attendance.gone();
    assert.deepEqual(told, ["away", "back", "away"], "a page that is left does not wait");
  });
});

/** As a browser has them, for all its pages together. */
function browserLocks(): Locks {
  const held = new Set<string>();
  return {
    request: async (name, _, hold) => {
      if (held.has(name)) return hold(null);
      held.add(name);
      try {
        return await hold({ name });
      } finally {
        held.delete(name);
      }
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("places for streams", () => {
  it("are four, and one that goes leaves its place to another", async () => {
    const locks = browserLocks();
    const pages = Array.from({ length: 5 }, () => new AbortController());
    const taken: boolean[] = [];
    for (const { signal } of pages) taken.push(await takeSlot(locks, signal));
    assert.deepEqual(taken, [true, true, true, true, false]);
    pages[1]?.abort();
    await turn();
    assert.equal(await takeSlot(locks, new AbortController().signal), true);
  });

  it("are for everybody where the browser has no locks, or refuses them", async () => {
    const { signal } = new AbortController();
    assert.equal(await takeSlot(undefined, signal), true);
    const refusing: Locks = { request: () => Promise.reject(new Error("denied")) };
    assert.equal(await takeSlot(refusing, signal), true);
  });

  it("are left by who has gone before it was theirs", async () => {
    const locks = browserLocks();
    await takeSlot(locks, AbortSignal.abort());
    await turn();
    const taken: boolean[] = [];
    for (let page = 0; page < 4; page++) taken.push(await takeSlot(locks, new AbortController().signal));
    assert.deepEqual(taken, [true, true, true, true]);
  });
});
