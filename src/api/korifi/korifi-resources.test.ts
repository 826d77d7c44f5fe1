import assert from "node:assert/strict";
import { before, test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { bindingObject, instanceObject } from "../../korifi/korifi.fixture.ts";
import { bindingStatus } from "../../korifi/plan.ts";
import { isRefused, readBinding, readInstance } from "../../korifi/read-objects.ts";
import { Invalid } from "../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { type CustomResource, definitionOf } from "../custom-resource.ts";
import { cfServiceBinding } from "./cf-service-binding.ts";
import { cfServiceInstance } from "./cf-service-instance.ts";
import { korifiResources } from "./korifi-resources.ts";

const DEFINITIONS: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

const cluster: EmbeddedCluster = embeddedCluster();
let count = 0;

before(async () => {
  for (const resource of korifiResources) await cluster.kube.create(DEFINITIONS, definitionOf(resource));
  await cluster.clock.advance(100);
});

/** As the API server takes it, under a name of its own; undefined where it does not. */
async function admitted(resource: CustomResource, object: KubeObject): Promise<KubeObject | undefined> {
  const { apiVersion, kind, spec } = object;
  const metadata = { name: `o${count++}`, namespace: "default" };
  try {
    return await cluster.kube.create<KubeObject>(resource, { apiVersion, kind, metadata, spec });
  } catch (error) {
    assert.ok(error instanceof Invalid, String(error));
    return undefined;
  }
}

const mostly = <T>(good: readonly T[], bad: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...bad) });

const instanceSpec = fc.record(
  {
    type: mostly<unknown>(["user-provided", "managed"], ["other", 5]),
    displayName: fc.constantFrom("", "My DB"),
    secretName: mostly(["", "creds", "a.b"], ["No Name", "-"]),
    credentialsFrom: fc.record(
      { secretName: mostly(["rotated"], ["", "No"]), keys: fc.constant(["user"]) },
      { requiredKeys: ["secretName"] },
    ),
    tags: fc.constant(["sql"]),
    serviceLabel: fc.constantFrom("", "postgres"),
    planGuid: fc.constant(""),
    parameters: fc.constantFrom({}, { name: "" }),
  },
  { requiredKeys: ["type"] },
);

const bindingSpec = fc.record(
  {
    type: mostly(["app", "key"], ["", "other"]),
    displayName: fc.constant("orders"),
    service: fc.record(
      {
        apiVersion: mostly(["", "korifi.cloudfoundry.org/v1alpha1"], ["v1", "other/v1"]),
        kind: mostly(["CFServiceInstance"], ["Secret"]),
        name: mostly(["db"], [""]),
      },
      { requiredKeys: ["name"] },
    ),
    appRef: mostly<object>([{ name: "shop" }], [{ name: "" }, {}]),
    parameters: fc.constant({ name: "" }),
  },
  { requiredKeys: ["service"] },
);

test("the API server admits the instances that the operator follows, and no others", async () => {
  let taken = 0;
  const property = fc.asyncProperty(instanceSpec, async (spec) => {
    const object = instanceObject({ spec });
    const isTaken = (await admitted(cfServiceInstance, object)) !== undefined;
    assert.equal(isTaken, !isRefused(readInstance(object)), JSON.stringify(spec));
    if (isTaken) taken++;
  });
  await fc.assert(property, { numRuns: 300 });
  assert.ok(taken > 50 && taken < 290, `${taken} were admitted: is anything tried?`);
});

test("the API server admits the bindings that the operator follows, and no others", async () => {
  let taken = 0;
  const property = fc.asyncProperty(bindingSpec, async (spec) => {
    // What is not said has a default, which is not there before.
    const object = { ...bindingObject(), spec };
    const made = await admitted(cfServiceBinding, object);
    fc.pre(spec.type !== "");
    assert.equal(made !== undefined, !isRefused(readBinding(object)), JSON.stringify(spec));
    if (made) taken++;
  });
  await fc.assert(property, { numRuns: 300 });
  assert.ok(taken > 50 && taken < 290, `${taken} were admitted: is anything tried?`);
});

test("a binding of a type that nobody said is one for an application", async () => {
  const made = await admitted(cfServiceBinding, {
    ...bindingObject(),
    spec: { service: { name: "db" }, appRef: { name: "a" } },
  });
  assert.deepEqual(made?.spec, {
    type: "app",
    service: { kind: "CFServiceInstance", name: "db" },
    appRef: { name: "a" },
  });
});

test("what a binding binds stays", async () => {
  const made = await admitted(cfServiceBinding, bindingObject());
  assert.ok(made);
  const patched = (spec: object) =>
    cluster.kube.patch(
      cfServiceBinding,
      { namespace: "default", name: made.metadata.name },
      { type: "merge", body: { spec } },
    );
  await assert.rejects(patched({ service: { name: "other" } }), /spec.service: .*cannot be changed/);
  await assert.rejects(patched({ appRef: { name: "other" } }), /spec.appRef: .*cannot be changed/);
  await assert.rejects(patched({ type: "key" }), /spec.type: .*cannot be changed/);
  await patched({ displayName: "orders" });
});

test("statuses of the document, of later releases and of brokers stay what they are", async () => {
  const instance = {
    observedGeneration: 1,
    credentials: { name: "db" },
    credentialsObservedVersion: "5",
    lastOperation: { type: "create", state: "succeeded", description: "made" },
  };
  const binding = { observedGeneration: 1, ...bindingStatus({ mountName: "b1", envName: "db" }) };
  for (const [resource, object, status] of [
    [cfServiceInstance, instanceObject(), instance],
    [cfServiceBinding, bindingObject(), binding],
  ] as const) {
    const made = await admitted(resource, object);
    assert.ok(made);
    const ref = { namespace: "default", name: made.metadata.name };
    const written = await cluster.kube.patch<KubeObject>(
      resource,
      ref,
      { type: "merge", body: { status } },
      { subresource: "status" },
    );
    assert.deepEqual(written.status, status);
  }
});
