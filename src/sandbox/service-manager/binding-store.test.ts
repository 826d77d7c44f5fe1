import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { BindingStore } from "./binding-store.ts";
import type { Criterion } from "./query.ts";
import type { BindingRecord, Labels } from "./records.ts";

function binding(sequence: number, name: string, labels: Labels): BindingRecord {
  const id = `id-${sequence}`;
  return {
    id,
    sequence,
    instanceId: "i",
    parameters: {},
    context: {},
    createdAt: 0,
    startedTick: 0,
    listedFromTick: 0,
    name,
    labels,
    updatedAt: 0,
    ready: true,
    lastOperation: {
      id: `op-${sequence}`,
      type: "create",
      resourceId: id,
      correlationId: "",
      startedAt: 0,
      startedTick: 0,
      state: "succeeded",
      updatedAt: 0,
    },
  };
}

const equal = (key: string, value: string): Criterion => ({ key, operator: "eq", values: [value] });

test("a look-up by name, id or mark among many bindings looks at those it finds", () => {
  const store = new BindingStore();
  for (let i = 0; i < 1000; i++) store.add(binding(i, `b${i}`, { cluster: ["c"], owner: [`o${i}`] }));
  assert.equal(store.listed(0, [], [equal("cluster", "c"), equal("owner", "o7")]).length, 1);
  assert.equal(store.listed(0, [equal("name", "b7")], []).length, 1);
  assert.equal(store.listed(0, [equal("id", "id-7")], []).length, 1);
  assert.equal(store.listed(0, [equal("name", "none")], [equal("cluster", "c")]).length, 0);
  assert.equal(store.listed(0, [], []).length, 1000);
});

test("whatever is added, changed and removed: narrowing never loses what a full look would find", () => {
  const name = fc.constantFrom("a", "b", "c");
  const labels = fc.dictionary(fc.constantFrom("k", "l"), fc.uniqueArray(name, { minLength: 1 }));
  const change = fc.record({ at: fc.nat(9), name, labels, isRemoval: fc.boolean() });
  fc.assert(
    fc.property(fc.array(fc.record({ name, labels })), fc.array(change), name, (added, changes, wanted) => {
      const store = new BindingStore();
      for (const [index, each] of added.entries()) store.add(binding(index, each.name, each.labels));
      for (const each of changes) {
        const found = store.get(`id-${each.at}`);
        if (found && each.isRemoval) store.remove(found);
        else if (found) store.change(found, each);
      }
      const all = Array.from(store.all());
      assert.deepEqual(
        store.listed(0, [equal("name", wanted)], []),
        all.filter((each) => each.name === wanted),
      );
      assert.deepEqual(
        store.listed(0, [], [equal("k", wanted)]),
        all.filter((each) => Object.hasOwn(each.labels, "k") && each.labels.k?.includes(wanted)),
      );
    }),
  );
});
