import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, MAX_DURATION_MS, parseDuration } from "./duration.ts";
import { InvalidValue } from "./errors.ts";
import { fc } from "./properties.fixture.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const read: readonly [text: string, ms: number, reason: string][] = [
  ["336h", 14 * DAY, "the document's ttl"],
  ["288h", 12 * DAY, "the document's frequency, corrected"],
  ["14d", 14 * DAY, "days"],
  ["2w", 14 * DAY, "weeks"],
  ["1w2d12h", 9.5 * DAY, "units add up"],
  ["1h30m", 1.5 * HOUR, "hours and minutes"],
  ["1.5h", 1.5 * HOUR, "a fraction"],
  ["0.1s0.2s", 300, "decimal fractions are exact"],
  ["30m1h", 1.5 * HOUR, "Go does not mind the order"],
  ["1h1h", 2 * HOUR, "nor a unit twice"],
  ["90s", 90_000, "seconds beyond a minute"],
  ["500ms", 500, "milliseconds"],
  ["720h0m0s", 720 * HOUR, "as Go prints it"],
  ["1500us", 2, "microseconds, rounded up"],
  ["1500\u00b5s", 2, "the micro sign"],
  ["1500\u03bcs", 2, "the Greek letter"],
  ["1ns", 1, "the shortest length is not zero"],
  ["0.5ns", 1, "nor is a fraction of it"],
  ["999999ns1ns", 1, "parts add up before they are rounded"],
  ["0s", 0, "zero, where it is allowed"],
  ["0007d", 7 * DAY, "leading zeros are decimal"],
  ["36525d", MAX_DURATION_MS, "exactly a hundred years"],
];

for (const [text, ms, reason] of read) {
  test(`a duration is read: ${reason} (${text})`, () => assert.equal(parseDuration(text), ms, reason));
}

const refused: readonly [text: string, reason: string][] = [
  ["", "empty"],
  ["h", "no number"],
  ["14", "no unit"],
  ["0", "no unit, not even for zero"],
  ["-1h", "negative"],
  ["+1h", "a sign"],
  ["1h-30m", "a sign inside"],
  [" 1h", "a space before"],
  ["1h\n", "a line feed after"],
  ["1h 30m", "a space inside"],
  ["1e3s", "an exponent"],
  ["1_000s", "a separator"],
  ["0x10s", "hexadecimal"],
  [".5h", "no digit before the point"],
  ["1.h", "no digit after the point"],
  ["1.2.3h", "two points"],
  ["1,5h", "a comma"],
  ["1H", "capital letters"],
  ["1M", "a month is no length"],
  ["1y", "nor is a year"],
  ["P14D", "ISO 8601"],
  ["\u0661h", "digits of another script"],
  ["Infinityh", "no number at all"],
  ["36526d", "more than a hundred years"],
  ["876601h", "more than a hundred years in hours"],
  [`${"9".repeat(63)}w`, "absurd"],
  [`${"0".repeat(64)}h`, "more than 64 characters"],
  ["1h".repeat(100_000), "huge"],
];

for (const [text, reason] of refused) {
  test(`a duration is refused: ${reason}`, () => {
    assert.throws(
      () => parseDuration(text),
      (error) => error instanceof InvalidValue && error.message.length < 300,
      reason,
    );
  });
}

test("the message says what a duration looks like", () => {
  assert.throws(() => parseDuration("two weeks"), {
    code: "InvalidValue",
    message:
      '"two weeks" is not a duration: a duration is numbers with units (w, d, h, m, s, ms, us, ns), such as 14d, 336h or 1h30m, without sign or spaces',
  });
});

test("zero is refused where a length must be positive, in whatever unit", () => {
  for (const text of ["0s", "0h0m", "0.000d"]) {
    assert.equal(parseDuration(text), 0);
    assert.throws(() => parseDuration(text, { positive: true }), InvalidValue);
  }
  assert.equal(parseDuration("1ns", { positive: true }), 1);
});

const shown: readonly [ms: number, text: string, reason: string][] = [
  [14 * DAY, "14d", "days, not weeks: policies are compared in days"],
  [12.5 * HOUR, "12h30m", "two units"],
  [DAY + 1, "1d1ms", "units that are zero are left out"],
  [0, "0s", "nothing at all"],
  [0.2, "1ms", "a fraction is rounded up, as when it is read"],
  [-90_000, "-1m30s", "a clock that went back"],
  [Number.POSITIVE_INFINITY, "forever", "a static key"],
];

for (const [ms, text, reason] of shown) {
  test(`a length is shown: ${reason}`, () => assert.equal(formatDuration(ms), text, reason));
}

test("not a number is a mistake of the caller", () => assert.throws(() => formatDuration(Number.NaN), RangeError));

test("what is shown reads back as the same length", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_DURATION_MS }), (ms) => {
      assert.equal(parseDuration(formatDuration(ms)), ms);
    }),
  );
});

test("a longer text of the same units is never a shorter length", () => {
  const part = fc.tuple(fc.nat(99), fc.constantFrom("ns", "us", "ms", "s", "m", "h", "d", "w"));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), part, (parts, more) => {
      const text = parts.map(([count, unit]) => `${count}${unit}`).join("");
      assert.ok(parseDuration(text + more.join("")) >= parseDuration(text));
    }),
  );
});

test("any text at all is a whole number of milliseconds or an InvalidValue", () => {
  const pieces = fc.constantFrom("1", "9", "0", ".", "h", "m", "s", "ms", "\u00b5s", "d", "w", "-", " ", "e", "\u0000");
  const nearly = fc.array(pieces, { maxLength: 80 }).map((letters) => letters.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), nearly), (text) => {
      try {
        const ms = parseDuration(text);
        assert.ok(Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_DURATION_MS);
      } catch (error) {
        assert.ok(error instanceof InvalidValue);
      }
    }),
    { numRuns: 1000 },
  );
});
