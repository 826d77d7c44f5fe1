import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../../base/properties.fixture.ts";
import { Redacted } from "../../base/redacted.ts";
import type { ProviderErrorCode } from "../provider-error.ts";
import type { Answer } from "../rest/answer.ts";
import { isRecord } from "../rest/wire.ts";
import { type Purpose, pauseOf, refusalOf, saysNotFound } from "./answer.ts";

const answer = (status: number, body?: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: isRecord(body) ? new Redacted(body) : undefined,
});
const problem = (code: number, detail = "canary") => ({ errors: [{ code, title: "CF-Canary", detail }] });
const unprocessable = (detail: string): Answer => answer(422, problem(10008, `${detail} canary`));
const router = { "x-cf-routererror": "unknown_route" };

type Row = readonly [given: Answer, purpose: Purpose, code: ProviderErrorCode, reason: string, message?: RegExp];

const table: readonly Row[] = [
  [answer(401, problem(1000)), "read", "ProviderForbidden", "an invalid token, twice"],
  [answer(401, problem(10002)), "read", "ProviderForbidden", "no token"],
  [answer(403, problem(10003)), "make the key", "ProviderForbidden", "a missing role", /Space Developer/],
  [answer(403), "read", "ProviderForbidden", "a 403 without the service's form"],
  [answer(400, problem(10005)), "read", "ProviderRefused", "a query it does not know"],
  [answer(404, problem(10010)), "change the metadata of the key", "ProviderRefused", "it is not there"],
  [answer(404, problem(90004)), "change the metadata of the key", "ProviderRefused", "the older code for it"],
  [answer(404, problem(10000)), "read", "ProviderUnavailable", "an unknown route is not about a key"],
  [answer(404, problem(10010), router), "read", "ProviderUnavailable", "a router's 404 in any form"],
  [answer(404), "read", "ProviderUnavailable", "a 404 without a body"],
  [answer(429, problem(10013)), "read", "ProviderThrottled", "rate limit"],
  [answer(429, problem(20008)), "read", "ProviderThrottled", "the UAA's rate limit"],
  [answer(429, problem(10016)), "make the key", "ProviderThrottled", "too many operations at brokers"],
  [answer(429), "read", "ProviderThrottled", "a proxy's rate limit"],
  [answer(500, problem(10001)), "read", "ProviderUnavailable", "a failing service"],
  [answer(502, undefined, router), "read", "ProviderUnavailable", "a router without an endpoint"],
  [answer(503, problem(10015)), "read", "ProviderUnavailable", "an outage"],
  [answer(302), "read", "ProviderUnavailable", "a redirect"],
  [answer(200, {}), "make the key", "ProviderUnavailable", "a success that was not hoped for"],
  [
    unprocessable(
      "The binding name is invalid. Key binding names must be unique. The service instance already has a key",
    ),
    "make the key",
    "NameTaken",
    "a name that lives",
  ],
  [
    unprocessable(
      "The binding name is invalid. Key binding names must be unique. … that is getting deleted or its deletion failed.",
    ),
    "make the key",
    "NameTaken",
    "a name that is about to be free",
  ],
  [
    unprocessable("You have exceeded your organization's limit for service binding of type key."),
    "make the key",
    "QuotaExceeded",
    "the organization's quota",
    /quota of the organization/,
  ],
  [
    unprocessable("You have exceeded your space's limit for service binding of type key."),
    "make the key",
    "QuotaExceeded",
    "the space's quota",
    /quota of the space/,
  ],
  [
    unprocessable("Service plan does not allow bindings."),
    "make the key",
    "ProviderRefused",
    "a plan without bindings",
    /another plan/,
  ],
  [
    unprocessable("The service instance could not be found: 'x'"),
    "make the key",
    "InstanceNotFound",
    "no such instance",
  ],
  [unprocessable("The app could not be found: 'x'"), "make the key", "ProviderRefused", "no such app", /the app/],
  [
    unprocessable("Service credential bindings of type 'key' are not supported for user-provided service instances."),
    "make the key",
    "ProviderRefused",
    "a user-provided instance",
    /user-provided/,
  ],
  [
    unprocessable("There is an operation in progress for the service binding."),
    "delete the key",
    "ProviderBusy",
    "an operation on the key",
  ],
  [
    unprocessable("There is an operation in progress for the service instance."),
    "make the key",
    "ProviderBusy",
    "an operation on the instance",
  ],
  [
    unprocessable("The service binding is being deleted"),
    "change the metadata of the key",
    "ProviderBusy",
    "metadata of what is on its way out",
  ],
  [
    unprocessable("The app is already bound to the service instance"),
    "make the key",
    "ProviderRefused",
    "somebody else's binding of the app",
    /remove that binding/,
  ],
  [
    unprocessable("The binding is getting deleted or its deletion failed"),
    "make the key",
    "ProviderBusy",
    "the app's former binding",
  ],
  [unprocessable("anything else"), "make the key", "ProviderRefused", "another refusal", /check name/],
];

