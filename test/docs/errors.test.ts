import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { errorRules } from "../../tools/reference/error-rules.ts";
import { errorsReference } from "../../tools/reference/errors-reference.ts";
import { sourceFiles } from "../../tools/reference/pages.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "errors.md"), "utf8");
const rules = errorRules(sourceFiles());

test("every error code has an entry in docs/errors.md, and every entry a code", () => {
  const documented = new Set([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code ?? ""));
  assert.ok(rules.size >= 40, `only ${rules.size} codes were found in the source: has the search stopped working?`);
  assert.deepEqual([...rules.keys()].sort(), [...documented].sort());
});

test("whether an error is tried again is read from where it is raised", () => {
  const source = `
    class Odd extends KeyturnError { constructor() { super("Odd", "what; \\"never\\"", { retry: backoff }); } }
    throw new KeyturnError("Even", \`later; after all\`, { retry: { kind: "never" } });
    throw new ProviderError("Busy", "it is tried again", { retryAfterMs });
    throw new Odd("Odd", { retry: never });
  `;
  const found = errorRules([{ path: "a.ts", text: source.replaceAll('\\"', "'") }]);
  assert.deepEqual([...found].sort(), [
    ["Busy", "after"],
    ["Even", "never"],
    ["Odd", "backoff"],
  ]);
});

test("a rule is written into its row, what stands behind it stays, and a code without a row is refused", () => {
  const row = "| `Odd` | it is odd | never, until it changes | `a \\| b` |";
  const rule = new Map([["Odd", "backoff"]] as const);
  assert.equal(errorsReference(row, rule), row.replace("never,", "backoff,"));
  assert.throws(() => errorsReference("", rule), /no entry for Odd/);
  assert.throws(() => errorsReference(row, new Map()), /no error has the code Odd/);
});
