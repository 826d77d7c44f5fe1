import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { managedSpec, readDeparture } from "./crossplane-fields.ts";
import { SpecProblem } from "./spec-problem.ts";

const objectWith = (spec: Readonly<Record<string, unknown>>): KubeObject => ({
  apiVersion: "example.org/v1",
  kind: "Thing",
  metadata: { name: "orders" },
  spec,
});
const own = {
  baseName: "orders",
  rotation: undefined,
  rotationField: "spec.rotation",
  layout: { kind: "flat" },
  limits: {},
} as const;
const readWith = (ref?: Readonly<Record<string, string>>) =>
  managedSpec(objectWith({ ...(ref && { writeConnectionSecretToRef: ref }) }), own);

test("a Secret that cannot be is found out before there is anything to publish, and its field is named", () => {
  const table: readonly (readonly [namespace: string, name: string, message: RegExp])[] = [
    ["shop", "UPPER_x", /^spec\.writeConnectionSecretToRef\.name: "UPPER_x" cannot be the name of a Secret/],
    ["shop", "a..b", /^spec\.writeConnectionSecretToRef\.name: /],
    ["shop", "x".repeat(254), /^spec\.writeConnectionSecretToRef\.name: /],
    ["Shop", "x", /^spec\.writeConnectionSecretToRef\.namespace: "Shop" cannot be a namespace/],
    ["a.b", "x", /^spec\.writeConnectionSecretToRef\.namespace: /],
    ["x".repeat(64), "x", /^spec\.writeConnectionSecretToRef\.namespace: /],
  ];
  for (const [namespace, name, message] of table) {
    assert.throws(
      () => readWith({ namespace, name }),
      (error) => error instanceof SpecProblem && message.test(error.message),
      `${namespace}/${name}`,
    );
  }
  const { secret, warnings } = readWith({ namespace: "shop", name: "orders.db-1" });
  assert.deepEqual(secret, { namespace: "shop", name: "orders.db-1", layout: { kind: "flat" } });
  assert.deepEqual(warnings, []);
});

test("keys stay with the ProviderConfig that they were made with", () => {
  const of = (named: string | undefined, kept: string | undefined): KubeObject => ({
    ...objectWith(named === undefined ? {} : { providerConfigRef: { name: named } }),
    status: kept === undefined ? {} : { providerConfig: kept },
  });
  for (const object of [of("two", undefined), of("two", "two"), of(undefined, "default")]) managedSpec(object, own);
  const moved = of("two", "one");
  assert.equal(readDeparture(moved).providerConfig, "one");
  assert.throws(
    () => managedSpec(moved, own),
    (error) =>
      error instanceof SpecProblem && /^spec\.providerConfigRef\.name: .* ProviderConfig one,/.test(error.message),
  );
});

test("a key that is published nowhere is warned of", () => {
  const { secret, warnings } = readWith();
  assert.equal(secret, undefined);
  assert.deepEqual(warnings, ["the key is published nowhere: spec.writeConnectionSecretToRef names no Secret"]);
});

test("a policy whose retired keys may not be deleted is warned of", () => {
  const warningsOf = (managementPolicies?: readonly string[]): readonly string[] => {
    const object = objectWith({
      writeConnectionSecretToRef: { namespace: "shop", name: "orders" },
      ...(managementPolicies && { managementPolicies }),
    });
    return managedSpec(object, { ...own, rotation: { ttl: "48h", frequency: "24h" } }).warnings;
  };
  assert.match(
    warningsOf(["Create", "Observe"]).join(),
    /leaves a key behind .*managementPolicies does not allow Delete/,
  );
  assert.deepEqual(warningsOf(), []);
  assert.deepEqual(warningsOf(["Observe"]), [], "nor is any made");
});
