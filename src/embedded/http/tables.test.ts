import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { StatusError } from "../status-error.ts";
import { createTestingServer, WIDGETS } from "./api-server.fixture.ts";
import { includeObjectParameter, tableOfList, tableOfObject } from "./tables.ts";

const nowAt = Date.UTC(2026, 0, 1, 1);
const options = { version: "v1", includeObject: "None", nowAt } as const;

const widget = (fields: object): KubeObject => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name: "w", namespace: "default", resourceVersion: "5", creationTimestamp: "2026-01-01T00:00:00Z" },
  ...fields,
});

interface Table {
  readonly metadata: object;
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: unknown }[];
}

const cellsOf = (object: KubeObject, columns = WIDGETS.columns): readonly unknown[] | undefined =>
  (tableOfObject({ ...WIDGETS, columns }, object, options) as Table).rows[0]?.cells;

const cells = [
  {
    object: {
      spec: { replicas: 3 },
      status: { conditions: [{ type: "Ready", status: "True" }], since: "2026-01-01T00:50:00Z" },
    },
    expected: ["w", 3, "True", "10m"],
    reason: "each column by its path and type",
  },
  { object: {}, expected: ["w", null, null, null], reason: "what is absent is null" },
  {
    object: { spec: { replicas: "3" }, status: { conditions: [{ type: "Ready", status: { a: 1 } }], since: "soon" } },
    expected: ["w", null, '{"a":1}', "<invalid>"],
    reason: "a wrong type is null, text takes anything, and a date must be one",
  },
  { object: { spec: { replicas: 2.7 } }, expected: ["w", 2, null, null], reason: "an integer is whole" },
];

for (const { object, expected, reason } of cells) {
  test(`table cells: ${reason}`, () => assert.deepEqual(cellsOf(widget(object)), expected));
}

test("table: a CRD's columns stand after the name; none means name and age", () => {
  const named = tableOfObject(WIDGETS, widget({}), options) as Table;
  assert.deepEqual(
    named.columnDefinitions.map(({ name, type, priority }) => `${name} ${type} ${priority}`),
    ["Name string 0", "Replicas integer 0", "Ready string 0", "Since date 1"],
  );
  const plain = tableOfObject({ ...WIDGETS, columns: [] }, widget({}), options) as Table;
  assert.deepEqual(
    plain.columnDefinitions.map(({ name }) => name),
    ["Name", "Age"],
  );
  assert.deepEqual(plain.rows[0]?.cells, ["w", "60m"]);
});

test("table: a list keeps its paging, rows hold what was asked for", () => {
  const list = { items: [widget({ spec: { size: "s" } })], resourceVersion: "9", continue: "c", remainingItemCount: 4 };
  const rowOf = (includeObject: "None" | "Metadata" | "Object") => {
    const table = tableOfList(WIDGETS, list, { ...options, includeObject }) as Table;
    assert.deepEqual(table.metadata, { resourceVersion: "9", continue: "c", remainingItemCount: 4 });
    return table.rows[0]?.object;
  };
  assert.equal(rowOf("None"), null);
  assert.deepEqual(rowOf("Object"), list.items[0]);
  assert.deepEqual(rowOf("Metadata"), {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: list.items[0]?.metadata,
  });
});

test("table: includeObject takes three words", () => {
  assert.equal(includeObjectParameter(new URLSearchParams("")), "Metadata");
  assert.throws(
    () => includeObjectParameter(new URLSearchParams("includeObject=Zone")),
    (error) =>
      error instanceof StatusError &&
      error.message ===
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Zone\": must be 'Metadata', 'Object', 'None', or empty",
  );
});

test("table: every built-in kind can show an object that has nothing but a name", () => {
  const { registry } = createTestingServer();
  for (const definition of registry.all()) {
    const table = tableOfObject(definition, { ...widget({}), kind: definition.kind }, options) as Table;
    assert.equal(table.rows[0]?.cells.length, table.columnDefinitions.length, definition.kind);
    assert.equal(
      table.rows[0]?.cells[0],
      definition.plural === "events" ? table.rows[0]?.cells[0] : "w",
      definition.kind,
    );
  }
});
