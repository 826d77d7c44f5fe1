import assert from "node:assert/strict";
import { type Foundation, type ReferenceCase, runCases } from "./foundation.fixture.ts";
import type { Switches } from "./switches.ts";

/** What the reference says of errors, limits and outages, sentence by sentence. */
const BINDINGS = "/v3/service_credential_bindings";

async function refuses(answer: ReturnType<Foundation["create"]>, detail: string | RegExp): Promise<void> {
  const { status, body } = await answer;
  const [error, ...others] = body.errors ?? [];
  assert.deepEqual([status, error?.code, error?.title, others], [422, 10008, "CF-UnprocessableEntity", []]);
  if (typeof detail === "string") assert.equal(error?.detail, detail);
  else assert.match(error?.detail ?? "", detail);
}

const unprocessable: readonly ReferenceCase[] = [
  {
    reason: "422 The binding name is invalid. Key binding names must be unique. …: per instance, from the POST on",
    instance: { brokerLatencyMs: 100 },
    async check({ create, sandbox }) {
      const detail =
        "The binding name is invalid. Key binding names must be unique. " +
        "The service instance already has a key binding with name 'a'.";
      assert.deepEqual(
        (await Promise.all([create("a"), create("a")])).map(({ status }) => status),
        [202, 422],
      );
      await refuses(create("a"), detail);
      assert.equal((await create("a", { instanceId: sandbox.controls.putInstance().id })).status, 202);
    },
  },
  {
    reason: "422 …that is getting deleted or its deletion failed.",
    instance: { brokerFailures: 1, brokerFailsOn: "unbind" },
    async check({ make, create, call }) {
      await call("DELETE", `${BINDINGS}/${await make("a")}`);
      await refuses(create("a"), /^The binding name is invalid\. .* that is getting deleted or its deletion failed\.$/);
    },
  },
  {
    reason: "422 You have exceeded your organization's limit for service binding of type key. (also space's)",
    async check({ make, create, call, sandbox, instanceId }) {
      const { controls } = sandbox;
      const [space, organization] = [controls.spaces()[0]?.id, controls.organizations()[0]?.id];
      const elsewhere = controls.putInstance({ space: controls.putSpace().id }).id;
      controls.putOrganization({ keyQuota: 3 }, organization);
      controls.putSpace({ keyQuota: 1 }, space);
      const id = await make("a");
      await refuses(create("b"), "You have exceeded your space's limit for service binding of type key.");
      controls.putSpace({ keyQuota: null }, space);
      await make("b", { instanceId: elsewhere });
      await make("c");
      const detail = "You have exceeded your organization's limit for service binding of type key.";
      await refuses(create("d"), detail);
      await refuses(create("d", { instanceId: elsewhere }), detail);
      const appId = controls.putApp().id;
      assert.equal((await create("d", { type: "app", appId })).status, 202, "bindings of apps do not count");
      await call("DELETE", `${BINDINGS}/${id}`);
      controls.putInstance({ brokerFailures: 1 }, instanceId);
      assert.equal((await create("d")).status, 202);
      await refuses(create("e"), detail);
      assert.equal((await create("d")).status, 202, "in the place of one whose create failed");
    },
  },
  {
    reason: "422 Service plan does not allow bindings.",
    instance: { bindable: false },
    check: ({ create }) => refuses(create("a"), "Service plan does not allow bindings."),
  },
  {
    reason: "422 The service instance could not be found: 'guid'",
    check: ({ create }) =>
      refuses(create("a", { instanceId: "gone" }), "The service instance could not be found: 'gone'"),
  },
  {
    reason: "422 There is an operation in progress for the service instance.",
    async check({ make, create, call, sandbox, instanceId }) {
      const id = await make("a");
      sandbox.controls.putInstance({ isBusy: true }, instanceId);
      const detail = "There is an operation in progress for the service instance.";
      await refuses(create("b"), detail);
      await refuses(call("DELETE", `${BINDINGS}/${id}`), detail);
    },
  },
  {
    reason: "422: what a request lacks, or has too much of",
    async check({ create, call, instanceId }) {
      const relationships = { service_instance: { data: { guid: instanceId } } };
      const post = (json: object) => call("POST", BINDINGS, { json });
      await refuses(post({ name: "a", relationships }), "Type must be one of 'app', 'key'");
      await refuses(post({ type: "key", relationships }), "Name can't be blank");
      await refuses(post({ type: "key", name: 1, relationships }), "Name must be a string");
      await refuses(post({ type: "key", name: "", relationships }), /^Name is too short/);
      await refuses(create("x".repeat(256)), /^Name is too long/);
      await refuses(post({ type: "key", name: "a" }), /^Relationships/);
      await refuses(post({ type: "key", name: "a", relationships: {} }), /^Relationships Service instance/);
      await refuses(create("a", { appId: "x" }), /^Relationships Unknown field/);
      await refuses(create("a", { parameters: [] }), "Parameters must be an object");
      await refuses(create("a", { metadata: { labels: { a: "b c" } } }), /^Metadata label value error/);
      await refuses(post({ type: "key", name: "a", relationships, guid: "x" }), "Unknown field(s): 'guid'");
    },
  },
  {
    reason: "Korifi answers 422 to metadata in a create: without it all is well, and a PATCH adds it",
    switches: { metadataInCreate: "refused" },
    async check({ create, make, call }) {
      await refuses(create("a", { metadata: { labels: { a: "b" } } }), /unknown field "metadata"$/);
      const id = await make("a");
      const { body } = await call("PATCH", `${BINDINGS}/${id}`, { json: { metadata: { labels: { a: "b" } } } });
      assert.deepEqual(body.metadata.labels, { a: "b" });
    },
  },
];

