import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { LaneHeap } from "./lane-heap.ts";

test("whoever stands in a lane that is shut is passed over, and comes in turn when it is opened", () => {
  const heap = new LaneHeap();
  heap.add("a1", "a", 1);
  heap.add("b1", "b", 2);
  heap.add("a2", "a", 3);
  heap.shut("a");
  assert.equal(heap.size, 3);
  assert.equal(heap.pop(), "b1");
  assert.deepEqual([heap.pop(), heap.isOpen, heap.size], [undefined, false, 2]);
  heap.open("a");
  assert.deepEqual([heap.pop(), heap.pop(), heap.size], ["a1", "a2", 0]);
});

const step = fc.oneof(
  fc.record({ op: fc.constantFrom("add", "delete"), key: fc.nat(20) }),
  fc.record({ op: fc.constantFrom("pop", "clear"), key: fc.constant(0) }),
  fc.record({ op: fc.constantFrom("shut", "open"), key: fc.nat(2) }),
);

test("it hands out what a sorted list would, of the lanes that are open", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new LaneHeap();
      const shut = new Set<string>();
      let model: { readonly key: string; readonly lane: string; readonly rank: number }[] = [];
      for (const [rank, { op, key: number }] of steps.entries()) {
        const [key, lane] = [`k${number}`, `l${number % 3}`];
        if (op === "add" && !model.some((one) => one.key === key)) {
          heap.add(key, lane, rank);
          model.push({ key, lane, rank });
        } else if (op === "delete") {
          heap.delete(key, lane);
          model = model.filter((one) => one.key !== key);
        } else if (op === "shut") {
          heap.shut(`l${number}`);
          shut.add(`l${number}`);
        } else if (op === "open") {
          heap.open(`l${number}`);
          shut.delete(`l${number}`);
        } else if (op === "pop") {
          const expected = model.find((one) => !shut.has(one.lane));
          assert.equal(heap.pop(), expected?.key);
          model = model.filter((one) => one !== expected);
        } else if (op === "clear" && rank % 10 === 0) {
          assert.deepEqual([...heap.clear()].sort(), model.map((one) => one.key).sort());
          model = [];
        }
        assert.equal(heap.size, model.length);
        assert.equal(heap.isOpen, model.some((one) => !shut.has(one.lane))); // biome-ignore format: one claim a line
      }
    }),
  );
});
