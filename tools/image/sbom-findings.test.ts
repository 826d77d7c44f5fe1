import assert from "node:assert/strict";
import { test } from "node:test";
import { bundleFindings } from "./bundle-findings.ts";
import { importedPackages, pagePackages } from "./page-packages.ts";
import { type Sbom, sbomFindings } from "./sbom-findings.ts";
import type { LockFile } from "./shipped-packages.ts";

const lock: LockFile = {
  packages: {
    "": { version: "1.0.0" },
    "node_modules/@a/b": { version: "2.0.0", license: "MIT" },
    "node_modules/c/node_modules/d": { version: "3.0.0", license: "ISC" },
    "node_modules/e": { version: "4.0.0", license: "MIT", dev: true },
    "node_modules/view": { version: "5.0.0", license: "MIT", dev: true, dependencies: { core: "^6.0.0" } },
    "node_modules/core": { version: "0.9.0", license: "MIT", dev: true },
    "node_modules/view/node_modules/core": { version: "6.0.0", license: "MIT", dev: true },
  },
};
const component = (name: string, version: string, id: string) => ({
  name,
  version,
  licenses: [{ license: { id } }],
  hashes: [{}],
});
const d = component("d", "3.0.0", "ISC");
const [view, core] = [component("view", "5.0.0", "MIT"), component("core", "6.0.0", "MIT")];
const sbom: Sbom = {
  bomFormat: "CycloneDX",
  metadata: { component: component("keyturn", "1.0.0", "Apache-2.0") },
  components: [component("@a/b", "2.0.0", "MIT"), d, view, core],
};
const withComponents = (...components: Sbom["components"]): Sbom => ({
  ...sbom,
  components: [...components, view, core],
});
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
  ["the page's own are missing", { ...sbom, components: [b, d] }, ["view@5.0.0 is missing", "core@6.0.0 is missing"]],
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
  test(`SBOM: ${reason}`, () => assert.deepEqual(sbomFindings(document, lock, ["view"]), findings));
}

test("what a bundler says it has put into the page is compared with what is said to ship", () => {
  const licences = "# Licenses\n\n## view - 5.0.0 (MIT)\n\ntext\n\n## core - 6.0.0 (MIT)\n";
  assert.deepEqual(bundleFindings(licences, lock, ["view"]), []);
  assert.deepEqual(bundleFindings(licences.replace("core - 6.0.0", "e - 4.0.0"), lock, ["view"]), [
    "the page does not contain core@6.0.0",
    "the page contains e@4.0.0",
  ]);
});

test("what code imports is known by the package's name, and what is ours is none", () => {
  const text = [
    'import type { JSX } from "preact";',
    'import { useState } from "preact/hooks";',
    'export { signal } from "@preact/signals";',
    "import {",
    "  type One,",
    '} from "several-lines";',
    'import { ours } from "./ours.ts";',
    "const said = 'import x from \"said\";';",
  ].join("\n");
  assert.deepEqual(importedPackages([text, text]), ["@preact/signals", "preact", "several-lines"]);
});

test("the page is built from the view library and its signals", () => {
  assert.deepEqual(pagePackages(), ["@preact/signals", "preact"]);
});
