import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { IdleHeap } from "./idle-heap.ts";

const MB = 1024 * 1024;

/** A heap that shrinks to 20 MB whenever it is asked to. */
function stage() {
  const clock = new ManualClock();
  const seen = { usedBytes: 50 * MB, releases: 0, isIdle: false };
  const heap = {
    usedBytes: () => seen.usedBytes,
    release: () => {
      seen.releases++;
      seen.usedBytes = 20 * MB;
    },
  };
  return { clock, seen, idleHeap: new IdleHeap({ heap, clock, isIdle: () => seen.isIdle }) };
}

test("nothing is given back while there is work, nor in a moment of rest; then once", async () => {
  const { clock, seen, idleHeap } = stage();
  await clock.advance(60_000);
  seen.isIdle = true;
  await clock.advance(1000);
  seen.isIdle = false;
  await clock.advance(1000);
  assert.equal(seen.releases, 0);
  seen.isIdle = true;
  await clock.advance(2000);
  assert.equal(seen.releases, 1);
  await clock.advance(3_600_000);
  assert.equal(seen.releases, 1, "there was nothing more to give back");
  idleHeap.stop();
});

test("whoever never rests gives back all the same, every two minutes, where it is worth it", async () => {
  const { clock, seen, idleHeap } = stage();
  await clock.advance(119_000);
  assert.equal(seen.releases, 0);
  await clock.advance(1000);
  assert.equal(seen.releases, 1);
  seen.usedBytes = 30 * MB;
  await clock.advance(119_000);
  assert.equal(seen.releases, 1);
  await clock.advance(1000);
  assert.equal(seen.releases, 2);
  await clock.advance(3_600_000);
  assert.equal(seen.releases, 2, "there was nothing more to give back");
  idleHeap.stop();
});

test("what has piled up again is given back, but not again and again", async () => {
  const { clock, seen, idleHeap } = stage();
  seen.isIdle = true;
  await clock.advance(2000);
  for (let times = 0; times < 20; times++) {
    seen.usedBytes = 30 * MB;
    await clock.advance(5000);
  }
  assert.equal(seen.releases, 7);
  idleHeap.stop();
  seen.usedBytes = 30 * MB;
  await clock.advance(600_000);
  assert.equal(seen.releases, 7, "stopped");
});
