import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { managedSpec } from "./crossplane-fields.ts";
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

test("a key that is published nowhere is warned of", () => {
  const { secret, warnings } = readWith();
  assert.equal(secret, undefined);
  assert.deepEqual(warnings, ["the key is published nowhere: spec.writeConnectionSecretToRef names no Secret"]);
});
