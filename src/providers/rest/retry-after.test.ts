import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { parseRetryAfter } from "./retry-after.ts";

const now = Date.UTC(2024, 10, 11, 14, 59, 3);

const table: readonly (readonly [value: string | undefined, expected: number | undefined, reason: string])[] = [
  ["30", 30_000, "seconds"],
  ["0", 1_000, "no pause at all would be a busy loop"],
  ["1.5", 1_500, "fractions of seconds"],
  [" 30 ", 30_000, "spaces around it"],
  ["Mon, 11 Nov 2024 14:59:33 GMT", 30_000, "an HTTP date"],
  ["Monday, 11-Nov-24 14:59:33 GMT", 30_000, "an HTTP date in its second form"],
  ["Mon Nov 11 14:59:33 2024", 30_000, "an HTTP date in its oldest form is UTC too"],
  ["2024-11-11 14:59:33 +0000 UTC", 30_000, "a time printed by Go, as production sends it"],
  ["2024-11-11 14:59:33.123456 +0000 UTC", 30_000, "a time printed by Go with fractions"],
  ["2024-11-11 15:59:33 +0100 CET", 30_000, "a time printed by Go in another zone"],
  ["2024-11-11 14:00:00 +0000 UTC", 1_000, "a time that is over"],
  ["99999999", 3_600_000, "an absurd pause is cut"],
  ["2094-11-11 14:59:33 +0000 UTC", 3_600_000, "an absurd date is cut"],
  [undefined, undefined, "no header"],
  ["", undefined, "an empty header"],
  ["soon", undefined, "a word"],
  ["-5", undefined, "a negative number"],
  ["1e3", undefined, "an exponent"],
  ["2024-13-45 99:99:99 +0000 UTC", undefined, "a date that is none"],
];

for (const [value, expected, reason] of table) {
  test(`Retry-After ${JSON.stringify(value) ?? "missing"}: ${reason}`, () => {
    assert.equal(parseRetryAfter(value === undefined ? {} : { "retry-after": value }, now), expected);
  });
}

test("a date is measured against the service's own clock where it tells it", () => {
  const headers = { "retry-after": "2024-11-11 14:59:33 +0000 UTC", date: "Mon, 11 Nov 2024 14:59:23 GMT" };
  assert.equal(parseRetryAfter(headers, now - 86_400_000), 10_000);
});

test("whatever it says, the pause is bounded or absent", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.date({ noInvalidDate: true }).map(String)), fc.string(), (value, date) => {
      const pauseMs = parseRetryAfter({ "retry-after": value, date }, now);
      assert.ok(pauseMs === undefined || (pauseMs >= 1_000 && pauseMs <= 3_600_000), String(pauseMs));
    }),
  );
});
