import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { KeyedHeap } from "./keyed-heap.ts";

const operation = fc.oneof(
  fc.record({
    op: fc.constant("set" as const),
    key: fc.integer({ min: 0, max: 15 }),
    rank: fc.integer({ min: 0, max: 8 }),
  }),
  fc.record({ op: fc.constant("delete" as const), key: fc.integer({ min: 0, max: 15 }) }),
  fc.record({ op: fc.constant("pop" as const) }),
);

test("equals a sorted list under any sequence of set, delete and pop; ties in the order they were set", () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
      const heap = new KeyedHeap();
      let model: { key: string; rank: number }[] = [];
      for (const step of operations) {
        const key = "key" in step ? `k${step.key}` : undefined;
        if (step.op === "pop") {
          assert.equal(heap.pop(), model.shift()?.key);
        } else if (key !== undefined) {
          const wasIn = model.some((entry) => entry.key === key);
          model = model.filter((entry) => entry.key !== key);
          if (step.op === "delete") assert.equal(heap.delete(key), wasIn);
          else {
            heap.set(key, step.rank);
            const behind = model.findIndex((entry) => entry.rank > step.rank);
            model.splice(behind < 0 ? model.length : behind, 0, { key, rank: step.rank });
            assert.equal(heap.rankOf(key), step.rank);
          }
        }
        assert.equal(heap.size, model.length);
        assert.equal(heap.peek()?.key, model[0]?.key);
      }
      const rest: string[] = [];
      for (let key = heap.pop(); key !== undefined; key = heap.pop()) rest.push(key);
      assert.deepEqual(
        rest,
        model.map((entry) => entry.key),
      );
    }),
  );
});

test("refuses NaN, which has no place in an order", () => {
  assert.throws(() => new KeyedHeap().set("a", Number.NaN), RangeError);
});