test("every error of Cloud Foundry has its kind, and nothing of it is quoted", () => {
  for (const [given, purpose, code, reason, message] of table) {
    const error = refusalOf(given, purpose, 0);
    assert.equal(error.code, code, reason);
    if (message) assert.match(error.message, message, reason);
    assert.ok(!inspect(error, { depth: 9 }).includes("canary"), reason);
  }
});

test("where it may be quoted, what Cloud Foundry says stands in place of advice", () => {
  const said = refusalOf(unprocessable("anything else"), "make the key", 0, () => "anything else");
  assert.equal(said.message, "Cloud Foundry refuses to make the key (422): anything else");
});

test("not there is what Cloud Foundry itself says, by one of two codes", () => {
  assert.equal(saysNotFound(answer(404, problem(10010))), true);
  assert.equal(saysNotFound(answer(404, problem(90004))), true);
  for (const other of [
    answer(404, problem(10000)),
    answer(404, problem(10010), router),
    answer(404, { errors: [] }),
    answer(404, { errors: [{ code: "10010" }] }),
    answer(404),
    answer(410, problem(10010)),
    answer(200, problem(10010)),
  ]) {
    assert.equal(saysNotFound(other), false, inspect(other));
  }
});

test("the pause of a 429 is read in every form", () => {
  const now = Date.UTC(2026, 0, 1);
  const epoch = String(now / 1000 + 30);
  const rows: readonly (readonly [headers: Record<string, string>, expected: number | undefined, reason: string])[] = [
    [{ "retry-after": "30" }, 30_000, "seconds"],
    [{ "retry-after": "30", "x-ratelimit-reset": String(now / 1000 + 900) }, 30_000, "what is asked for comes first"],
    [{ "retry-after": epoch }, 30_000, "the instant itself"],
    [{ "x-ratelimit-reset": epoch }, 30_000, "the reset alone"],
    [{ "x-ratelimit-reset": epoch, date: "Thu, 01 Jan 2026 00:00:10 GMT" }, 20_000, "by the service's own clock"],
    [{ "x-ratelimit-reset": "1000000000" }, 1_000, "a reset that is over"],
    [{ "x-ratelimit-reset": "soon" }, undefined, "what nobody understands"],
    [{}, undefined, "nothing"],
  ];
  for (const [headers, expected, reason] of rows) assert.equal(pauseOf(headers, now), expected, reason);
});

test("whatever comes back, there is an error of ours for it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 999 }), fc.jsonValue(), fc.string(), (status, body, text) => {
      const given = answer(status, body, { "retry-after": text, "x-ratelimit-reset": text });
      const error = refusalOf(given, "make the key", 0);
      assert.ok(error.message.length < 300 && !error.message.includes("\n"));
    }),
  );
});
