import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../base/properties.fixture.ts";
import { type ClassUse, ensureAllowed, RotationNotAllowed, readClass } from "./rotation-class-rules.ts";

const HOUR_MS = 3_600_000;
const use: ClassUse = {
  namespace: "shop",
  kind: { group: "cert-manager.io", version: "v1", kind: "Certificate" },
  serviceAccount: "rotator",
  frequencyMs: 24 * HOUR_MS,
};
const spec = {
  kinds: [{ group: "cert-manager.io", kind: "Certificate" }],
  serviceAccounts: ["rotator"],
};
const classOf = (fields: object) =>
  readClass({ apiVersion: "keyturn.dev/v1alpha1", kind: "RotationClass", metadata: { name: "web" }, spec: fields });

const refusalOf = (fields: object, changes: Partial<ClassUse> = {}): string => {
  try {
    ensureAllowed(classOf(fields), { ...use, ...changes });
  } catch (error) {
    assert.ok(error instanceof RotationNotAllowed);
    return error.message;
  }
  return "allowed";
};

test("a class allows what it lists, and says which rule speaks against the rest", () => {
  const table: readonly (readonly [object, Partial<ClassUse>, RegExp, string])[] = [
    [spec, {}, /^allowed$/, "all is listed"],
    [
      spec,
      { kind: { ...use.kind, kind: "Issuer" } },
      /RotationClass web: Issuer\.cert-manager\.io \(v1\) is not among/,
      "kind",
    ],
    [spec, { kind: { ...use.kind, group: "evil.io" } }, /not among its kinds/, "group"],
    [{ ...spec, kinds: [{ ...spec.kinds[0], version: "v1" }] }, {}, /^allowed$/, "this version"],
    [{ ...spec, kinds: [{ ...spec.kinds[0], version: "v2" }] }, {}, /not among its kinds/, "another version"],
    [spec, { serviceAccount: "admin" }, /ServiceAccount admin is not among its serviceAccounts/, "account"],
    [{ ...spec, namespaces: ["shop"] }, {}, /^allowed$/, "this namespace"],
    [{ ...spec, namespaces: ["other"] }, {}, /namespace shop is not among/, "another namespace"],
    [{ ...spec, namespaces: [] }, {}, /namespace shop/, "no namespace"],
    [{ ...spec, namespaces: "shop" }, {}, /namespace shop/, "a rule that nobody understands is fulfilled nowhere"],
    [{ ...spec, minFrequency: "24h" }, {}, /^allowed$/, "just often enough"],
    [{ ...spec, minFrequency: "25h" }, {}, /more frequent than its minFrequency of 1d1h$/, "too often"],
    [
      { ...spec, minFrequency: "often" },
      {},
      /minFrequency is no duration/,
      "a limit that nobody understands allows nothing",
    ],
    [{}, {}, /not among its kinds/, "an empty class allows nothing"],
    [{ kinds: "all", serviceAccounts: "all" }, {}, /not among its kinds/, "nor a damaged one"],
    [
      { ...spec, kinds: [{ group: "apps", kind: "Deployment" }] },
      { kind: { group: "apps", version: "v1", kind: "Deployment" } },
      /Deployment\.apps is never allowed, whatever a class lists/,
      "what is built in",
    ],
  ];
  for (const [fields, changes, expected, reason] of table) assert.match(refusalOf(fields, changes), expected, reason);
});

test("whatever a class holds, it is read, and allows at most what it lists", () => {
  fc.assert(
    fc.property(
      fc.object({ key: fc.constantFrom("kinds", "serviceAccounts", "namespaces", "group", "kind") }),
      (fields) => {
        const isListed = JSON.stringify(fields).includes("cert-manager.io");
        if (refusalOf(fields) === "allowed") assert.ok(isListed);
      },
    ),
  );
});
