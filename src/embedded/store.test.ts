import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import type { KubeObject } from "../kube/objects.ts";
import { StatusError } from "./status-error.ts";
import { Store } from "./store.ts";

const thing = (name: string, value: number, namespace = "a"): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name, namespace },
  value,
});

const expired = (error: unknown): boolean => error instanceof StatusError && error.status === 410;

test("a write gets the next revision, and only the written object changes", () => {
  const store = new Store();
  const first = store.write("things", "a/x", thing("x", 1));
  const second = store.write("things", "a/y", thing("y", 1));
  assert.deepEqual([first.metadata.resourceVersion, second.metadata.resourceVersion], ["1", "2"]);
  assert.equal(store.get("things", "a/x"), first);
  assert.equal(store.revision, 2);
});

test("keys are listed in order, and a namespace is not taken for another that begins like it", () => {
  const store = new Store();
  for (const [namespace, name] of [
    ["a-b", "x"],
    ["a", "z"],
    ["a", "b"],
    ["ab", "x"],
    ["a.b", "x"],
  ] as const) {
    store.write("things", `${namespace}/${name}`, thing(name, 0, namespace));
  }
  assert.deepEqual(store.keys("things", "a"), ["a/b", "a/z"]);
  assert.deepEqual(store.keys("things"), ["a-b/x", "a.b/x", "a/b", "a/z", "ab/x"]);
});

test("compaction answers 410 for what came before, and not for what comes after", () => {
  const store = new Store();
  store.write("things", "a/x", thing("x", 1));
  store.write("things", "a/x", thing("x", 2));
  store.compact();
  assert.throws(() => store.changesAfter("things", 1), expired);
  assert.throws(() => store.listAt("things", 1), expired);
  assert.throws(() => store.changesAfter("never written", 1), expired, "a kind first seen after the compaction");
  store.write("things", "a/x", undefined);
  assert.deepEqual(
    store.changesAfter("things", 2).map((change) => change.type),
    ["DELETED"],
  );
});

test("history beyond its limit is dropped in bulk and said so", () => {
  const store = new Store({ historyLimit: 10 });
  for (let i = 1; i <= 25; i++) store.write("things", "a/x", thing("x", i));
  assert.throws(() => store.changesAfter("things", 1), expired);
  assert.equal(store.changesAfter("things", 20).length, 5);
});

const write = fc.record({ name: fc.constantFrom("p", "q", "r", "s"), remove: fc.boolean(), value: fc.nat(5) });

test("the list at any revision is what the list was then, and the changes between two lead from one to the other", () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 40 }), fc.nat(), (writes, at) => {
      const store = new Store();
      const snapshots = [new Map<string, KubeObject>()];
      for (const { name, remove, value } of writes) {
        const key = `a/${name}`;
        if (remove && !store.get("things", key)) continue;
        store.write("things", key, remove ? undefined : thing(name, value));
        snapshots.push(new Map(store.list("things").map((object) => [`a/${object.metadata.name}`, object])));
      }
      const revision = at % snapshots.length;
      assert.deepEqual(store.listAt("things", revision), [...(snapshots[revision]?.values() ?? [])]);
      const replayed = new Map(snapshots[revision]);
      for (const change of store.changesAfter("things", revision)) {
        assert.equal(replayed.has(change.key), change.type !== "ADDED", `${change.type} of ${change.key}`);
        if (change.type === "DELETED") replayed.delete(change.key);
        else replayed.set(change.key, change.object);
      }
      const byKey = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);
      assert.deepEqual([...replayed.values()].sort(byKey), store.list("things"));
    }),
  );
});
