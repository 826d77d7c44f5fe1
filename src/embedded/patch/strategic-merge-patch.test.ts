import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { StatusError } from "../status-error.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const definitions: Definitions = {
  Container: {
    type: "object",
    properties: {
      name: { type: "string" },
      image: { type: "string" },
      args: { type: "array", items: { type: "string" } },
      env: {
        type: "array",
        items: { type: "object" },
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "name",
      },
    },
  },
};
const schema: Schema = {
  type: "object",
  properties: {
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-patch-strategy": "merge" },
    containers: {
      type: "array",
      items: { allOf: [{ $ref: "#/components/schemas/Container" }], default: {} },
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
    },
    volumes: {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-patch-strategy": "merge,retainKeys",
      "x-kubernetes-patch-merge-key": "name",
    },
    strategy: { type: "object", "x-kubernetes-patch-strategy": "retainKeys" },
    whole: { type: "object", "x-kubernetes-patch-strategy": "replace" },
    labels: { type: "object", additionalProperties: { type: "string" } },
    tolerations: { type: "array", items: { type: "object" } },
  },
};

const container = (name: string): JsonObject => ({ name, image: "i", env: [{ name: "A", value: "1" }] });
const target: JsonObject = {
  finalizers: ["f/a", "f/b", "f/c", "f/d"],
  containers: [container("c1"), container("c2"), container("c3")],
  volumes: [{ name: "v1", emptyDir: {} }],
  strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } },
  whole: { a: 1, b: 2 },
  labels: { a: "1", b: "2" },
  tolerations: [{ key: "a" }],
};

const names = (list: Json | undefined): Json =>
  Array.isArray(list) ? list.map((item: Json) => (item as JsonObject).name ?? null) : null;

