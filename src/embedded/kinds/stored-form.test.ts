import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { Schema } from "../schema/schema.ts";
import { storedForm } from "./stored-form.ts";

const schemaWith = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: "object",
  properties: { spec: { type: "object", properties } },
});

const v1 = {
  apiVersion: "example.com/v1",
  schema: schemaWith({ a: { type: "string" }, late: { type: "string", default: "x" } }),
};
const v2 = { apiVersion: "example.com/v2", schema: schemaWith({ a: { type: "string" }, two: { type: "string" } }) };

const object = (apiVersion: string, spec: unknown): KubeObject => ({
  apiVersion,
  kind: "Thing",
  metadata: { name: "a" },
  spec,
});

test("what is read has the defaults of the storage version, and is made once", () => {
  const { fromStored } = storedForm(v1, v1);
  const stored = object(v1.apiVersion, { a: "1" });
  assert.deepEqual(fromStored(stored).spec, { a: "1", late: "x" });
  assert.equal(fromStored(stored), fromStored(stored));
  assert.deepEqual(stored.spec, { a: "1" }, "what is stored stays as it is");
});

test("an object that is complete is read as it is stored", () => {
  const stored = object(v1.apiVersion, { a: "1", late: "y" });
  assert.equal(storedForm(v1, v1).fromStored(stored), stored);
});

test("another version is stored without what the storage version does not know", () => {
  const stored = storedForm(v2, v1).toStored(object(v2.apiVersion, { a: "1", two: "2" }));
  assert.deepEqual([stored.apiVersion, stored.spec], [v1.apiVersion, { a: "1" }]);
});

test("another version is read without what it does not know itself", () => {
  const read = storedForm(v2, v1).fromStored(object(v1.apiVersion, { a: "1" }));
  assert.deepEqual([read.apiVersion, read.spec], [v2.apiVersion, { a: "1" }]);
});