const other: readonly ReferenceCase[] = [
  {
    reason: "404 code 90004 is said of a missing key by some",
    switches: { missingCode: 90004 },
    async check({ get }) {
      const { status, body } = await get("none");
      assert.deepEqual(
        [status, body.errors[0]?.code, body.errors[0]?.title],
        [404, 90004, "CF-ServiceBindingNotFound"],
      );
    },
  },
  {
    reason: "a path or method that is not there: 404 code 10000; a body that is no JSON: 400 code 1001",
    async check({ call }) {
      for (const [method, path] of [
        ["GET", "/v3/routes"],
        ["PUT", BINDINGS],
        ["GET", `${BINDINGS}/a%2Fb`],
      ] as const) {
        const { status, body } = await call(method, path);
        assert.deepEqual([status, body.errors[0]?.code], [404, 10000], path);
      }
      for (const body of ["", "{", "[]", `{"a":${"[".repeat(9000)}${"]".repeat(9000)}}`]) {
        const answer = await call("POST", BINDINGS, { body });
        assert.deepEqual([answer.status, answer.body.errors[0]?.code], [400, 1001]);
      }
    },
  },
];

/** The clock of the fixture stands at the beginning of 2026. */
const RESET = String(Date.UTC(2026, 0, 1, 0, 1, 30) / 1000);

const throttled = (retryAfter: Switches["retryAfter"], header: string | undefined): ReferenceCase => ({
  reason: `429: code 10013, Retry-After (${retryAfter}) and X-RateLimit-Reset; the body is JSON, its type says text/plain`,
  switches: { outage: "throttled", retryAfter, retryAfterMs: 90_000 },
  async check({ list }) {
    const { status, headers, body } = await list();
    assert.deepEqual([status, headers["retry-after"], headers["x-ratelimit-reset"]], [429, header, RESET]);
    assert.match(headers["content-type"] ?? "", /^text\/plain/);
    assert.deepEqual([body.errors[0]?.code, body.errors[0]?.title], [10013, "CF-RateLimitExceeded"]);
  },
});

