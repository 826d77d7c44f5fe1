import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { bindingOf } from "./korifi.fixture.ts";
import type { Binding } from "./model.ts";
import { bindingStatus } from "./plan.ts";
import { directoriesFor, directoryOf, projectedInto, serviceBindingObject } from "./service-binding-object.ts";

const status = bindingStatus({ mountName: "b1", envName: "db" });
const made = (binding: Binding) => serviceBindingObject(binding, { namespace: "space", directory: "files" });

const projection = (directory: string): KubeObject => ({
  apiVersion: "servicebinding.io/v1",
  kind: "ServiceBinding",
  metadata: { name: "x" },
  spec: { name: directory },
});

test("a binding of an application is projected into the workloads that bear its name", () => {
  assert.deepEqual(made(bindingOf({ status })), {
    apiVersion: "servicebinding.io/v1",
    kind: "ServiceBinding",
    metadata: {
      name: "cf-binding-b1",
      namespace: "space",
      labels: { "korifi.cloudfoundry.org/service-binding-guid": "b1", "korifi.cloudfoundry.org/app-guid": "shop" },
    },
    spec: {
      name: "files",
      workload: {
        apiVersion: "apps/v1",
        kind: "StatefulSet",
        selector: { matchLabels: { "korifi.cloudfoundry.org/app-guid": "shop" } },
      },
      service: { apiVersion: "korifi.cloudfoundry.org/v1alpha1", kind: "CFServiceBinding", name: "b1" },
    },
  });
});

test("there is none for a key, and none before there is a Secret to project", () => {
  assert.equal(made(bindingOf({ status, spec: { type: "key" } })), undefined);
  assert.equal(made(bindingOf()), undefined);
});

test("a name that no label holds is shortened there, and stands on it whole", () => {
  const name = `${"b".repeat(60)}.com`;
  const { labels = {}, annotations } = made(bindingOf({ status }, name))?.metadata ?? {};
  const label = labels["korifi.cloudfoundry.org/service-binding-guid"] ?? "";
  assert.ok(label.length <= 63 && label.startsWith("b".repeat(50)), label);
  assert.deepEqual(annotations, { "korifi.cloudfoundry.org/service-binding-guid": name });
});

test("what is projected says where: into which application, and which directory", () => {
  const object = made(bindingOf({ status })) ?? assert.fail("there is none");
  assert.deepEqual([projectedInto(object), directoryOf(object)], ["shop", "files"]);
  assert.deepEqual([projectedInto(projection("a")), directoryOf(projection(""))], [undefined, undefined]);
});

const LAST = "b1-38a4a3b5";

const named: readonly {
  readonly why: string;
  readonly displayName?: string;
  readonly present?: string;
  readonly names: readonly string[];
}[] = [
  { why: "the binding's own name", names: ["b1", LAST] },
  { why: "what the application calls it", displayName: "orders-db", names: ["orders-db", "b1", LAST] },
  { why: "not what no directory can be called", displayName: "My DB/..", names: ["b1", LAST] },
  { why: "not the one above", displayName: "..", names: ["b1", LAST] },
  { why: "not the one that all are in", displayName: ".", names: ["b1", LAST] },
  { why: "one with dots, where it is one", displayName: "...", names: ["...", "b1", LAST] },
  { why: "what it was before, so that no file moves", displayName: "o", present: "db", names: ["db", "o", "b1", LAST] },
  { why: "not what it was before, where that led elsewhere", present: "..", names: ["b1", LAST] },
];

for (const { why, displayName, present, names } of named) {
  test(`the directory is ${why}`, () => {
    const binding = bindingOf({ status, spec: displayName === undefined ? {} : { displayName } });
    assert.deepEqual(directoriesFor(binding, present === undefined ? undefined : projection(present)), names);
  });
}
