import assert from "node:assert/strict";
import { AnswerLost } from "../http/exchange.ts";
import { after, type ReferenceCase, runCases } from "./sandbox.fixture.ts";

/** What the reference says of log-ins, of making bindings and of operations, sentence by sentence. */
const asynchronous = { broker: "asynchronous", brokerLatencyMs: 100, brokerWorkMs: 1000 } as const;
const slow = { brokerLatencyMs: 100 } as const;
const pem = (content: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(content).toString("base64")}\n-----END CERTIFICATE-----\n`;

const credentials: readonly ReferenceCase[] = [
  {
    reason: "credential secret, as issued: {clientid, clientsecret, url, sm_url, xsappname}",
    async check({ sandbox }) {
      const issued = sandbox.controls.issueClient("http://x");
      assert.deepEqual(Object.keys(issued).sort(), ["clientid", "clientsecret", "sm_url", "url", "xsappname"]);
    },
  },
  {
    reason: "x509 {clientid, certificate, key, certurl, sm_url}: no secret, the certificate stands for it",
    async check({ sandbox, getToken }) {
      const [own, other] = [pem("certificate A"), pem("certificate B")];
      const issued = sandbox.controls.issueClient("http://x", { certificate: own });
      assert.ok("certurl" in issued && !("clientsecret" in issued));
      const form = { grant_type: "client_credentials", client_id: issued.clientid };
      assert.equal((await getToken(form, own)).status, 200);
      assert.equal((await getToken(form, other)).status, 401);
      assert.equal((await getToken({ ...form, client_secret: own })).status, 401);
    },
  },
  {
    reason: "the token's answer is {access_token, token_type, expires_in}",
    switches: { tokenLifetimeMs: 600_000 },
    async check({ sandbox, getToken }) {
      const issued = sandbox.controls.issueClient("http://x");
      assert.ok("clientsecret" in issued);
      const form = { grant_type: "client_credentials", client_id: issued.clientid };
      const { status, body } = await getToken({ ...form, client_secret: issued.clientsecret });
      assert.deepEqual([status, body.token_type, body.expires_in], [200, "bearer", 600]);
      assert.equal(typeof body.access_token, "string");
      assert.equal((await getToken({ ...form, client_secret: "wrong" })).status, 401);
      assert.equal((await getToken({ ...form, client_secret: issued.clientsecret, grant_type: "x" })).status, 400);
    },
  },
  {
    reason: "on a 401 fetch one new token: a token ends with its time",
    async check({ clock, list }) {
      assert.equal((await list()).status, 200);
      await clock.advance(12 * 3_600_000);
      const { status, body } = await list();
      assert.deepEqual([status, body.error], [401, "Unauthorized"]);
    },
  },
  {
    reason: "on a 401 fetch one new token: tokens are revoked before their time",
    async check({ sandbox, list }) {
      sandbox.controls.revokeTokens();
      assert.equal((await list()).status, 401);
    },
  },
  {
    reason: "a tenant whose plan is service-operator-access gets 403 on direct calls",
    async check({ sandbox, getToken, call }) {
      const issued = sandbox.controls.issueClient("http://x", { plan: "service-operator-access" });
      assert.ok("clientsecret" in issued);
      const { clientid, clientsecret } = issued;
      const form = { grant_type: "client_credentials", client_id: clientid, client_secret: clientsecret };
      const { status, body } = await getToken(form);
      assert.equal(status, 200);
      const refused = await call("GET", "/v1/service_bindings", { token: body.access_token });
      assert.deepEqual([refused.status, refused.body.error], [403, "Forbidden"]);
      assert.ok(sandbox.controls.setClientPlan(clientid, "subaccount-admin"));
      assert.equal((await call("GET", "/v1/service_bindings", { token: body.access_token })).status, 200);
    },
  },
];

const creation: readonly ReferenceCase[] = [
  {
    reason: "201 with {id, ready, name, service_instance_id, credentials, context, labels, created_at, …}",
    async check({ sandbox, create, instanceId }) {
      const { status, body } = await create("a", { labels: { owner: ["x"] } });
      assert.equal(status, 201);
      assert.deepEqual([body.ready, body.name, body.service_instance_id], [true, "a", instanceId]);
      assert.deepEqual([body.labels, body.last_operation.state], [{ owner: ["x"] }, "succeeded"]);
      assert.equal(body.created_at, "2026-01-01T00:00:00.000Z");
      assert.ok(body.updated_at && body.context && sandbox.authenticate(body.credentials));
    },
  },
  {
    reason: "or 202, body {}, Location relative with the binding id in it; 202 for a broker that answers 202",
    instance: asynchronous,
    async check({ clock, create, call, sandbox }) {
      const { status, body, headers } = await after(clock, 100, create("a"));
      assert.deepEqual([status, body], [202, {}]);
      const location = headers.location ?? "";
      const [, id] = /^\/v1\/service_bindings\/([^/]+)\/operations\/[^/]+$/.exec(location) ?? [];
      assert.equal((await call("GET", location)).body.state, "in progress");
      const half = await call("GET", `/v1/service_bindings/${id}`);
      assert.deepEqual([half.status, half.body.ready, half.body.credentials], [200, false, undefined]);
      await clock.advance(1000);
      assert.equal((await call("GET", location)).body.state, "succeeded");
      const done = await call("GET", `/v1/service_bindings/${id}`);
      assert.ok(done.body.ready && sandbox.authenticate(done.body.credentials));
    },
  },
  {
    reason: "202 for a broker that answers 202, also where it is done at once",
    instance: { broker: "asynchronous" },
    async check({ create, call, sandbox }) {
      const { status, headers } = await create("a");
      assert.equal(status, 202);
      const { body } = await call("GET", headers.location ?? "");
      assert.equal(body.state, "succeeded");
      const removed = await call("DELETE", `/v1/service_bindings/${body.resource_id}`);
      assert.equal(removed.status, 202);
      assert.equal((await call("GET", removed.headers.location ?? "")).body.state, "succeeded");
      assert.deepEqual(sandbox.liveBindings(), []);
    },
  },
  {
    reason: "a client-supplied id is a 400",
    async check({ call, instanceId }) {
      const json = { id: "mine", name: "a", service_instance_id: instanceId };
      assert.equal((await call("POST", "/v1/service_bindings", { json })).status, 400);
    },
  },
  {
    reason: "400: bad body",
    async check({ call, instanceId, sandbox }) {
      const bad = [
        undefined,
        [],
        {},
        { name: "a" },
        { name: "", service_instance_id: instanceId },
        { name: "a", service_instance_id: instanceId, labels: { a: "b" } },
        { name: "a", service_instance_id: instanceId, labels: { "a b": ["c"] } },
        { name: "a", service_instance_id: instanceId, parameters: 3 },
      ];
      for (const json of bad) {
        const { status, body } = await call("POST", "/v1/service_bindings?async=true", { json });
        assert.deepEqual([status, body.error], [400, "BadRequest"], JSON.stringify(json));
      }
      assert.deepEqual(sandbox.liveBindings(), []);
    },
  },
  {
    reason: "async=false waits for the broker",
    instance: asynchronous,
    async check({ clock, create, sandbox }) {
      const { status, body } = await after(clock, 1100, create("a", { query: "?async=false" }));
      assert.equal(status, 201);
      assert.ok(body.ready && sandbox.authenticate(body.credentials));
    },
  },
  ...(["", "?async=false"] as const).map(
    (query): ReferenceCase => ({
      reason: `a client that goes away in the meantime leaves a binding with ready: false (${query || "async left out"})`,
      instance: slow,
      async check({ clock, create, sandbox, list }) {
        const leaving = new AbortController();
        const answer = create("a", { query, signal: leaving.signal });
        leaving.abort();
        await assert.rejects(answer, AnswerLost);
        assert.equal(sandbox.pendingCreates().length, 1);
        await clock.advance(100);
        const { body } = await list({ attach_last_operations: "true" });
        const [left] = body.items;
        assert.ok(left);
        assert.deepEqual([left.ready, left.credentials, left.last_operation.state], [false, undefined, "failed"]);
        assert.equal(sandbox.liveBindings()[0]?.credentialsWork, true);
      },
    }),
  ),
  {
    reason: "with async=true everything is 202 first: a duplicate name shows up as a failed operation with Conflict",
    async check({ create, call, sandbox }) {
      await create("a");
      const { status, headers } = await create("a", { query: "?async=true" });
      assert.equal(status, 202);
      const { body } = await call("GET", headers.location ?? "");
      assert.deepEqual([body.state, body.errors.error], ["failed", "Conflict"]);
      assert.equal(sandbox.liveBindings().length, 1);
    },
  },
  {
    reason: "with async=true everything is 202 first: an unknown instance shows up as a failed operation with NotFound",
    async check({ create, call }) {
      const { status, headers } = await create("a", { query: "?async=true", instanceId: "unknown" });
      assert.equal(status, 202);
      const { body } = await call("GET", headers.location ?? "");
      assert.deepEqual([body.state, body.errors.error], ["failed", "NotFound"]);
    },
  },
  {
    reason: "with async=true a synchronous broker's binding is 202 first, too",
    async check({ create, call, sandbox }) {
      const { status, headers } = await create("a", { query: "?async=true" });
      assert.equal(status, 202);
      assert.equal((await call("GET", headers.location ?? "")).body.state, "succeeded");
      assert.equal(sandbox.liveBindings()[0]?.credentialsWork, true);
    },
  },
  {
    reason: "names are unique only most of the time: concurrent creates of one name all succeed within the window",
    instance: slow,
    switches: { nameRaceMs: 50 },
    async check({ clock, create, list }) {
      const answers = Array.from({ length: 7 }, () => create("a"));
      await clock.advance(50);
      assert.equal((await create("a")).status, 409);
      await clock.advance(100);
      for (const { status } of await Promise.all(answers)) assert.equal(status, 201);
      const { body } = await list({ fieldQuery: "name eq 'a'" });
      assert.equal(body.num_items, 7);
    },
  },
  {
    reason: "without the window a name is taken from the moment its create begins",
    instance: slow,
    async check({ clock, create }) {
      const first = create("a");
      assert.equal((await create("a")).status, 409);
      assert.equal((await after(clock, 100, first)).status, 201);
    },
  },
  {
    reason: "a rename to a taken name is a 200",
    async check({ create, call, list }) {
      await create("a");
      const { body } = await create("b");
      const renamed = await call("PATCH", `/v1/service_bindings/${body.id}`, { json: { name: "a" } });
      assert.deepEqual([renamed.status, renamed.body.name], [200, "a"]);
      assert.equal((await list({ fieldQuery: "name eq 'a'" })).body.num_items, 2);
      assert.equal((await list({ fieldQuery: "name eq 'b'" })).body.num_items, 0);
    },
  },
  {
    reason: "a request's context is ignored",
    async check({ call, instanceId }) {
      const json = { name: "a", service_instance_id: instanceId, context: { mine: true } };
      const { body } = await call("POST", "/v1/service_bindings", { json });
      assert.equal(body.context.mine, undefined);
    },
  },
];

const operations: readonly ReferenceCase[] = [
  {
    reason: "operation → {id, type, state, description, resource_id, errors, …}: succeeded",
    async check({ create, call }) {
      const { headers } = await create("a", { query: "?async=true" });
      const location = headers.location ?? "";
      const { body } = await call("GET", location);
      assert.deepEqual([body.type, body.state, body.errors], ["create", "succeeded", undefined]);
      assert.ok(location.endsWith(`/${body.resource_id}/operations/${body.id}`));
      assert.equal((await call("GET", location.replace(body.resource_id, "other"))).status, 404);
    },
  },
  {
    reason: "state: pending until the broker has answered, and GET of the binding is 404 in the meantime",
    instance: slow,
    async check({ clock, create, call }) {
      const { headers } = await create("a", { query: "?async=true" });
      const { body } = await call("GET", headers.location ?? "");
      assert.equal(body.state, "pending");
      assert.equal((await call("GET", `/v1/service_bindings/${body.resource_id}`)).status, 404);
      await clock.advance(100);
      assert.equal((await call("GET", headers.location ?? "")).body.state, "succeeded");
    },
  },
  {
    reason: "errors may be an object or an array, the case of type varies",
    switches: { operationErrors: "array", operationTypeCase: "upper" },
    async check({ create, call }) {
      const { headers } = await create("a", { query: "?async=true", instanceId: "unknown" });
      const { body } = await call("GET", headers.location ?? "");
      assert.deepEqual([body.type, body.errors[0]?.error], ["CREATE", "NotFound"]);
    },
  },
  {
    reason: "one read `in progress` for minutes after its binding had been deleted",
    instance: asynchronous,
    async check({ clock, create, call, sandbox }) {
      const { headers } = await after(clock, 100, create("a"));
      const { body } = await call("GET", headers.location ?? "");
      const id = body.resource_id;
      sandbox.controls.putInstance({ broker: "synchronous", brokerLatencyMs: 0 }, sandbox.controls.instances()[0]?.id);
      assert.equal((await call("DELETE", `/v1/service_bindings/${id}`)).status, 200);
      await clock.advance(240_000);
      assert.equal((await call("GET", headers.location ?? "")).body.state, "in progress");
      assert.deepEqual(sandbox.liveBindings(), []);
      await clock.advance(60_000);
      assert.equal((await call("GET", headers.location ?? "")).body.state, "failed");
    },
  },
  ...(["synchronous", "asynchronous"] as const).map(
    (broker): ReferenceCase => ({
      reason: `a failed asynchronous create leaves a binding with ready: false: delete it, then try again (${broker})`,
      instance: { broker, brokerFailures: 1, brokerFailsOn: "bind" },
      async check({ create, call, sandbox, list }) {
        const { headers } = await create("a", { query: "?async=true" });
        const { body } = await call("GET", headers.location ?? "");
        assert.deepEqual([body.state, body.errors.error], ["failed", "BrokerError"]);
        const [left] = (await list()).body.items;
        assert.ok(left);
        assert.deepEqual([left.ready, left.credentials], [false, undefined]);
        assert.equal((await create("a", { query: "?async=false" })).status, 409);
        assert.equal((await call("DELETE", `/v1/service_bindings/${left.id}?async=false`)).status, 200);
        assert.equal((await create("a", { query: "?async=false" })).status, 201);
        assert.equal(sandbox.liveBindings().length, 1);
      },
    }),
  ),
  {
    reason: "a failed create that is waited for leaves nothing",
    instance: { brokerFailures: 1 },
    async check({ create, sandbox }) {
      assert.equal((await create("a")).status, 502);
      assert.deepEqual(sandbox.liveBindings(), []);
      assert.equal((await create("a")).status, 201);
    },
  },
];

runCases([...credentials, ...creation, ...operations]);
