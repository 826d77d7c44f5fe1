import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant, MAX_INSTANT, MIN_INSTANT, NEVER, parseInstant } from "./instant.ts";
import { fc } from "./properties.fixture.ts";

const AT = Date.UTC(2025, 10, 5, 13, 14, 28);

const read: readonly [text: string, at: number, reason: string][] = [
  ["2025-11-05T13:14:28Z", AT, "as in the documents"],
  ["2025-11-05t13:14:28z", AT, "RFC 3339 allows lower case"],
  ["2025-11-05 13:14:28Z", AT, "and a space"],
  ["2025-11-05T13:14:28.5Z", AT + 500, "tenths"],
  ["2025-11-05T13:14:28.123456Z", AT + 123, "microseconds, as the Service Manager writes them"],
  ["2025-11-05T13:14:28.123456789Z", AT + 123, "nanoseconds"],
  ["2025-11-05T14:14:28+01:00", AT, "an offset to the east"],
  ["2025-11-05T07:44:28-05:30", AT, "an offset to the west, with minutes"],
  ["2025-11-05T14:14:28+0100", AT, "an offset without a colon"],
  ["2025-11-05 13:14:28 +0000 UTC", AT, "as Go prints it"],
  ["2025-11-05 13:14:28.25 +0000 UTC", AT + 250, "as Go prints it, with a fraction"],
  [" 2025-11-05T13:14:28Z\n", AT, "white space around it"],
  ["2016-12-31T23:59:60Z", Date.UTC(2017, 0, 1), "a leap second is the second after"],
  ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29), "a leap day"],
  ["9999-12-31T23:59:59Z", MAX_INSTANT, "the last second that can be said"],
  ["0000-01-01T00:00:00Z", MIN_INSTANT, "the first"],
];

for (const [text, at, reason] of read) {
  test(`a date is read: ${reason}`, () => assert.equal(parseInstant(text), at, reason));
}

const refused: readonly [text: unknown, reason: string][] = [
  ["", "empty"],
  [undefined, "absent"],
  [null, "null"],
  [1_762_348_468_000, "a number"],
  ["2025-11-05", "no time"],
  ["2025-11-05T13:14Z", "no seconds"],
  ["2025-11-05T13:14:28", "no zone: it could be any instant of a day"],
  ["2025-02-29T00:00:00Z", "no leap year"],
  ["2025-04-31T00:00:00Z", "April has 30 days"],
  ["2025-13-01T00:00:00Z", "month 13"],
  ["2025-00-01T00:00:00Z", "month 0"],
  ["2025-01-00T00:00:00Z", "day 0"],
  ["2025-01-01T24:00:00Z", "hour 24"],
  ["2025-01-01T00:60:00Z", "minute 60"],
  ["2025-01-01T00:00:61Z", "second 61"],
  ["2025-01-01T00:00:00+24:00", "an offset of a day"],
  ["2025-01-01T00:00:00+01:60", "an offset with minute 60"],
  ["10000-01-01T00:00:00Z", "a year of five digits"],
  ["9999-12-31T23:59:59-01:00", "after the year 9999 once the offset is taken off"],
  ["0000-01-01T00:00:00+01:00", "before the year 0"],
  ["0001-01-01T00:00:00Z", "what Go writes for a time that was not set"],
  ["yesterday", "a word"],
  [`2025-11-05T13:14:28.${"1".repeat(60)}Z`, "more than 64 characters"],
];

for (const [text, reason] of refused) {
  test(`a date is refused: ${reason}`, () => assert.equal(parseInstant(text), undefined, reason));
}

const written: readonly [at: number, text: string, reason: string][] = [
  [AT, "2025-11-05T13:14:28Z", "as in the documents, without milliseconds"],
  [AT + 1, "2025-11-05T13:14:29Z", "rounded up: a promise must not shrink by being written down"],
  [AT + 999, "2025-11-05T13:14:29Z", "rounded up"],
  [Date.UTC(2023, 11, 31, 23, 59, 59, 1), "2024-01-01T00:00:00Z", "rounded into the next year"],
  [MAX_INSTANT + 1, "9999-12-31T23:59:59Z", "RFC 3339 has four digits for the year"],
  [8.64e15, "9999-12-31T23:59:59Z", "the end of the host's time"],
  [9e15, "9999-12-31T23:59:59Z", "beyond the host's time"],
  [-9e15, "0000-01-01T00:00:00Z", "before it"],
];

for (const [at, text, reason] of written) {
  test(`a date is written: ${reason}`, () => assert.equal(formatInstant(at), text, reason));
}

test("never, and what is no number, cannot be written", () => {
  for (const at of [NEVER, -NEVER, Number.NaN]) assert.throws(() => formatInstant(at), RangeError);
});

const instant = fc.integer({ min: Date.UTC(2, 0, 1), max: MAX_INSTANT });

test("what was written reads back as the same second, never earlier, and writing keeps the order", () => {
  fc.assert(
    fc.property(instant, instant, (a, b) => {
      const back = parseInstant(formatInstant(a)) ?? Number.NaN;
      assert.ok(back >= a && back - a < 1000);
      assert.equal(formatInstant(back), formatInstant(a));
      if (a <= b) assert.ok(formatInstant(a) <= formatInstant(b));
    }),
  );
});

test("the host's own form of any date reads back exactly, in any offset", () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: -23 * 60, max: 23 * 60 }), (at, minutes) => {
      const wall = at + minutes * 60_000;
      fc.pre(wall >= MIN_INSTANT && wall <= MAX_INSTANT);
      const distance = Math.abs(minutes);
      const two = (number: number): string => String(number).padStart(2, "0");
      const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(distance / 60))}:${two(distance % 60)}`;
      assert.equal(parseInstant(new Date(wall).toISOString().replace("Z", offset)), at);
    }),
  );
});

test("any text at all is an instant that can be written or none", () => {
  const pieces = fc.constantFrom("2025", "-", "11", "05", "T", ":", "13", ".", "9", "Z", "+", " ", "UTC", "0");
  const nearly = fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), nearly), (text) => {
      const at = parseInstant(text);
      if (at !== undefined) assert.match(formatInstant(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    }),
    { numRuns: 1000 },
  );
});
