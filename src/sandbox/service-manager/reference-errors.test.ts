import assert from "node:assert/strict";
import { AnswerLost } from "../http/exchange.ts";
import { after, type ReferenceCase, runCases } from "./sandbox.fixture.ts";
import type { Switches } from "./switches.ts";

/** What the reference says of errors and outages, sentence by sentence. */
const throttled = (retryAfter: Switches["retryAfter"], header: string | undefined, error: string): ReferenceCase => ({
  reason: `429: Retry-After comes as seconds, as an HTTP date, in Go's form, or is missing (${retryAfter})`,
  switches: { outage: "throttled", retryAfter, retryAfterMs: 90_000 },
  async check({ list }) {
    const { status, headers, body } = await list();
    assert.deepEqual([status, headers["retry-after"], body.error], [429, header, error]);
  },
});

const errors: readonly ReferenceCase[] = [
  {
    reason: "400 plan X is not bindable",
    instance: { bindable: false, plan: "tiny" },
    async check({ create }) {
      const { status, body } = await create("a");
      assert.deepEqual([status, body.description], [400, "plan tiny is not bindable"]);
    },
  },
  {
    reason: "404 NotFound: binding or instance gone",
    async check({ create, call, sandbox, instanceId }) {
      const { body } = await create("a");
      assert.ok(sandbox.controls.removeInstance(instanceId));
      const gone = await call("GET", `/v1/service_bindings/${body.id}`);
      const refused = await create("b");
      assert.deepEqual([gone.status, gone.body.error], [404, "NotFound"]);
      assert.deepEqual([refused.status, refused.body.error], [404, "NotFound"]);
      assert.equal(sandbox.authenticate(body.credentials), false);
    },
  },
  {
    reason: "404 with header X-Cf-RouterError: unknown_route is an outage",
    switches: { outage: "unknown-route" },
    async check({ call }) {
      const { status, headers } = await call("GET", "/v1/service_bindings/x");
      assert.deepEqual([status, headers["x-cf-routererror"]], [404, "unknown_route"]);
    },
  },
  {
    reason: "409 Conflict: binding with same name exists for instance with id …; names are unique per instance",
    async check({ create, instanceId, sandbox }) {
      await create("a");
      const { status, body } = await create("a");
      const description = `binding with same name exists for instance with id ${instanceId}`;
      assert.deepEqual([status, body], [409, { error: "Conflict", description }]);
      assert.equal((await create("a", { instanceId: sandbox.controls.putInstance().id })).status, 201);
    },
  },
  throttled("seconds", "90", "TooManyRequests"),
  throttled("http-date", "Thu, 01 Jan 2026 00:01:30 GMT", "TooManyRequests"),
  throttled("go-time", "2026-01-01 00:01:30 +0000 UTC", "TooManyRequests"),
  throttled("none", undefined, "BadRequest"),
  {
    reason: "503: mostly transient; an outage of so many requests ends by itself, and has no effect",
    switches: { outage: "unavailable", outageRequests: 2 },
    async check({ create, sandbox }) {
      const statuses = [(await create("a")).status, (await create("a")).status];
      assert.deepEqual([statuses, sandbox.liveBindings()], [[503, 503], []]);
      assert.equal((await create("a")).status, 201);
      assert.equal(sandbox.controls.switches().outage, "none");
    },
  },
  {
    reason: "an outage may be of the token endpoint alone",
    switches: { outage: "unavailable", outageScope: "token" },
    async check({ list, getToken }) {
      assert.deepEqual([(await list()).status, (await getToken({})).status], [200, 503]);
    },
  },
  {
    reason: "a broker's own 400 or 422 also comes as 502 BrokerError, with a text that differs every time",
    instance: { brokerFailures: "always", brokerFailureStatus: 422 },
    async check({ create }) {
      const [first, second] = [await create("a"), await create("a")];
      for (const { status, body } of [first, second]) {
        assert.deepEqual([status, body.error, body.broker_error.StatusCode], [502, "BrokerError", 422]);
      }
      assert.notEqual(first.body.description, second.body.description);
    },
  },
  {
    reason: "a quota error also comes as 502 BrokerError: plans that allow only 5 bindings",
    instance: { bindingQuota: 5 },
    async check({ create, call, sandbox }) {
      for (let i = 0; i < 5; i++) assert.equal((await create(`b${i}`)).status, 201);
      assert.equal((await create("b5")).status, 502);
      await call("DELETE", `/v1/service_bindings/${sandbox.liveBindings()[0]?.id}`);
      assert.equal((await create("b5")).status, 201);
    },
  },
  {
    reason: "a new binding with the same credentials as the old, which work until the last of them goes",
    instance: { sameCredentials: true },
    async check({ create, call, sandbox }) {
      const [a, b] = [(await create("a")).body, (await create("b")).body];
      assert.deepEqual(a.credentials, b.credentials);
      await call("DELETE", `/v1/service_bindings/${a.id}`);
      assert.ok(sandbox.authenticate(b.credentials));
      await call("DELETE", `/v1/service_bindings/${b.id}`);
      assert.equal(sandbox.authenticate(b.credentials), false);
    },
  },
  {
    reason: "an answer that gets lost: the request has had its effect",
    switches: { lostAnswers: 1, lostAnswersTo: "POST" },
    async check({ create, list, sandbox }) {
      assert.equal((await list()).status, 200);
      await assert.rejects(create("a"), AnswerLost);
      assert.equal(sandbox.liveBindings().length, 1);
      assert.equal((await create("a")).status, 409);
    },
  },
  {
    reason: "an answer that takes long: the request has had its effect by the time the client has given up",
    switches: { latencyMs: 500 },
    async check({ clock, create, sandbox }) {
      const leaving = new AbortController();
      const given = create("a", { signal: leaving.signal });
      given.catch(() => {});
      await clock.advance(499);
      leaving.abort();
      await assert.rejects(given, AnswerLost);
      assert.equal(sandbox.liveBindings()[0]?.credentialsWork, true);
      assert.equal((await after(clock, 500, create("b"))).status, 201);
    },
  },
  {
    reason: "a binding deleted in the cockpit is gone without a request",
    async check({ create, call, sandbox }) {
      const { body } = await create("a");
      assert.ok(sandbox.controls.removeBinding(body.id));
      assert.equal(sandbox.authenticate(body.credentials), false);
      assert.equal((await call("GET", `/v1/service_bindings/${body.id}`)).status, 404);
      assert.equal(sandbox.controls.removeBinding(body.id), false);
    },
  },
];

runCases([...errors]);
