import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../../base/properties.fixture.ts";
import { Redacted } from "../../base/redacted.ts";
import type { ProviderErrorCode } from "../provider-error.ts";
import type { Answer } from "../rest/answer.ts";
import { isRecord } from "../rest/wire.ts";
import { type Purpose, refusalOf, saysNotFound } from "./answer.ts";

const answer = (status: number, body?: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: isRecord(body) ? new Redacted(body) : undefined,
});
const problem = (error: string, extra: Record<string, unknown> = {}) => ({ error, description: "canary", ...extra });
const router = { "x-cf-routererror": "unknown_route" };
const refuse = (given: Answer, purpose: Purpose = "make the binding", plan?: string) =>
  refusalOf(given, { purpose, plan, now: 0 });

const table: readonly (readonly [given: Answer, purpose: Purpose, code: ProviderErrorCode, reason: string])[] = [
  [answer(400, problem("BadRequest")), "make the binding", "ProviderRefused", "a bad body"],
  [answer(401, problem("Unauthorized")), "read", "ProviderForbidden", "the second 401"],
  [answer(401), "read", "ProviderForbidden", "a 401 without the service's form"],
  [answer(403, problem("Forbidden")), "read", "ProviderForbidden", "a missing right"],
  [answer(404, problem("NotFound")), "make the binding", "InstanceNotFound", "the instance is not there"],
  [answer(404, problem("NotFound"), router), "make the binding", "ProviderUnavailable", "a router's 404 in any form"],
  [answer(404, undefined, router), "delete the binding", "ProviderUnavailable", "a router's 404"],
  [answer(404, { error: "Not Found", status: 404 }), "read", "ProviderUnavailable", "a gateway's 404"],
  [answer(404), "read", "ProviderUnavailable", "a 404 without a body"],
  [answer(409, problem("Conflict")), "make the binding", "NameTaken", "the name is taken"],
  [answer(409, problem("Conflict")), "delete the binding", "ProviderBusy", "a conflict that is not about a name"],
  [answer(409), "make the binding", "ProviderUnavailable", "a conflict that the service did not state"],
  [answer(412, problem("PreconditionFailed")), "change the labels of the binding", "ProviderBusy", "concurrent update"],
  [
    answer(422, problem("ConcurrentOperationInProgress")),
    "delete the binding",
    "ProviderBusy",
    "an operation under way",
  ],
  [answer(429, problem("TooManyRequests")), "read", "ProviderThrottled", "rate limit"],
  [answer(429, problem("BadRequest")), "read", "ProviderThrottled", "a rate limit that calls itself BadRequest"],
  [answer(429), "read", "ProviderThrottled", "a proxy's rate limit"],
  [answer(500, problem("InternalError")), "read", "ProviderUnavailable", "a failing service"],
  [answer(502, problem("BadGateway")), "read", "ProviderUnavailable", "a bad gateway"],
  [answer(502), "read", "ProviderUnavailable", "a bad gateway without a body"],
  [answer(503, undefined), "read", "ProviderUnavailable", "an outage"],
  [answer(502, problem("BrokerError")), "make the binding", "ProviderRefused", "a broker's error, whatever its text"],
  [
    answer(502, problem("BrokerError", { broker_error: { StatusCode: 422, ErrorMessage: "QuotaExceeded" } })),
    "make the binding",
    "QuotaExceeded",
    "a quota that the broker names by a code",
  ],
  [
    answer(502, problem("BrokerError", { broker_error: { ErrorMessage: "the quota exceeded 5" } })),
    "make the binding",
    "QuotaExceeded",
    "a quota that the broker tells of in a sentence",
  ],
  [
    answer(502, problem("BrokerError", { broker_error: { Description: "the quota is used up" } })),
    "delete the binding",
    "ProviderRefused",
    "a quota where nothing is made",
  ],
  [
    answer(502, {
      error: "BrokerError",
      description: "Failed bind request: limit of bindings reached (request canary)",
    }),
    "make the binding",
    "QuotaExceeded",
    "a quota by another name, in what the Service Manager repeats",
  ],
  [
    answer(400, problem("QuotaExceeded")),
    "make the binding",
    "QuotaExceeded",
    "a quota that the service names by a code",
  ],
  [answer(302), "read", "ProviderUnavailable", "a redirect"],
  [answer(302, problem("NotFound")), "read", "ProviderUnavailable", "a redirect in the service's form"],
  [answer(200, {}), "read", "ProviderUnavailable", "a success that was not hoped for"],
  [answer(204), "delete the binding", "ProviderUnavailable", "a success without a body"],
  [answer(413, problem("RequestTooLarge")), "make the binding", "ProviderRefused", "another refusal"],
];

