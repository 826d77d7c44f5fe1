import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { compileLinear } from "./linear-matcher.ts";
import { compilePattern } from "./pattern.ts";

/** [pattern, text, whether Go's regexp finds it] */
const MATCHES: readonly (readonly [string, string, boolean])[] = [
  ["^[a-z]+$", "abc", true],
  ["^[a-z]+$", "abc\n", false],
  ["(?i)^ABC$", "abc", true],
  ["(?s)a.b", "a\nb", true],
  ["a.b", "a\nb", false],
  ["(?m)^b$", "a\nb\nc", true],
  ["^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a.b-c", true],
  ["^[[:alpha:]_-]+$", "a-_", true],
  ["^[[:upper:][:digit:]]+$", "A1", true],
  ["^\\d+$", "٣", false],
  ["a{2,3}b{", "aab{", true],
  ["\\Aab\\z", "ab", true],
  ["(?P<x>a)\\/b", "a/b", true],
  ["^[\\w.-]+@x$", "a-b.c@x", true],
  ["\\Qa.b\\E", "axb", false],
  ["\\p{Greek}", "α", true],
  ["^\\pL+$", "aα", true],
  ["^\\x41\\x{1F600}$", "A😀", true],
  ["^.$", "😀", true],
  ["[a\\]]", "]", true],
  ["[]a]", "]", true],
  ["}", "}", true],
  ["\\101", "A", true],
  ["^a\\-b$", "a-b", true],
  ["\\Qa-b\\E", "a-b", true],
  ["^[a\\-z]$", "b", false],
  ["^[a-c\\d-]+$", "b-3", true],
  ["[^\\s/]+$", "a/", false],
];

test("patterns match what Go's would", () => {
  for (const [pattern, text, expected] of MATCHES) {
    const compiled = compilePattern(pattern);
    assert.ok(compiled.ok, `${pattern} compiles`);
    assert.equal(compiled.matches(text), expected, `${pattern} on ${JSON.stringify(text)}`);
    const linear = compileLinear(compiled.expression.source, compiled.expression.flags);
    assert.equal(linear?.(text), expected, `${pattern} on ${JSON.stringify(text)}, followed linearly`);
  }
});

test("what Go refuses is refused", () => {
  for (const pattern of [
    "(",
    ")",
    "[a",
    "(?=a)",
    "(?!a)",
    "(a)\\1",
    "\\8",
    "a{1001}",
    "a{3,2}",
    "x**",
    "[z-a]",
    "\\C",
    "a\\",
  ]) {
    assert.equal(compilePattern(pattern).ok, false, pattern);
  }
});

test("the reason names the pattern as the server does", () => {
  const compiled = compilePattern("(");
  assert.deepEqual(compiled, { ok: false, reason: "error parsing regexp: missing closing ): `(`" });
});

test("the linear matcher and the engine agree", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    "(a|b)",
    "(ab)*",
    "a+",
    "b?",
    "(a*b)*",
    "a{2}",
    "b{1,2}",
    "^",
    "$",
    "\\b",
    "(?i:A)",
    "|",
    "(a|)",
    "\\w+",
  );
  const text = fc.string({ unit: fc.constantFrom("a", "b", "A", "\n", "é"), maxLength: 8 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), text, (pieces, subject) => {
      const compiled = compilePattern(pieces.join(""));
      if (!compiled.ok) return;
      const linear = compileLinear(compiled.expression.source, compiled.expression.flags);
      assert.equal(linear?.(subject), compiled.expression.test(subject));
    }),
    { numRuns: 3_000 },
  );
});

test("patterns that would keep a backtracking engine busy for ever are answered at once", () => {
  for (const pattern of [
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "a*a*a*a*a*a*c",
    "^(([a-z])+.)+[A-Z]$",
    "^(a{1,30}){1,30}$",
  ]) {
    const compiled = compilePattern(pattern);
    assert.ok(compiled.ok);
    assert.equal(compiled.matches(`${"a".repeat(1_000)}!`), false, pattern);
  }
});
