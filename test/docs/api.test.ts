import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { customResources } from "../../src/api/custom-resources.ts";
import { apiReference } from "../../tools/reference/api-reference.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "api.md"), "utf8");

test("docs/api.md is what the schemas say now; npm run generate:reference writes it", () => {
  assert.equal(page, apiReference(customResources));
});

test("every kind has its section, and every deprecated field its notice", () => {
  for (const { kind, group, plural } of customResources) {
    assert.ok(page.includes(`\`${plural}.${group}\``), `${kind} of ${group} has a section`);
    assert.ok(page.includes(`### ${kind} spec (`), `the spec of ${kind} is there`);
  }
  const [, section = ""] = page.split("## Deprecated fields\n");
  const [notices = ""] = section.split("\n## ");
  assert.equal(notices.match(/`spec\.[\w.]*rndcSecretRef`/g)?.length, 7, "three levels of two kinds, and the instance");
});

test("each kind leads to its guide, and the settings of RNDC keys to their examples", () => {
  const [, index = ""] = page.split("## Kinds, with guides and examples\n");
  const rows = (index.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| ["));
  assert.equal(rows.length, customResources.length);
  for (const row of rows) assert.match(row, /\]\([\w-]+\.md(#[\w-]+)?\) \|$/);
  assert.match(page, /### RndcKeyConfig\n\n.*\(bind\.md#rndckeyconfig-api-reference\)/);
});