describe("applyStrategicMergePatch", () => {
  const table: { reason: string; patch: JsonObject; field: string; expected: Json | undefined }[] = [
    { reason: "null deletes a field", patch: { labels: null }, field: "labels", expected: undefined },
    {
      reason: "maps are merged",
      patch: { labels: { a: null, c: "3" } },
      field: "labels",
      expected: { b: "2", c: "3" },
    },
    {
      reason: "$patch: replace replaces a map",
      patch: { labels: { $patch: "replace", z: "1" } },
      field: "labels",
      expected: { z: "1" },
    },
    { reason: "$patch: delete empties a map", patch: { labels: { $patch: "delete" } }, field: "labels", expected: {} },
    {
      reason: "a map with strategy replace is replaced",
      patch: { whole: { c: 3 } },
      field: "whole",
      expected: { c: 3 },
    },
    {
      reason: "a list without strategy is replaced",
      patch: { tolerations: [{ key: "b" }] },
      field: "tolerations",
      expected: [{ key: "b" }],
    },
    {
      reason: "scalars are merged, the patch's first in its order",
      patch: { finalizers: ["f/d", "f/a", "f/e"] },
      field: "finalizers",
      expected: ["f/b", "f/c", "f/d", "f/a", "f/e"],
    },
    {
      reason: "scalars are deleted through a parallel list",
      patch: { "$deleteFromPrimitiveList/finalizers": ["f/d", "f/f", "f/a"] },
      field: "finalizers",
      expected: ["f/b", "f/c"],
    },
    {
      reason: "a parallel list that is none is ignored",
      patch: { "$deleteFromPrimitiveList/finalizers": "f/a" },
      field: "finalizers",
      expected: ["f/a", "f/b", "f/c", "f/d"],
    },
    {
      reason: "scalars are put in order",
      patch: { "$setElementOrder/finalizers": ["f/d", "f/e", "f/a"], finalizers: ["f/e"] },
      field: "finalizers",
      expected: ["f/b", "f/c", "f/d", "f/e", "f/a"],
    },
    {
      reason: "$retainKeys drops what it does not list",
      patch: { strategy: { $retainKeys: ["type"], type: "Recreate" } },
      field: "strategy",
      expected: { type: "Recreate" },
    },
    {
      reason: "$retainKeys of an item",
      patch: { volumes: [{ name: "v1", secret: { secretName: "s" }, $retainKeys: ["name", "secret"] }] },
      field: "volumes",
      expected: [{ name: "v1", secret: { secretName: "s" } }],
    },
    {
      reason: "directives on a new item have nothing to act on and fall away",
      patch: { volumes: [{ name: "v4", emptyDir: {}, $retainKeys: ["name", "emptyDir"] }] },
      field: "volumes",
      expected: [
        { name: "v4", emptyDir: {} },
        { name: "v1", emptyDir: {} },
      ],
    },
    {
      reason: "items are merged by key, down to the lists in them",
      patch: { containers: [{ name: "c2", image: "j", env: [{ name: "B", value: "2" }] }] },
      field: "containers",
      expected: [
        container("c1"),
        {
          name: "c2",
          image: "j",
          env: [
            { name: "B", value: "2" },
            { name: "A", value: "1" },
          ],
        },
        container("c3"),
      ],
    },
    {
      reason: "what is new where nothing was carries no nulls and no directives",
      patch: { extra: { a: null, b: [{ $patch: "delete", name: "x" }, { c: null }] } },
      field: "extra",
      expected: { b: [{}] },
    },
    {
      reason: "a value of another type is replaced",
      patch: { labels: ["x"] },
      field: "labels",
      expected: ["x"],
    },
  ];
  for (const { reason, patch, field, expected } of table) {
    it(reason, () => {
      assert.deepEqual(applyStrategicMergePatch(target, patch, schema, definitions)[field], expected, reason);
    });
  }

  const orders: { reason: string; patch: JsonObject; expected: Json }[] = [
    { reason: "a new item goes in front", patch: { containers: [{ name: "c4" }] }, expected: ["c4", "c1", "c2", "c3"] },
    {
      reason: "items are deleted",
      patch: { containers: [{ $patch: "delete", name: "c1" }] },
      expected: ["c2", "c3"],
    },
    {
      reason: "an item with $patch: replace replaces the list",
      patch: { containers: [{ name: "c2" }, { $patch: "replace" }, { name: "c9" }] },
      expected: ["c2", "c9"],
    },
    {
      reason: "an order for what is there",
      patch: { "$setElementOrder/containers": [{ name: "c3" }, { name: "c1" }] },
      expected: ["c2", "c3", "c1"],
    },
    {
      reason: "an order with a new item",
      patch: {
        "$setElementOrder/containers": [{ name: "c3" }, { name: "c4" }, { name: "c1" }],
        containers: [{ name: "c4" }],
      },
      expected: ["c2", "c3", "c4", "c1"],
    },
    {
      reason: "with an order, new items take the places of deleted ones",
      patch: {
        "$setElementOrder/containers": [{ name: "c4" }],
        containers: [{ name: "c4" }, { $patch: "delete", name: "c2" }, { $patch: "delete", name: "c3" }],
      },
      expected: ["c1", "c4"],
    },
  ];
  for (const { reason, patch, expected } of orders) {
    it(reason, () => {
      const { containers } = applyStrategicMergePatch(target, patch, schema, definitions);
      assert.deepEqual(names(containers), expected, reason);
    });
  }

  const refused: { reason: string; patch: JsonObject; code: number; message: string }[] = [
    {
      reason: "$retainKeys that is no list",
      patch: { strategy: { $retainKeys: "type" } },
      code: 400,
      message: "invalid patch format of retainKeys",
    },
    {
      reason: "$retainKeys that misses a field of the patch",
      patch: { strategy: { $retainKeys: ["name"], type: "x" } },
      code: 400,
      message: "invalid patch format of retainKeys",
    },
    {
      reason: "a parallel list of nothing",
      patch: { $deleteFromPrimitiveList: ["x"] },
      code: 400,
      message: "invalid patch format of primitive list",
    },
    {
      reason: "an order of nothing",
      patch: { $setElementOrder: ["x"] },
      code: 400,
      message: "invalid patch format of setElementOrder list",
    },
    {
      reason: "an item without its key",
      patch: { containers: [{ image: "secret" }] },
      code: 500,
      message: "map: map[image] does not contain declared merge key: name",
    },
    {
      reason: "an unknown directive",
      patch: { labels: { $patch: "zzz", a: "secret" } },
      code: 500,
      message: "unknown patch type in map: map[$patch a]",
    },
    {
      reason: "$patch: merge on a map",
      patch: { labels: { $patch: "merge" } },
      code: 500,
      message: "unknown patch type: merge in map: map[$patch]",
    },
    {
      reason: "$patch: merge on an item",
      patch: { containers: [{ $patch: "merge", name: "c1" }] },
      code: 500,
      message: "merging lists cannot yet be specified in the patch",
    },
    {
      reason: "items of different types",
      patch: { finalizers: [["f/a"]] },
      code: 500,
      message: "list element types are not identical",
    },
    {
      reason: "an order that the patch does not keep",
      patch: { "$setElementOrder/finalizers": ["f/a"], finalizers: ["f/e"] },
      code: 500,
      message: "The order in patch list doesn't match $setElementOrder list",
    },
  ];
  for (const { reason, patch, code, message } of refused) {
    it(`${code}: ${reason}`, () => {
      assert.throws(
        () => applyStrategicMergePatch(target, patch, schema, definitions),
        (error) => {
          assert.ok(error instanceof StatusError);
          assert.deepEqual({ code: error.status, message: error.message }, { code, message });
          return true;
        },
        reason,
      );
    });
  }

  const leaf = fc.oneof(fc.string({ maxLength: 2 }), fc.integer({ min: 0, max: 3 }), fc.constant(null));
  const { plain } = fc.letrec<{ plain: JsonObject; value: Json }>((tie) => ({
    plain: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
    value: fc.oneof({ maxDepth: 3 }, leaf, tie("plain")),
  }));

  it("without lists, directives or a schema it is a merge patch", () => {
    fc.assert(
      fc.property(plain, plain, (original, patch) => {
        const merged = applyStrategicMergePatch(original, patch, undefined, {});
        assert.deepEqual(merged, applyMergePatch(original, patch));
      }),
    );
  });

  const item = fc.record({ name: fc.constantFrom("c1", "c2", "c3", "c4"), image: fc.constantFrom("i", "j") });
  const items = fc.uniqueArray(item, { selector: ({ name }) => name });

  it("merges of keyed lists lose no item, keep the patch's order, and settle", () => {
    fc.assert(
      fc.property(items, items, (original, patch) => {
        const merge = (containers: Json): Json =>
          applyStrategicMergePatch({ containers }, { containers: patch }, schema, definitions).containers ?? null;
        const merged = merge(original);
        const all = new Set([...original, ...patch].map(({ name }) => name));
        assert.deepEqual(new Set(names(merged) as string[]), all);
        const kept = (names(merged) as string[]).filter((name) => patch.some((change) => change.name === name));
        if (original.length > 0) assert.deepEqual(kept, names(patch));
        assert.deepEqual(merge(merged), merged);
      }),
    );
  });

  it("never changes its arguments", () => {
    const patches = [...table, ...orders].map(({ patch }) => patch);
    const before = JSON.stringify([target, patches]);
    for (const patch of patches) applyStrategicMergePatch(target, patch, schema, definitions);
    assert.equal(JSON.stringify([target, patches]), before);
  });
});
