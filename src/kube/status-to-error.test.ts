import assert from "node:assert/strict";
import { test } from "node:test";
import type { RetryRule } from "../base/errors.ts";
import { statusToError } from "./status-to-error.ts";

interface Case {
  readonly reason: string;
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code: string;
  readonly retry?: RetryRule;
}

const RECEIVED_AT = Date.UTC(2026, 0, 1);
const status = (reason: string, details: object = {}): object => ({ kind: "Status", reason, message: reason, details });

const cases: readonly Case[] = [
  {
    reason: "a 404 that names an object is about it",
    status: 404,
    body: status("NotFound", { name: "x" }),
    code: "NotFound",
  },
  { reason: "a 404 that names nothing is about the path", status: 404, body: status("NotFound"), code: "NotServed" },
  { reason: "an unknown group answers in plain text", status: 404, code: "NotServed" },
  { reason: "409 by its reason", status: 409, body: status("AlreadyExists"), code: "AlreadyExists" },
  { reason: "409 by its reason", status: 409, body: status("Conflict"), code: "Conflict" },
  { reason: "a 409 of an unknown reason is retried as a conflict", status: 409, body: status("Odd"), code: "Conflict" },
  { reason: "an expired version", status: 410, body: status("Expired"), code: "Gone" },
  { reason: "an expired version in older words", status: 410, body: status("Gone"), code: "Gone" },
  { reason: "no credentials", status: 401, body: status("Unauthorized"), code: "Unauthorized" },
  { reason: "no rights", status: 403, body: status("Forbidden"), code: "Forbidden" },
  { reason: "a broken rule", status: 422, body: status("Invalid"), code: "Invalid" },
  { reason: "a wrong request", status: 400, body: status("BadRequest"), code: "BadRequest" },
  { reason: "a wrong verb", status: 405, body: status("MethodNotAllowed"), code: "BadRequest" },
  { reason: "a wrong type of content", status: 415, body: status("UnsupportedMediaType"), code: "BadRequest" },
  { reason: "too large a request", status: 413, body: status("RequestEntityTooLarge"), code: "BadRequest" },
  { reason: "a 4xx that is not Kubernetes' comes from something in between", status: 418, code: "Unavailable" },
  { reason: "a redirect is not followed", status: 302, code: "Unavailable" },
  { reason: "a server's time-out", status: 504, body: status("Timeout"), code: "Unavailable" },
  { reason: "a server in trouble", status: 500, body: status("InternalError"), code: "Unavailable" },
  {
    reason: "Retry-After in seconds",
    status: 429,
    headers: { "retry-after": "7" },
    code: "TooManyRequests",
    retry: { kind: "after", delayMs: 7000 },
  },
  {
    reason: "Retry-After as a date",
    status: 429,
    headers: { "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT" },
    code: "TooManyRequests",
    retry: { kind: "after", delayMs: 5000 },
  },
  {
    reason: "a date in the past means now",
    status: 503,
    headers: { "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" },
    code: "Unavailable",
    retry: { kind: "after", delayMs: 0 },
  },
  {
    reason: "Retry-After in the Status",
    status: 429,
    body: status("TooManyRequests", { retryAfterSeconds: 3 }),
    code: "TooManyRequests",
    retry: { kind: "after", delayMs: 3000 },
  },
  {
    reason: "throttled without a word: a second",
    status: 429,
    headers: { "retry-after": "soon" },
    code: "TooManyRequests",
    retry: { kind: "after", delayMs: 1000 },
  },
];

for (const { reason, code, retry, status: httpStatus, headers = {}, body } of cases) {
  test(`${httpStatus} → ${code}: ${reason}`, () => {
    const error = statusToError({ status: httpStatus, headers, body, receivedAt: RECEIVED_AT });
    assert.equal(error.code, code, reason);
    assert.equal(error.status, httpStatus);
    if (retry) assert.deepEqual(error.retry, retry, reason);
  });
}

test("the causes of a 422 name the fields", () => {
  const causes = [{ reason: "FieldValueInvalid", message: "no", field: "spec.a" }, "odd"];
  const error = statusToError({ status: 422, headers: {}, body: status("Invalid", { causes }), receivedAt: 0 });
  assert.deepEqual(error.causes, [causes[0], {}]);
});

const leaks: readonly { readonly reason: string; readonly message: string; readonly kept: RegExp }[] = [
  {
    reason: "the API server quotes a whole Secret when its data is not base64",
    message: String.raw`"" is invalid: patch: Invalid value: "{\"data\":{\"a\":\"#geheim#\"},\"kind\":\"Secret\"}": illegal base64 data at input byte 0`,
    kept: /illegal base64/,
  },
  {
    reason: "objects may be quoted without quotation marks",
    message: `spec: Invalid value: {"a":"geheim"}: must not be set`,
    kept: /must not be set/,
  },
  {
    reason: "older servers quote the request around a mistake",
    message: `cannot be handled as a Secret: illegal base64, error found in #10 byte of ...|"a":"geheim"|..., bigger context`,
    kept: /cannot be handled/,
  },
  {
    reason: "long values are left out",
    message: `Invalid value: "${"geheim".repeat(100)}": too long`,
    kept: /too long/,
  },
];

for (const { reason, message, kept } of leaks) {
  test(`no key material in a message: ${reason}`, () => {
    const causes = [{ reason: "FieldValueInvalid", message, field: "patch" }];
    const body = { kind: "Status", message, details: { causes } };
    const error = statusToError({ status: 422, headers: {}, body, receivedAt: 0 });
    assert.match(error.message, kept, reason);
    assert.doesNotMatch(JSON.stringify([error.message, error.causes]), /geheim/, reason);
  });
}

test("short quotes stay: they are what helps", () => {
  const message = `Secret "x" is invalid: type: Invalid value: "foo": field is immutable`;
  assert.equal(
    statusToError({ status: 422, headers: {}, body: { kind: "Status", message }, receivedAt: 0 }).message,
    message,
  );
});
