import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { Refusal } from "./exchange.ts";
import { meets, parseFieldQuery, parseLabelQuery } from "./query.ts";

const keys = new Set(["name", "ready", "created_at"]);

const accepted: readonly { text: string; values: readonly (readonly string[])[]; reason: string }[] = [
  { text: "", values: [], reason: "no query at all" },
  { text: "name eq 'x'", values: [["x"]], reason: "a quoted string" },
  { text: "name eq ''", values: [[""]], reason: "an empty string" },
  { text: "name eq 'it''s'", values: [["it's"]], reason: "a doubled quote means itself" },
  { text: "name eq 'a and b'", values: [["a and b"]], reason: "a separator within quotes is text" },
  { text: "name ne 'x' and ready eq true", values: [["x"], ["true"]], reason: "criteria joined by and" },
  { text: "name in ('a','b', 'c')", values: [["a", "b", "c"]], reason: "commas with and without a space" },
  { text: "name notin ()", values: [[""]], reason: "an empty list" },
  { text: "created_at ge 2026-01-01T00:00:00.5+01:00", values: [["2026-01-01T00:00:00.5+01:00"]], reason: "a time" },
  { text: "name le -1.5", values: [["-1.5"]], reason: "a number" },
  { text: "name en 'x'", values: [["x"]], reason: "equal or nil, on fields" },
];

for (const { text, values, reason } of accepted) {
  test(`a field query is understood: ${reason}`, () => {
    assert.deepEqual(
      parseFieldQuery(text, keys).map((criterion) => criterion.values),
      values,
    );
  });
}

const refused: readonly { text: string; reason: string }[] = [
  { text: "name eq x", reason: "strings are quoted" },
  { text: "name eq 'x", reason: "an open quote" },
  { text: "name eq 'x'y'", reason: "a single quote within quotes" },
  { text: "name  eq 'x'", reason: "two spaces" },
  { text: " name eq 'x'", reason: "a space in front" },
  { text: "name eq 'x' ", reason: "a space behind" },
  { text: "name eq 'x' and ", reason: "nothing after and" },
  { text: "name eq 'x' or name eq 'y'", reason: "or is not in the language" },
  { text: "name = 'x'", reason: "not an operator" },
  { text: "name contains 'x'", reason: "an operator of another language" },
  { text: "name eq ('x')", reason: "a list for a single value" },
  { text: "name in 'x'", reason: "a single value for a list" },
  { text: "name gt 'x'", reason: "an ordering of text" },
  { text: "name eq 'a\nb'", reason: "a new line" },
  { text: "keyturn.dev/owner eq 'x'", reason: "a dot in a key" },
  { text: "other eq 'x'", reason: "an unknown field" },
];

for (const { text, reason } of refused) {
  test(`a field query is refused with 400: ${reason}`, () => {
    assert.throws(
      () => parseFieldQuery(text, keys),
      (error) => error instanceof Refusal && error.problem.status === 400,
    );
  });
}

for (const text of ["a eq 'x' and a eq 'y'", "a en 'x'", "a.b eq 'x'"]) {
  test(`a label query is refused with 400: ${text}`, () => {
    assert.throws(() => parseLabelQuery(text), Refusal);
  });
}

test("any text is found again under its quoted form, and under no other", () => {
  const text = fc.string().filter((each) => !/[\n\\]/.test(each));
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [criterion] = parseFieldQuery(`name eq '${a.replaceAll("'", "''")}'`, keys);
      assert.ok(criterion);
      assert.equal(meets(a, criterion), true);
      assert.equal(meets(b, criterion), a === b);
    }),
  );
});

test("times are compared as times, flags as flags", () => {
  const check = (actual: boolean | Date, query: string) => parseFieldQuery(query, keys).every((c) => meets(actual, c));
  const at = new Date("2026-01-01T00:00:00Z");
  assert.equal(check(at, "created_at eq 2026-01-01T01:00:00+01:00"), true);
  assert.equal(check(at, "created_at lt 2026-01-01T00:00:01Z"), true);
  assert.equal(check(at, "created_at ge 2026-01-01T00:00:01Z"), false);
  assert.equal(check(true, "ready ne false"), true);
  assert.throws(() => check(true, "ready eq 'perhaps'"), Refusal);
  assert.throws(() => check(at, "created_at eq 'yesterday'"), Refusal);
});

test("text is ordered as numbers where both are, and equal only as text", () => {
  const check = (actual: string, query: string) => parseLabelQuery(query).every((c) => meets(actual, c));
  assert.equal(check("10", "n gt 9"), true);
  assert.equal(check("10", "n le 10.0"), true);
  assert.equal(check("10", "n eq '10.0'"), false);
  assert.equal(check("9", "n ge 10"), false);
});

test("any query is understood or refused, in time that does not explode", () => {
  const word = fc.constantFrom(
    "name",
    "eq",
    "in",
    " ",
    "'",
    "''",
    "\\",
    "(",
    ")",
    ",",
    "and",
    " and ",
    "true",
    "1",
    "x",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word).map((words) => words.join("")),
      ),
      (text) => {
        try {
          parseFieldQuery(text, keys);
        } catch (error) {
          assert.ok(error instanceof Refusal);
        }
      },
    ),
  );
  assert.throws(() => parseFieldQuery(`name eq '${"\\".repeat(100_001)}`, keys), Refusal);
});
