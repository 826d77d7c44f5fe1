import assert from "node:assert/strict";
import { test } from "node:test";
import { recordOf } from "../kube/record.ts";
import { bindingOf } from "./korifi.fixture.ts";
import type { Binding } from "./model.ts";
import { bindingStatus } from "./plan.ts";
import { serviceBindingObject } from "./service-binding-object.ts";

const status = bindingStatus({ mountName: "b1", envName: "db" });
const made = (binding: Binding, directory?: string) =>
  serviceBindingObject(binding, {
    namespace: "space",
    present:
      directory === undefined
        ? undefined
        : {
            apiVersion: "servicebinding.io/v1",
            kind: "ServiceBinding",
            metadata: { name: "x" },
            spec: { name: directory },
          },
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
      name: "b1",
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

const named: readonly {
  readonly why: string;
  readonly displayName?: string;
  readonly present?: string;
  readonly name: string;
}[] = [
  { why: "the binding's own name", name: "b1" },
  { why: "what the application calls it", displayName: "orders-db", name: "orders-db" },
  { why: "not what no directory can be called", displayName: "My DB/..", name: "b1" },
  { why: "what it was before, so that no file moves", displayName: "orders-db", present: "db", name: "db" },
];

for (const { why, displayName, present, name } of named) {
  test(`the directory is ${why}`, () => {
    const binding = bindingOf({ status, spec: displayName === undefined ? {} : { displayName } });
    assert.equal(recordOf(made(binding, present)?.spec).name, name);
  });
}