const limits: readonly ReferenceCase[] = [
  throttled("seconds", "90"),
  throttled("epoch", RESET),
  throttled("none", undefined),
  {
    reason: "429 code 20008",
    switches: { outage: "throttled", throttledCode: 20008 },
    async check({ list }) {
      const { status, body } = await list();
      assert.deepEqual([status, body.errors[0]?.code, body.errors[0]?.title], [429, 20008, "CF-UaaRateLimited"]);
    },
  },
  {
    reason: "a limit of requests per login and window, told by headers; discovery and log-in do not count",
    switches: { rateLimit: 2, rateLimitWindowMs: 60_000 },
    async check({ list, call, clock, sandbox, logIn, user }) {
      const left = async () => {
        const { status, headers } = await list();
        return [status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]];
      };
      assert.deepEqual(
        [await left(), await left()],
        [
          [200, "2", "1"],
          [200, "2", "0"],
        ],
      );
      await clock.advance(20_000);
      const { status, headers } = await list();
      assert.deepEqual([status, headers["retry-after"]], [429, "40"]);
      assert.equal((await call("GET", "/", { headers: {} })).status, 200);
      assert.equal((await logIn({ grant_type: "password", ...user })).status, 200);
      const client = sandbox.controls.issueLogin("http://x", { kind: "client" });
      const token = "clientId" in client ? sandbox.controls.issueToken(client.clientId) : undefined;
      assert.equal((await call("GET", "/v3/spaces", { token: token ?? "" })).status, 200, "another login");
      await clock.advance(40_000);
      assert.deepEqual(await left(), [200, "2", "1"]);
    },
  },
];

const outage = (kind: Switches["outage"], status: number, routerError?: string): ReferenceCase => ({
  reason: `an outage: ${kind}; of so many requests it ends by itself, and has no effect`,
  switches: { outage: kind, outageRequests: 2 },
  async check({ create, sandbox }) {
    for (const _ of ["first", "second"]) {
      const { status: seen, headers } = await create("a");
      assert.deepEqual([seen, headers["x-cf-routererror"]], [status, routerError]);
    }
    assert.deepEqual(sandbox.liveKeys(), []);
    assert.equal((await create("a")).status, 202);
    assert.equal(sandbox.controls.switches().outage, "none");
  },
});

const outages: readonly ReferenceCase[] = [
  outage("unavailable", 503),
  outage("server-error", 500),
  outage("bad-gateway", 502, "endpoint_failure"),
  outage("unknown-route", 404, "unknown_route"),
  outage("throttled", 429),
  {
    reason: "an outage may be of the UAA alone",
    switches: { outage: "unavailable", outageScope: "token" },
    async check({ list, logIn, user }) {
      assert.deepEqual([(await list()).status, (await logIn({ grant_type: "password", ...user })).status], [200, 503]);
    },
  },
  {
    reason: "a foundation that takes 5 s for every answer has done by then what it was asked for",
    switches: { latencyMs: 5000 },
    async check({ create, clock, sandbox }) {
      let isAnswered = false;
      const answer = create("a").then(({ status }) => {
        isAnswered = true;
        return status;
      });
      await clock.advance(4999);
      assert.deepEqual([isAnswered, sandbox.liveKeys().length], [false, 1]);
      await clock.advance(1);
      assert.equal(await answer, 202);
    },
  },
  {
    reason: "whoever leaves before an answer comes is not told, and what was asked for stays done",
    switches: { latencyMs: 60_000 },
    async check({ call, clock, sandbox, instanceId }) {
      const leaving = new AbortController();
      const relationships = { service_instance: { data: { guid: instanceId } } };
      const json = { type: "key", name: "a", relationships };
      const answer = assert.rejects(call("POST", BINDINGS, { json, signal: leaving.signal }));
      await clock.advance(1000);
      leaving.abort();
      await answer;
      await clock.advance(1000);
      assert.equal(sandbox.liveKeys().length, 1);
      const { caller: _, ...entry } = sandbox.requestLog().at(-1) ?? {};
      assert.deepEqual(entry, { method: "POST", pattern: BINDINGS, outcome: "lost", count: 1 });
    },
  },
];

runCases([...unprocessable, ...other, ...limits, ...outages]);
