import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { type ReloaderRules, readReloaderRules, type SourcePattern } from "./reloader-rules.ts";

const rulesOf = (text: string): ReloaderRules | undefined =>
  readReloaderRules({ "secret.reloader.stakater.com/reload": text }, {});

function patternOf(text: string): SourcePattern {
  const [pattern] = rulesOf(text)?.patterns ?? [];
  assert.ok(pattern, text);
  return pattern;
}

test("a literal stands for one name, a pattern for many", () => {
  assert.equal(patternOf("db").name, "db");
  assert.equal(patternOf("db\\.v1").name, "db.v1");
  assert.equal(patternOf("db-.*").name, undefined);
});

test("patterns match as the regular expression does", () => {
  const part = fc.constantFrom("a", "b", "ab", "ba", ".*", "-");
  const pattern = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(""));
  const name = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 12 });
  fc.assert(
    fc.property(pattern, name, (text, candidate) => {
      assert.equal(
        patternOf(text).matches(candidate),
        new RegExp(`^${text}$`).test(candidate),
        `${text} ~ ${candidate}`,
      );
    }),
    { numRuns: 2000 },
  );
});

test("what is neither a name nor a pattern is told, and the rest counts", () => {
  const rules = rulesOf("a, b+, Ü, c|d,, e.* ,(x)");
  assert.deepEqual(
    rules?.patterns.map(({ pattern }) => pattern),
    ["a", "e.*"],
  );
  assert.equal(rules?.problems.length, 4);
});

test("no more than 64 patterns of 253 characters", () => {
  const many = Array.from({ length: 65 }, (_, index) => `s-${index}`).join(",");
  assert.equal(rulesOf(many)?.patterns.length, 64);
  assert.match(rulesOf(many)?.problems[0] ?? "", /only the first 64 of 65/);
  assert.equal(rulesOf("x".repeat(253))?.patterns.length, 1);
  assert.equal(rulesOf("x".repeat(254))?.patterns.length, 0);
  assert.ok((rulesOf("x".repeat(100_000))?.problems[0] ?? "").length < 200, "a problem is short whatever it is of");
});

test("a workload without any of them has no rules", () => {
  assert.equal(readReloaderRules({ "keyturn.dev/restartOnChange": "true" }, { app: "web" }), undefined);
});
