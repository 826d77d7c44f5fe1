import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const source = join(import.meta.dirname, "..", "..", "src");

test("one behaviour for every kind: neither the engine nor the managed reconciler knows a kind or an external system", () => {
  const files = globSync(["engine/**/*.ts", "reconcile/managed/**/*.ts"], { cwd: source });
  const production = files.filter((file) => !/\.(test|fixture)\.ts$/.test(file));
  assert.ok(production.length > 20, `only ${production.length} files were looked at`);
  for (const file of production) {
    const text = readFileSync(join(source, file), "utf8");
    const imports = [...text.matchAll(/from "([^"]+)"/g)].map(([, path]) => path ?? "");
    const known = imports.filter((path) => /\/api\/|\/service-manager\/|\/btp\/|\/cloud-?foundry\//.test(path));
    assert.deepEqual(known, [], file);
  }
});
