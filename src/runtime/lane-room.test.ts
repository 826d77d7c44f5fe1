import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LaneRoom } from "./lane-room.ts";

const room = (): LaneRoom => new LaneRoom({ alone: 4, beside: 2 });

/** How many come in, one after the other, until the lane is full; ten at most. */
function fill(lanes: LaneRoom, lane: string, nowAt: number): number {
  for (let count = 1; count <= 10; count++) if (lanes.enter(lane, nowAt)) return count;
  return Infinity;
}

describe("room in a lane", () => {
  test("a lane in which there is work alone takes as many as that", () => {
    const lanes = room();
    assert.equal(fill(lanes, "a", 0), 4);
    assert.equal(lanes.leave("a", 0), false, "there is room for another one");
  });

  test("beside another lane, fewer, and so for a moment after the last work there", () => {
    const lanes = room();
    lanes.enter("b", 0);
    assert.equal(fill(lanes, "a", 0), 2);
    lanes.leave("b", 10);
    assert.equal(lanes.leave("a", 20), false);
    assert.equal(lanes.enter("a", 999), true, "b was worked on a moment ago");
    assert.equal(lanes.enter("a", 1000), false, "and is at rest now");
    assert.equal(lanes.enter("a", 1000), true);
  });

  test("one that has become too full stays shut until enough have left it", () => {
    const lanes = room();
    assert.equal(fill(lanes, "a", 0), 4);
    lanes.enter("b", 1);
    assert.deepEqual(
      [lanes.leave("a", 2), lanes.leave("a", 3), lanes.leave("a", 4)],
      [true, true, false],
      "three, two, one",
    );
  });

  test("work in turns in many lanes counts for each of them, also in the lane that was last", () => {
    const lanes = room();
    lanes.enter("a", 0);
    lanes.enter("b", 100);
    lanes.enter("c", 200);
    assert.equal(lanes.enter("c", 300), true, "beside a and b");
    assert.equal(lanes.enter("b", 400), true, "beside c");
    assert.equal(lanes.enter("b", 5000), false, "three, and nothing elsewhere for long");
  });

  test("a lane that nobody is in is never full, however narrow", () => {
    const lanes = new LaneRoom({ alone: 1, beside: 0 });
    lanes.enter("b", 0);
    lanes.enter("a", 0);
    assert.equal(lanes.leave("a", 0), false);
  });
});
