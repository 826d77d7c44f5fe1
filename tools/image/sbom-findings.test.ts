import assert from "node:assert/strict";
import { test } from "node:test";
import { type Sbom, sbomFindings } from "./sbom-findings.ts";
import type { LockFile } from "./shipped-packages.ts";

const lock: LockFile = {
  packages: {
    "": { version: "1.0.0" },
    "node_modules/@a/b": { version: "2.0.0", license: "MIT" },
    "node_modules/c/node_modules/d": { version: "3.0.0", license: "ISC" },
    "node_modules/e": { version: "4.0.0", license: "MIT", dev: true },
  },
};
const component = (name: string, version: string, id: string) => ({
  name,
  version,
  licenses: [{ license: { id } }],
  hashes: [{}],
});
const d = component("d", "3.0.0", "ISC");
const sbom: Sbom = {
  bomFormat: "CycloneDX",
  metadata: { component: component("keyturn", "1.0.0", "Apache-2.0") },
  components: [component("@a/b", "2.0.0", "MIT"), d],
};
const withComponents = (...components: Sbom["components"]): Sbom => ({ ...sbom, components });
const [b] = sbom.components as [Sbom["components"][number]];

const rows: readonly (readonly [reason: string, sbom: Sbom, findings: readonly string[]])[] = [
  ["every package that ships, and no other", sbom, []],
  ["one that ships is missing", withComponents(b), ["d@3.0.0 is missing"]],
  [
    "one of another version",
    withComponents(b, { ...d, version: "3.0.1" }),
    ["d@3.0.0 is missing", "d@3.0.1 does not ship"],
  ],
  ["one for development", withComponents(b, d, component("e", "4.0.0", "MIT")), ["e@4.0.0 does not ship"]],
  ["no licence", withComponents(b, { ...d, licenses: [] }), ["d@3.0.0: licence , by the lock file ISC"]],
  ["nothing to check an archive by", withComponents(b, { ...d, hashes: [] }), ["d@3.0.0: no hash"]],
  ["a folder's name", { ...sbom, metadata: { component: { ...d, name: "checkout" } } }, ["speaks of another program"]],
  [
    "where somebody's packages came from",
    { ...sbom, reference: "https://registry.example:8443/d.tgz" } as Sbom,
    ["names the host registry.example:8443"],
  ],
];

for (const [reason, document, findings] of rows) {
  test(`SBOM: ${reason}`, () => assert.deepEqual(sbomFindings(document, lock), findings));
}
