import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCheck } from "./formats.ts";
import { goDurationNanos, strictGoDurationNanos } from "./go-duration.ts";

/** [format, what passes, what does not] */
const FORMATS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    "date-time",
    ["2024-02-29T23:59:59Z", "2024-01-01t00:00:00.123+02:00"],
    ["2023-02-29T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01", "x"],
  ],
  ["date", ["2024-12-31"], ["2024-13-01", "2024-1-1", ""]],
  ["duration", ["1h30m", "-1.5h", "3d", "2 weeks", "0"], ["x", "", "1", "5 parsecs"]],
  ["byte", ["YQ==", "YWJj"], ["", "%%", "YQ=", "YQ"]],
  ["ipv4", ["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"], ["1.2.3", "256.1.1.1", "::1"]],
  ["ipv6", ["::1", "fe80::1"], ["1.2.3.4", "fe80::1%eth0", "x"]],
  ["cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0", "10.0.0.0/33", "x/1"]],
  [
    "uuid",
    ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"],
    ["x", "123e4567-e89b-12d3-a456-42661417400"],
  ],
  ["uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]],
  ["uri", ["https://a.b/c?d", "/a", "mailto:x@y.z"], ["x", "", "http://a b/", "http://[::1"]],
  ["email", ["a@b.c", "Some One <a@b.c>"], ["a", "@b", "a@", "a b@c"]],
  ["hostname", ["a.example.com", "a"], ["a..b", "-a", "a.b1", ""]],
  ["mac", ["00:1b:44:11:3a:b7", "001b.4411.3ab7"], ["00:1b:44:11:3a", "00:1b-44:11:3a:b7"]],
  ["isbn10", ["0321751043"], ["0321751044"]],
  ["isbn13", ["978-0321751041"], ["978-0321751042"]],
  ["creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112"]],
  ["ssn", ["123-45-6789"], ["123456789", "12-345-6789"]],
  ["hexcolor", ["#fff", "00FF00"], ["#ff"]],
  ["rgbcolor", ["rgb(255, 0,1)"], ["rgb(256,0,0)"]],
  ["bsonobjectid", ["507f1f77bcf86cd799439011"], ["507f"]],
  ["k8s-short-name", ["a-b"], ["A", "-a", "a".repeat(64)]],
  ["k8s-long-name", ["a.b-c"], ["a..b", "a".repeat(254)]],
];

test("formats take what the server takes", () => {
  for (const [format, good, bad] of FORMATS) {
    const check = formatCheck(format);
    assert.ok(check, format);
    for (const text of good) assert.equal(check(text), true, `${format} takes ${text}`);
    for (const text of bad) assert.equal(check(text), false, `${format} refuses ${text}`);
  }
});

test("an unknown format checks nothing", () => {
  assert.equal(formatCheck("int-or-string"), undefined);
});

test("durations are exact", () => {
  assert.equal(goDurationNanos("1h2m3.5s"), 3_723_500_000_000n);
  assert.equal(goDurationNanos("-1ms"), -1_000_000n);
  assert.equal(goDurationNanos("2 days"), 172_800_000_000_000n);
  assert.equal(strictGoDurationNanos("2d"), undefined);
  assert.equal(strictGoDurationNanos("9999999h"), undefined, "beyond 64 bits");
});

test("long texts are refused at once", () => {
  assert.equal(goDurationNanos("1h".repeat(1_000_000)), undefined);
});
