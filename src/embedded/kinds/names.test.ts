import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { validateMetadata, validateMetadataUpdate } from "./metadata-validation.ts";
import {
  asPrefix,
  configKey,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  type NameRule,
  pathSegment,
  qualifiedName,
} from "./names.ts";

const cases: readonly { rule: NameRule; name: string; isFine: boolean; reason: string }[] = [
  { rule: dnsSubdomain, name: "a.b-c.d1", isFine: true, reason: "dots and dashes inside" },
  { rule: dnsSubdomain, name: "a..b", isFine: false, reason: "an empty label" },
  { rule: dnsSubdomain, name: "-a", isFine: false, reason: "a dash at the start" },
  { rule: dnsSubdomain, name: "a\n", isFine: false, reason: "a line break at the end" },
  { rule: dnsSubdomain, name: "", isFine: false, reason: "nothing" },
  { rule: dnsLabel, name: "1a", isFine: true, reason: "a digit at the start" },
  { rule: dnsLabel, name: "a.b", isFine: false, reason: "a dot" },
  { rule: asPrefix(dnsLabel), name: "ab-", isFine: true, reason: "a prefix may end in a dash" },
  { rule: asPrefix(dnsLabel), name: "-", isFine: false, reason: "but not be one" },
  { rule: qualifiedName, name: "example.com/a_b.C", isFine: true, reason: "a domain and a name" },
  { rule: qualifiedName, name: "example.com/", isFine: false, reason: "no name" },
  { rule: qualifiedName, name: "a/b/c", isFine: false, reason: "two slashes" },
  { rule: labelValue, name: "", isFine: true, reason: "a label may be empty" },
  { rule: labelValue, name: "a b", isFine: false, reason: "but not hold blanks" },
  { rule: configKey, name: "..data", isFine: false, reason: "volumes use that name themselves" },
  { rule: configKey, name: "tls.crt", isFine: true, reason: "a usual key" },
  { rule: pathSegment, name: "system:node", isFine: true, reason: "RBAC names have colons" },
  { rule: pathSegment, name: "a/b", isFine: false, reason: "one segment only" },
];

for (const { rule, name, isFine, reason } of cases) {
  test(`${JSON.stringify(name)} is ${isFine ? "accepted" : "refused"}: ${reason}`, () => {
    assert.equal(rule(name).length === 0, isFine, reason);
  });
}

test("every rule answers any text, and quickly", () => {
  const hostile = fc.oneof(
    fc.string({ maxLength: 300, unit: "binary" }),
    fc.nat({ max: 50_000 }).map((length) => `${"a-".repeat(length)}!`),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      for (const rule of [dnsSubdomain, dnsLabel, qualifiedName, labelValue, configKey, pathSegment]) {
        assert.ok(Array.isArray(rule(text)));
      }
    }),
    { numRuns: 200 },
  );
});

test("what one rule calls a label, the wider rules accept too", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9-]{1,63}$/), (name) => {
      if (dnsLabel(name).length > 0) return;
      for (const rule of [dnsSubdomain, qualifiedName, labelValue, configKey]) assert.deepEqual(rule(name), []);
    }),
  );
});

test("a generated name is checked along with its prefix", () => {
  const errors = validateMetadata({ name: "AB-x", generateName: "AB-", namespace: "n" }, { namespaced: true });
  assert.deepEqual(
    errors.map(({ field }) => field),
    ["metadata.generateName", "metadata.name"],
  );
});

test("no finalizer is added to what is being deleted", () => {
  const old = { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/a"] };
  assert.deepEqual(validateMetadataUpdate({ ...old, finalizers: ["x/a", "x/b"] }, old), [
    {
      reason: "FieldValueForbidden",
      message:
        'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/b"}',
      field: "metadata.finalizers",
    },
  ]);
  assert.deepEqual(validateMetadataUpdate({ ...old, finalizers: [] }, old), [], "taking one away is how it ends");
});
