import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { objectWith } from "./restart.fixture.ts";
import { kindOf, templateOfPod, workloadKinds } from "./workload-kinds.ts";

const template = { metadata: { annotations: { a: "1", odd: 7 }, labels: { app: "web" } }, spec: { volumes: [] } };
const read = { annotations: { a: "1" }, labels: { app: "web" }, spec: { volumes: [] } };

test("each kind: where its pod template is, and an apply that sets annotations of it and nothing else", () => {
  const nested = (inner: object): object => ({ spec: { template: inner } });
  const table: readonly (readonly [string, (inner: object) => object, string])[] = [
    ["Deployment", nested, "byItself"],
    ["StatefulSet", nested, "byItself"],
    ["DaemonSet", nested, "byItself"],
    ["CronJob", (inner) => ({ spec: { jobTemplate: nested(inner) } }), "never"],
    ["ReplicaSet", nested, "byDeletingPods"],
  ];
  assert.deepEqual(
    workloadKinds.map(({ type }) => type.kind),
    table.map(([name]) => name),
  );
  for (const [name, around, rolls] of table) {
    const kind = kindOf(name);
    assert.ok(kind, name);
    assert.equal(kind.rolls, rolls, name);
    assert.deepEqual(kind.templateOf(objectWith({}, { ...around(template) })), read, name);
    assert.deepEqual(kind.templateFields({ a: "1" }), around({ metadata: { annotations: { a: "1" } } }), name);
  }
});

test("a Pod is its own template", () => {
  const pod = objectWith({ annotations: { a: "1" }, labels: { app: "web" } }, { spec: { volumes: [] } });
  assert.deepEqual(templateOfPod(pod), read);
});

test("no other kind is a workload", () => {
  for (const name of ["Job", "Pod", "deployment", "constructor", ""]) assert.equal(kindOf(name), undefined, name);
});

test("a template is read from anything without a throw", () => {
  fc.assert(
    fc.property(fc.constantFrom(...workloadKinds), fc.jsonValue(), fc.jsonValue(), (kind, spec, metadata) => {
      for (const fields of [{ spec }, { spec: { template: { metadata, spec } } }]) {
        const { annotations } = kind.templateOf(objectWith({}, fields));
        assert.ok(Object.values(annotations).every((value) => typeof value === "string"));
      }
    }),
  );
});
