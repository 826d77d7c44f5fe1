import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { ManualClock } from "../../base/manual-clock.ts";
import { SandboxKeeper } from "./sandbox-keeper.ts";

/** A disk that takes so long for each write, and may be full. */
function keeperOn(clock: ManualClock, { tookMs = 100, isFull = false } = {}) {
  const savedAt: number[] = [];
  const save = async (): Promise<void> => {
    savedAt.push(clock.monotonic());
    await new Promise<void>((resolve) => clock.setTimer(resolve, tookMs));
    if (isFull) throw new Error("the disk is full");
  };
  return { keeper: new SandboxKeeper({ clock, logger: silentLogger, save }), savedAt };
}

/** When it had come to an end. */
async function endOf(clock: ManualClock, promise: Promise<void>): Promise<number> {
  await promise;
  return clock.monotonic();
}

test("whoever waits at the same time shares one save; nothing is saved without a change", async () => {
  const clock = new ManualClock();
  const { keeper, savedAt } = keeperOn(clock);
  const ends = Array.from({ length: 100 }, () => endOf(clock, keeper.saved()));
  await clock.advance(10_000);
  assert.deepEqual([savedAt, new Set(await Promise.all(ends)), clock.timerCount], [[0], new Set([100]), 0]);
});

test("a change during a save waits for the next one, which begins after a pause as long as the save was", async () => {
  const clock = new ManualClock();
  const { keeper, savedAt } = keeperOn(clock);
  const first = endOf(clock, keeper.saved());
  await clock.advance(50);
  const others = [endOf(clock, keeper.saved()), endOf(clock, keeper.saved())];
  await clock.advance(10_000);
  assert.deepEqual([savedAt, await first, await Promise.all(others)], [[0, 200], 100, [300, 300]]);
});

test("stopping waits for what is under way and then saves the last state", async () => {
  const clock = new ManualClock();
  const { keeper, savedAt } = keeperOn(clock);
  const first = endOf(clock, keeper.saved());
  await clock.advance(50);
  const stopped = endOf(clock, keeper.stop());
  const late = endOf(clock, keeper.saved());
  await clock.advance(120);
  const later = endOf(clock, keeper.saved());
  await clock.advance(10_000);
  assert.deepEqual([savedAt, await first, await stopped, clock.timerCount], [[0, 100], 100, 200, 0]);
  assert.deepEqual([await late, await later], [50, 170], "nobody waits for a sandbox that has stopped");
});

test("a disk that is full keeps nobody waiting, and is told when the sandbox stops", async () => {
  const clock = new ManualClock();
  const { keeper, savedAt } = keeperOn(clock, { isFull: true });
  const saved = keeper.saved();
  await clock.advance(1000);
  await saved;
  const stopped = keeper.stop();
  stopped.catch(() => {});
  await clock.advance(1000);
  await assert.rejects(stopped, /the disk is full/);
  assert.equal(savedAt.length, 2);
});

test("whoever asks while it starts waits for the save after the first one", async () => {
  const clock = new ManualClock();
  const { keeper, savedAt } = keeperOn(clock);
  const started = endOf(clock, keeper.start());
  const saved = endOf(clock, keeper.saved());
  await clock.advance(1000);
  assert.deepEqual([savedAt, await started, await saved], [[0, 100], 100, 200]);
});
