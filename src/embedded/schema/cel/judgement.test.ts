import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../json.ts";
import { compileJudgement } from "./judgement.ts";

const certificate: JsonObject = {
  metadata: { name: "a", generation: 2 },
  status: { revision: 2, conditions: [{ type: "Ready", status: "True" }], notAfter: "2026-01-01T00:00:00Z" },
};

const judgedOf = (source: string, object: JsonObject): unknown => {
  const judgement = compileJudgement(source);
  if (!judgement.ok) return judgement.error;
  try {
    return judgement.judge(object);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

test("what is said of an object holds or not, or does not fit it", () => {
  const table: readonly (readonly [string, unknown])[] = [
    ["self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", true],
    ["self.status.conditions.filter(c, c.type == 'Ready').all(c, c.status == 'False')", false],
    ["has(self.status) && self.status.revision >= self.metadata.generation", true],
    ["has(self.status.sealed) && self.status.sealed", false],
    ["timestamp(self.status.notAfter) > timestamp('2025-01-01T00:00:00Z')", true],
    ["self.status.revision", "is neither true nor false"],
    ["self.status.nothing == 1", "no such key: nothing"],
  ];
  for (const [source, expected] of table) assert.equal(judgedOf(source, certificate), expected, source);
});

test("a broken or a costly expression is refused before it is used", () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ["self.status.", /Syntax error|ERROR/],
    ["other.status == 1", /undeclared reference to 'other'/],
    ["'text'", /must be true or false, not a string/],
    ["self.name.matches('(a+)+$')", /may not call matches/],
    ["self.text.split('').all(c, c == 'a')", /may not call split/],
    ["self.a.replace('a', 'aa') == self.b.join('')", /may not call join, replace/],
    [`self.a == '${"x".repeat(1024)}'`, /longer than 1024/],
  ];
  for (const [source, expected] of table) assert.match(String(judgedOf(source, certificate)), expected, source);
});

test("what loops would go over is bounded before they begin", () => {
  const wide = { items: Array.from({ length: 5_000 }, (_, index) => index) };
  const tooLarge = "the object is too large to be judged by this expression";
  assert.equal(judgedOf("self.items.all(a, self.items.all(b, self.items.all(c, a == b)))", wide), tooLarge);
  assert.equal(judgedOf("self.items.all(a, self == self)", wide), tooLarge);
  assert.equal(judgedOf("self.text == ''", { text: "x".repeat(300_000) }), tooLarge);
  assert.equal(judgedOf("size(self.items) == 5000", wide), true);
});
