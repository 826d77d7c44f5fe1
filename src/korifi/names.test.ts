import assert from "node:assert/strict";
import { test } from "node:test";
import { isObjectName } from "../base/object-names.ts";
import { fc } from "../base/properties.fixture.ts";
import { migratedSecretName, serviceBindingName, typedSecretName, vcapSecretName } from "./names.ts";

test("names are those of the document, and of the type", () => {
  assert.equal(migratedSecretName("db"), "db-migrated");
  assert.equal(vcapSecretName("shop"), "shop-vcap-services");
  assert.match(typedSecretName("b1", "servicebinding.io/database"), /^b1-[0-9a-f]{8}$/);
  assert.notEqual(typedSecretName("b1", "servicebinding.io/a"), typedSecretName("b1", "servicebinding.io/b"));
});

test("the longest names still give names, and different ones", () => {
  const long = fc
    .integer({ min: 230, max: 253 })
    .chain((length) => fc.stringMatching(new RegExp(`^[a-z]([-.a]?[a-z0-9]){${(length - 1) >> 1}}$`)));
  fc.assert(
    fc.property(long, (name) => {
      fc.pre(isObjectName(name));
      const other = `${name.slice(0, -1)}${name.endsWith("z") ? "y" : "z"}`;
      for (const nameFor of [
        migratedSecretName,
        vcapSecretName,
        serviceBindingName,
        (it: string) => typedSecretName(it, "t"),
      ]) {
        assert.ok(isObjectName(nameFor(name)), nameFor(name));
        assert.notEqual(nameFor(name), nameFor(other));
      }
    }),
    { numRuns: 100 },
  );
});