for (const [given, purpose, code, reason] of table) {
  test(`${given.status} on ${purpose}: ${reason} → ${code}`, () => {
    const error = refuse(given, purpose);
    assert.equal(error.code, code);
    assert.ok(!inspect(error, { depth: 9 }).includes("canary"), error.message);
  });
}

test("only the service itself says that something is not there", () => {
  assert.equal(saysNotFound(answer(404, problem("NotFound"))), true);
  assert.equal(saysNotFound(answer(410, {})), true);
  const others = [
    answer(404),
    answer(404, {}),
    answer(404, { error: "NotFound" }),
    answer(404, problem("not_found")),
    answer(404, problem("NotFound"), router),
    answer(410),
    answer(410, {}, router),
    answer(200, problem("NotFound")),
  ];
  for (const other of others) assert.equal(saysNotFound(other), false, inspect(other));
});

test("either code for a used-up quota leads to the same, so that words decide nothing", () => {
  const said = answer(502, { error: "BrokerError", description: "quota of 5 bindings is used up (attempt 7)" });
  assert.deepEqual(refuse(said).retry, refuse(answer(502, problem("BrokerError"))).retry);
  assert.match(refuse(said).message, /delete unused ones, have the quota raised, or make ttl shorter/);
});

test("a 403 names the plan that is needed, unless the credentials are of another", () => {
  const given = answer(403, problem("Forbidden"));
  assert.match(refuse(given).message, /needs the plan subaccount-admin/);
  assert.match(refuse(given, "read", "service-operator-access").message, /needs the plan subaccount-admin/);
  assert.doesNotMatch(refuse(given, "read", "subaccount-admin").message, /needs the plan/);
});

test("a plan without bindings is said in words", () => {
  for (const error of ["BadRequest", "BrokerError"]) {
    const given = answer(400, { error, description: "plan small is not bindable" });
    assert.equal(refuse(given).code, "ProviderRefused");
    assert.match(refuse(given).message, /does not allow bindings/);
  }
});

test("the pause that is asked for is kept, and there is one where none is named", () => {
  const pauses = [
    [answer(429, problem("x"), { "retry-after": "7" }), { kind: "after", delayMs: 7_000 }],
    [answer(429, problem("x")), { kind: "after", delayMs: 10_000 }],
    [answer(503, problem("x"), { "retry-after": "7" }), { kind: "after", delayMs: 7_000, isShared: true }],
    [answer(503, problem("x")), { kind: "backoff", isShared: true }],
  ] as const;
  for (const [given, retry] of pauses) assert.deepEqual(refuse(given).retry, retry);
});

test("for one status and code there is one message, whatever else the service says", () => {
  const status = fc.constantFrom(302, 400, 401, 403, 404, 409, 410, 412, 415, 422, 429, 500, 502, 503, 504);
  const code = fc.constantFrom("BadRequest", "BrokerError", "Conflict", "NotFound", "canary");
  const text = fc.string().map((suffix) => `canary ${suffix}`);
  const broker = fc.option(fc.record({ StatusCode: fc.nat(), ErrorMessage: text, Description: text }), {
    nil: undefined,
  });
  fc.assert(
    fc.property(status, code, text, text, broker, (given, error, one, other, broker_error) => {
      const first = refuse(answer(given, { error, description: one, broker_error }));
      const second = refuse(answer(given, { error, description: other }));
      assert.equal(first.message, second.message);
      assert.ok(!inspect(first, { depth: 9 }).includes("canary"), first.message);
    }),
  );
});
