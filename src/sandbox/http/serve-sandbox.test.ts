import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { ManualClock, settle } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import { controlPages } from "../service-manager/control-requests.ts";
import { type ServedSandbox, startSandbox } from "./serve-sandbox.ts";

const clock = new ManualClock();
const served = await startSandbox({ clock, random: seededRandom(1) });
after(() => served.stop());
const { sandbox } = served;

/** Waits for what is under way between two sockets of this process. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 10_000; i++) {
    if (isSo()) return;
    await settle();
  }
  assert.fail("it did not come about");
}

async function tokenOf({ url, credentials }: ServedSandbox, headers: Readonly<Record<string, string>> = {}) {
  const form: Record<string, string> = { grant_type: "client_credentials", client_id: credentials.clientid };
  if ("clientsecret" in credentials) form.client_secret = credentials.clientsecret;
  const answer = await fetch(`${url}/oauth/token`, { method: "POST", headers, body: new URLSearchParams(form) });
  const body: unknown = await answer.json();
  return { status: answer.status, token: String((body as { access_token?: string }).access_token) };
}

interface CallOptions {
  readonly json?: unknown;
  readonly signal?: AbortSignal;
  readonly token?: string;
}

async function call(method: string, path: string, { json, signal, token = "" }: CallOptions = {}) {
  const answer = await fetch(served.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(signal && { signal }),
  });
  const body: unknown = JSON.parse(await answer.text());
  return { status: answer.status, headers: answer.headers, body: body as Readonly<Record<string, unknown>> };
}

test("a client with the credentials as issued makes, lists and deletes a binding over HTTP", async () => {
  assert.match(served.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const { token } = await tokenOf(served);
  const { id: instance } = sandbox.controls.putInstance();
  const made = await call("POST", "/v1/service_bindings", {
    token,
    json: { name: "a", service_instance_id: instance },
  });
  assert.equal(made.status, 201);
  const query = new URLSearchParams({ fieldQuery: "name eq 'a'" });
  const listed = await call("GET", `/v1/service_bindings?${query}`, { token });
  assert.equal(listed.body.num_items, 1);
  assert.equal((await call("DELETE", `/v1/service_bindings/${made.body.id}`, { token })).status, 200);
  assert.deepEqual(sandbox.liveBindings(), []);
});

test("a certificate is presented as behind a router that ends TLS", async () => {
  const certificate = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n";
  const credentials = sandbox.controls.issueClient(served.url, { certificate });
  const client = { ...served, credentials };
  assert.equal((await tokenOf(client)).status, 401);
  assert.equal((await tokenOf(client, { "x-forwarded-client-cert": "REVG" })).status, 401);
  assert.equal((await tokenOf(client, { "x-forwarded-client-cert": "QUJD" })).status, 200);
});

test("a client that closes its connection in mid-create leaves a binding with ready: false", async () => {
  const { token } = await tokenOf(served);
  const { id: instance } = sandbox.controls.putInstance({ brokerLatencyMs: 100 });
  const leaving = new AbortController();
  const json = { name: "left", service_instance_id: instance };
  const answer = call("POST", "/v1/service_bindings", { token, json, signal: leaving.signal });
  await until(() => sandbox.pendingCreates().length === 1);
  leaving.abort();
  await assert.rejects(answer);
  await until(() => sandbox.snapshot().attempts.some((attempt) => attempt.kind === "create" && attempt.isForsaken));
  await clock.advance(100);
  assert.deepEqual(
    sandbox.liveBindings().map(({ name, isReady }) => ({ name, isReady })),
    [{ name: "left", isReady: false }],
  );
  sandbox.controls.removeInstance(instance);
});

test("an answer that gets lost breaks the connection, and the effect stays", async () => {
  const { token } = await tokenOf(served);
  const { id: instance } = sandbox.controls.putInstance();
  sandbox.controls.set({ lostAnswers: 1 });
  await assert.rejects(
    call("POST", "/v1/service_bindings", { token, json: { name: "b", service_instance_id: instance } }),
  );
  assert.equal(sandbox.liveBindings().length, 1);
  sandbox.controls.removeInstance(instance);
});

test("a body beyond the limit is refused", async () => {
  const answer = await fetch(`${served.url}/oauth/token`, { method: "POST", body: "x".repeat(2_000_000) });
  assert.equal(answer.status, 413);
});

test("rubbish on the wire does not end the server", async () => {
  await new Promise<void>((resolve) => {
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1", () => socket.end("\0\0GET nothing\r\n\r\n"));
    socket
      .on("close", () => resolve())
      .on("error", () => {})
      .resume();
  });
  assert.equal((await call("GET", "/sandbox/state")).status, 200);
});

test("people flip switches with curl", async () => {
  const changed = await call("PATCH", "/sandbox/switches", { json: { outage: "throttled", retryAfter: "go-time" } });
  assert.deepEqual([changed.status, changed.body.outage], [200, "throttled"]);
  const throttled = await call("GET", "/v1/service_bindings");
  assert.equal(throttled.status, 429);
  assert.match(throttled.headers.get("retry-after") ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC$/);
  assert.equal((await call("DELETE", "/sandbox/switches")).body.outage, "none");
  for (const json of [
    { outage: "flood" },
    { unknown: 1 },
    { nameRaceMs: -1 },
    { nameRaceMs: 1.5 },
    [],
    { toString: 1 },
  ]) {
    assert.equal((await call("PATCH", "/sandbox/switches", { json })).status, 400, JSON.stringify(json));
  }
});

test("people add, change and remove instances, bindings, plans and tokens with curl", async () => {
  const { token } = await tokenOf(served);
  const put = await call("PUT", "/sandbox/instances/db", { json: { plan: "small", bindingQuota: 1 } });
  assert.deepEqual([put.status, put.body.plan], [200, "small"]);
  assert.equal((await call("PUT", "/sandbox/instances/db", { json: { broker: "carrier pigeon" } })).status, 400);
  const make = (name: string) =>
    call("POST", "/v1/service_bindings", { token, json: { name, service_instance_id: "db" } });
  const { body } = await make("a");
  assert.equal((await make("b")).status, 502);
  const authenticate = () => call("POST", "/sandbox/authenticate", { json: body.credentials });
  assert.deepEqual((await authenticate()).body, { works: true });
  assert.equal((await call("DELETE", `/sandbox/bindings/${body.id}`)).status, 200);
  assert.deepEqual((await authenticate()).body, { works: false });
  assert.equal((await call("DELETE", `/sandbox/bindings/${body.id}`)).status, 404);

  const client = `/sandbox/clients/${encodeURIComponent(served.credentials.clientid)}`;
  assert.equal((await call("PATCH", client, { json: { plan: "service-operator-access" } })).status, 200);
  assert.equal((await make("c")).status, 403);
  assert.equal((await call("PATCH", client, { json: { plan: "other" } })).status, 400);
  assert.equal((await call("PATCH", client, { json: { plan: "subaccount-admin" } })).status, 200);
  assert.equal((await call("DELETE", "/sandbox/tokens")).status, 200);
  assert.equal((await make("c")).status, 401);
  assert.equal((await call("DELETE", "/sandbox/instances/db")).status, 200);
  assert.equal((await call("GET", "/sandbox/nothing")).status, 404);
});

test("people get a further client with curl, and the list of what there is", async () => {
  const { status, body } = await call("POST", "/sandbox/clients", { json: { plan: "service-operator-access" } });
  assert.deepEqual([status, body.sm_url], [200, served.url]);
  const further = { ...served, credentials: body as typeof served.credentials };
  const { token } = await tokenOf(further);
  assert.equal((await call("GET", "/v1/service_bindings", { token })).status, 403);
  for (const json of [{ plan: "free" }, { certificate: "not one" }, { certificate: 1 }]) {
    assert.equal((await call("POST", "/sandbox/clients", { json })).status, 400, JSON.stringify(json));
  }
  const certificate = "-----BEGIN CERTIFICATE-----\nR0hJ\n-----END CERTIFICATE-----\n";
  const { body: issued } = await call("POST", "/sandbox/clients", { json: { certificate } });
  const holder = { ...served, credentials: issued as typeof served.credentials };
  assert.equal((await tokenOf(holder, { "x-forwarded-client-cert": "R0hJ" })).status, 200);
  const { controls } = (await call("GET", "/sandbox/")).body;
  assert.deepEqual(controls, controlPages);
});

test("every control that the list names is there", async () => {
  for (const { request } of controlPages) {
    const [methods = "", path = ""] = request.split(" ");
    for (const method of methods.split("|")) {
      const body = method === "GET" || method === "DELETE" ? {} : { json: {} };
      const { body: answer } = await call(method, path, body);
      assert.notEqual(answer.description, "the sandbox has no such control", request);
    }
  }
});

test("another sandbox goes on from a snapshot, with the same credentials", async () => {
  const next = await startSandbox({ clock, random: seededRandom(2), snapshot: sandbox.snapshot() });
  try {
    assert.equal(next.credentials.clientid, served.credentials.clientid);
    assert.equal((await tokenOf(next)).status, 200);
  } finally {
    await next.stop();
  }
});

test("a port that is taken is an error, not a hang", async () => {
  const port = Number(new URL(served.url).port);
  await assert.rejects(startSandbox({ clock, random: seededRandom(3), port }), { code: "EADDRINUSE" });
});
