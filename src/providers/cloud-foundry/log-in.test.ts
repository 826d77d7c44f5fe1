import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { Connection } from "../contract.ts";
import type { ProviderErrorCode } from "../provider-error.ts";
import type { ScriptedStep } from "../rest/scripted-http.fixture.ts";
import { connect, ok, problem, rejects, shown, signal } from "./scripted.fixture.ts";

const unauthorized = problem(401, 1000);
const look = (connection: Connection, end = signal) => connection.observe("k1", end);
const token = (access_token: string, more: object = {}): ScriptedStep => ok({ access_token, expires_in: 600, ...more });
const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
const formOf = (body: string | undefined) => Object.fromEntries(new URLSearchParams(body));

test("a user logs in with the command line's client, once, where the API says, and with the hint of an origin", async () => {
  const secret = { username: "m&e", password: "p=canary", origin: "sap.ids" };
  const { connection, http } = connect([ok(shown), ok(shown)], { secret });
  await look(connection);
  await look(connection);
  assert.deepEqual([http.discoveries.length, http.tokenRequests.length], [1, 1]);
  assert.equal(http.discoveries[0]?.headers.authorization, undefined, "asked without a token");
  const [asked] = http.tokenRequests;
  assert.equal(asked?.path, `/oauth/token?login_hint=${encodeURIComponent('{"origin":"sap.ids"}')}`);
  assert.equal(asked?.url.host, "uaa.example");
  assert.equal(asked?.headers.authorization, basic("cf:"));
  assert.deepEqual(formOf(asked?.body), { grant_type: "password", username: "m&e", password: "p=canary" });
});

test("a client logs in as itself; a token is used as it is", async () => {
  const client = connect([ok(shown)], { secret: { client_id: "c", client_secret: "s-canary" } });
  await look(client.connection);
  const [asked] = client.http.tokenRequests;
  assert.equal(asked?.headers.authorization, basic("c:s-canary"));
  assert.deepEqual(formOf(asked?.body), { grant_type: "client_credentials" });

  const given = connect([ok(shown)], { secret: { token: "t-canary" } });
  await look(given.connection);
  assert.deepEqual([given.http.discoveries.length, given.http.tokenRequests.length], [0, 0]);
  assert.equal(given.http.requests[0]?.headers.authorization, "Bearer t-canary");
});

test("a token is renewed before it ends with the refresh token, and with the password when that has ended", async () => {
  const tokenSteps = [
    token("t1-canary", { refresh_token: "r1-canary" }),
    token("t2-canary", { refresh_token: "r2-canary" }),
    { status: 401, body: { error: "invalid_token" } },
    token("t3-canary"),
  ];
  const { connection, http, clock } = connect([ok(shown), ok(shown), ok(shown)], { tokenSteps });
  await look(connection);
  await clock.advance(541_000);
  await look(connection);
  assert.deepEqual(formOf(http.tokenRequests[1]?.body), { grant_type: "refresh_token", refresh_token: "r1-canary" });
  assert.equal(http.tokenRequests[1]?.headers.authorization, basic("cf:"));
  await clock.advance(541_000);
  await look(connection);
  assert.deepEqual(
    http.tokenRequests.map(({ body }) => formOf(body).grant_type),
    ["password", "refresh_token", "refresh_token", "password"],
  );
  assert.equal(http.discoveries.length, 1);
  assert.equal(http.requests.at(-1)?.headers.authorization, "Bearer t3-canary");
});

test("callers at the same time share one log-in, and so they do after a 401, each replayed once", async () => {
  const steps = [...Array.from({ length: 10 }, () => unauthorized), ...Array.from({ length: 10 }, () => ok(shown))];
  const { connection, http } = connect(steps, { tokenSteps: [token("t1-canary", { refresh_token: "r-canary" })] });
  await Promise.all(Array.from({ length: 10 }, () => look(connection)));
  assert.equal(http.requests.length, 20);
  assert.deepEqual(
    http.tokenRequests.map(({ body }) => formOf(body).grant_type),
    ["password", "password"],
    "a refused token is no reason to trust the refresh token",
  );
  const refused = connect([unauthorized, unauthorized]);
  await rejects(look(refused.connection), "ProviderForbidden");
  assert.deepEqual([refused.http.requests.length, refused.http.tokenRequests.length], [2, 2]);
});

test("what answers in place of the API or of the UAA is told apart", async () => {
  const rows: readonly (readonly [
    discovery: ScriptedStep | undefined,
    step: ScriptedStep | undefined,
    code: ProviderErrorCode,
    reason: string,
  ])[] = [
    [ok("<html>canary</html>"), undefined, "ProviderUnavailable", "a page"],
    [{ status: 404, body: "canary" }, undefined, "ProviderUnavailable", "a router"],
    [{ status: 503, body: "canary" }, undefined, "ProviderUnavailable", "an outage"],
    [{ status: 429, headers: { "retry-after": "7" } }, undefined, "ProviderThrottled", "a rate limit"],
    [ok({ links: { uaa: null, login: null } }), undefined, "ProviderForbidden", "a foundation without a UAA"],
    [ok({ links: { uaa: { href: "http://canary" } } }), undefined, "ProviderForbidden", "a UAA without encryption"],
    [new Error("ECONNREFUSED"), undefined, "ProviderUnavailable", "no connection"],
    [undefined, { status: 401, body: { error: "unauthorized" } }, "ProviderForbidden", "a wrong password"],
    [undefined, { status: 429, headers: { "retry-after": "7" } }, "ProviderThrottled", "the UAA's rate limit"],
    [undefined, new Error("ECONNRESET"), "ProviderUnavailable", "a UAA that is gone"],
  ];
  for (const [discovery, step, code, reason] of rows) {
    const { connection, http, clock } = connect([ok(shown)], {
      discoverySteps: discovery === undefined ? [] : [discovery],
      tokenSteps: step === undefined ? [] : [step],
    });
    await rejects(look(connection), code, reason);
    assert.equal(http.requests.length, 0, "nothing is sent without a token");
    if (reason === "a wrong password") await clock.advance(60_000);
    assert.equal((await look(connection))?.id, "k1", `${reason}: the next call asks again`);
  }
});

test("the log-in page's address does where there is none of the UAA's", async () => {
  const discoverySteps = [ok({ links: { login: { href: "https://login.example/" } } })];
  const { connection, http } = connect([ok(shown)], { discoverySteps });
  await look(connection);
  assert.equal(http.tokenRequests[0]?.url.href, "https://login.example/oauth/token");
});

test("TLS is verified in every request, unless the user has said otherwise", async () => {
  for (const skipTlsVerification of [false, true]) {
    const { connection, http } = connect([ok(shown)], { source: { skipTlsVerification } });
    await look(connection);
    const all = [...http.discoveries, ...http.tokenRequests, ...http.requests];
    assert.deepEqual(
      all.map(({ believesAnybody }) => believesAnybody),
      [skipTlsVerification, skipTlsVerification, skipTlsVerification],
    );
  }
});

test("a password that is not accepted is not tried again within a minute, by however many: the UAA would lock the user out", async () => {
  const wrong = { status: 401, body: { error: "unauthorized" } };
  const { connection, http, clock } = connect([], { tokenSteps: [wrong, wrong] });
  for (let index = 0; index < 10; index += 1) await rejects(look(connection), "ProviderForbidden");
  assert.equal(http.tokenRequests.length, 1);
  await clock.advance(60_000);
  await rejects(look(connection), "ProviderForbidden");
  assert.equal(http.tokenRequests.length, 2);
});
