import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "..", "..");

/** The first argument of every `super(` in a class that extends one of our errors, and of every `new KeyturnError(`. */
function codesInSource(): Set<string> {
  const codes = new Set<string>();
  for (const file of globSync("src/**/*.ts", { cwd: folder })) {
    if (file.endsWith(".test.ts")) continue;
    const source = readFileSync(join(folder, file), "utf8");
    if (!/KeyturnError|KubeError|ProviderError/.test(source)) continue;
    for (const [, code] of source.matchAll(/(?:super|new \w*Error)\(\s*"([A-Z]\w+)"/g)) codes.add(code ?? "");
    const union = /type ProviderErrorCode =([^;]+);/.exec(source)?.[1] ?? "";
    for (const [, code] of union.matchAll(/\| "(\w+)"/g)) codes.add(code ?? "");
  }
  return codes;
}

test("every error code has an entry in docs/errors.md, and every entry a code", () => {
  const page = readFileSync(join(folder, "docs", "errors.md"), "utf8");
  const documented = new Set([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code ?? ""));
  const used = codesInSource();
  assert.ok(used.size >= 13, `only ${used.size} codes were found in the source: has the search stopped working?`);
  assert.deepEqual([...used].sort(), [...documented].sort());
});
