import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_DURATION_MS, parseDuration } from "../base/duration.ts";
import { InvalidValue } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import { compileExpression } from "../embedded/schema/cel/compile-expression.ts";
import { baseEnvironment } from "../embedded/schema/cel/library.ts";
import { isDuration, isNoLonger, millisecondsOf } from "./duration-rules.ts";

/** What the API server would make of an expression over texts. */
function evaluator(source: string, ...names: readonly string[]): (...texts: readonly string[]) => unknown {
  const environment = names.reduce((env, name) => env.registerVariable(name, "string"), baseEnvironment().clone());
  const compiled = compileExpression(source, environment, { isObjectType: () => false });
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.error);
  return (...texts) => compiled.evaluate(Object.fromEntries(names.map((name, index) => [name, texts[index]])));
}

const milliseconds = evaluator(millisecondsOf("text"), "text");
const isOne = evaluator(isDuration("text"), "text");
const isOrdered = evaluator(isNoLonger("shorter", "longer"), "shorter", "longer");

const parsed = (text: string): number | undefined => {
  try {
    return parseDuration(text);
  } catch (error) {
    assert.ok(error instanceof InvalidValue);
    return undefined;
  }
};

const unit = fc.constantFrom("w", "d", "h", "m", "s", "ms");
const number = fc
  .tuple(fc.nat(500), fc.option(fc.nat(9)))
  .map(([whole, tenths]) => `${whole}${tenths === null ? "" : `.${tenths}`}`);
const duration = fc
  .array(
    fc.tuple(number, unit).map(([value, name]) => `${value}${name}`),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(""));

test("the rules count as the operator does, to the millisecond", () => {
  fc.assert(
    fc.property(duration, (text) => {
      assert.equal(Number(milliseconds(text)), parsed(text));
    }),
  );
});

test("the rules take for a duration what the operator takes for one", () => {
  const scraps = fc.constantFrom(
    "1",
    "0",
    "12",
    ".",
    ".5",
    "h",
    "ms",
    "m",
    "\u00b5s",
    "\u03bcs",
    "ns",
    "-",
    "+",
    " ",
    "y",
    "",
  );
  const text = fc.array(scraps, { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(text, duration, fc.string({ maxLength: 8 })), (candidate) => {
      assert.equal(isOne(candidate), parsed(candidate) !== undefined, JSON.stringify(candidate));
    }),
    { numRuns: 500 },
  );
});

test("the rules put two durations in the order that the operator sees", () => {
  fc.assert(
    fc.property(duration, duration, (a, b) => {
      assert.equal(isOrdered(a, b), (parsed(a) ?? 0) <= (parsed(b) ?? 0));
    }),
  );
});

const cases: readonly (readonly [string, number, string])[] = [
  ["336h", 1_209_600_000, "the document's ttl"],
  ["1h30m", 5_400_000, "two units"],
  ["0.7h", 2_520_000, "a fraction that has no exact form is not rounded up"],
  ["1us", 1, "what is finer than a millisecond counts as one"],
  ["36525d", 3_155_760_000_000, "a hundred years"],
];

for (const [text, expected, why] of cases) {
  test(`${text} is ${expected} ms: ${why}`, () => {
    assert.equal(Number(milliseconds(text)), expected);
    assert.equal(parsed(text), expected);
  });
}

test("a length that no whole number holds is too long, not an error", () => {
  assert.ok(Number(milliseconds(`${"9".repeat(60)}w`)) > MAX_DURATION_MS);
});

test("what is no duration is not said to be out of order as well", () => {
  assert.equal(isOrdered("2d", "soon"), true);
});
