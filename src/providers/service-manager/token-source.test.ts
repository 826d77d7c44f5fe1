import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ManualClock, settle } from "../../base/manual-clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { Connection } from "../contract.ts";
import { ProviderError, type ProviderErrorCode } from "../provider-error.ts";
import { ScriptedHttp, type ScriptedStep } from "../rest/scripted-http.fixture.ts";
import { parseServiceManagerCredentials } from "./credentials.ts";
import { connectServiceManager } from "./service-manager.ts";
import { serviceManagerTokens } from "./token-source.ts";

const signal = new AbortController().signal;
const secret = {
  clientid: "m&e",
  clientsecret: "secret=canary&",
  url: "https://auth.example",
  sm_url: "https://sm.example",
};
const x509 = {
  clientid: "me",
  certificate: "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----",
  key: "-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----",
  certurl: "https://cert.example",
  sm_url: "https://sm.example",
};
const ok: ScriptedStep = { status: 200, body: { num_items: 0, items: [] } };
const unauthorized: ScriptedStep = { status: 401, body: { error: "Unauthorized", description: "canary" } };

function connect(
  steps: readonly ScriptedStep[],
  tokenSteps: readonly ScriptedStep[] = [],
  data: Readonly<Record<string, string>> = secret,
): { readonly connection: Connection; readonly http: ScriptedHttp; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const http = new ScriptedHttp(steps, tokenSteps);
  const credentials = parseServiceManagerCredentials(new Redacted(data));
  return { connection: connectServiceManager({ credentials, http, clock }), http, clock };
}

const list = (connection: Connection, end: AbortSignal = signal) => connection.listMarked({ clusterId: "c" }, end);

async function failsWith(work: Promise<unknown>, code: ProviderErrorCode, reason?: string): Promise<ProviderError> {
  const error = await work.then(
    () => assert.fail(`it did not fail: ${reason}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderError, inspect(error));
  assert.equal(error.code, code, reason);
  assert.ok(!inspect(error, { depth: 9 }).includes("canary"), inspect(error, { depth: 9 }));
  return error;
}

test("one token serves all calls until shortly before its end", async () => {
  const { connection, http, clock } = connect([ok, ok, ok, ok]);
  await list(connection);
  await list(connection);
  await clock.advance(3_539_000);
  await list(connection);
  assert.equal(http.tokenRequests.length, 1);
  await clock.advance(1_000);
  await list(connection);
  assert.equal(http.tokenRequests.length, 2);
  assert.equal(http.requests.at(-1)?.headers.authorization, "Bearer token-canary-2");
});

test("a correction of the wall clock makes no token fresher or staler", async () => {
  const { connection, http, clock } = connect([ok, ok, ok]);
  await list(connection);
  for (const byMs of [86_400_000, -172_800_000]) {
    clock.jump(byMs);
    await list(connection);
  }
  assert.equal(http.tokenRequests.length, 1);
});

test("with a client secret it is asked for by form; with a certificate by that, and only there", async () => {
  const bySecret = connect([ok]);
  await list(bySecret.connection);
  const [asked] = bySecret.http.tokenRequests;
  assert.equal(asked?.url.href, "https://auth.example/oauth/token");
  assert.equal(asked?.headers["content-type"], "application/x-www-form-urlencoded");
  assert.deepEqual(Object.fromEntries(new URLSearchParams(asked?.body)), {
    grant_type: "client_credentials",
    client_id: "m&e",
    client_secret: "secret=canary&",
  });
  assert.equal(asked?.hasCertificate, false);

  const byCertificate = connect([ok], [], x509);
  await list(byCertificate.connection);
  const [shown] = byCertificate.http.tokenRequests;
  assert.equal(shown?.url.href, "https://cert.example/oauth/token");
  assert.equal(shown?.hasCertificate, true);
  assert.equal(new URLSearchParams(shown?.body).has("client_secret"), false);
  assert.equal(byCertificate.http.requests[0]?.hasCertificate, false);
});

test("after a 401 there is one new token and one replay with the same body, no more", async () => {
  const renewed = connect([unauthorized, ok, ok]);
  await list(renewed.connection);
  assert.equal(renewed.http.tokenRequests.length, 2);
  assert.deepEqual(
    renewed.http.requests.map(({ headers }) => headers.authorization),
    ["Bearer token-canary-1", "Bearer token-canary-2"],
  );
  assert.equal(renewed.http.requests[0]?.path, renewed.http.requests[1]?.path);
  await list(renewed.connection);
  assert.equal(renewed.http.tokenRequests.length, 2, "the new one is kept");

  const refused = connect([unauthorized, unauthorized, unauthorized, unauthorized]);
  await failsWith(list(refused.connection), "ProviderForbidden");
  assert.equal(refused.http.requests.length, 2);
  assert.equal(refused.http.tokenRequests.length, 2);
  await failsWith(list(refused.connection), "ProviderForbidden");
  assert.equal(refused.http.tokenRequests.length, 3, "one new token a call, however often they are refused");
});

test("callers at the same time share one token request, also for the renewal after a 401", async () => {
  const steps = [...Array.from({ length: 10 }, () => unauthorized), ...Array.from({ length: 10 }, () => ok)];
  const { connection, http } = connect(steps);
  await Promise.all(Array.from({ length: 10 }, () => list(connection)));
  assert.equal(http.tokenRequests.length, 2);
  assert.equal(http.requests.length, 20);
});

test("a refusal that comes late does not throw away the token that came meanwhile", async () => {
  const clock = new ManualClock();
  const http = new ScriptedHttp();
  const tokens = serviceManagerTokens(parseServiceManagerCredentials(new Redacted(secret)), http, clock);
  const old = await tokens.current(signal);
  tokens.reject(old);
  const renewed = await tokens.current(signal);
  tokens.reject(old);
  assert.equal(await tokens.current(signal), renewed);
  assert.equal(http.tokenRequests.length, 2);
});

test("a caller that leaves does not take the token request of the others with it", async () => {
  let answer: (() => void) | undefined;
  const { connection, http } = connect([ok], ["silence"]);
  const original = http.send.bind(http);
  http.send = async (request, end) => {
    if (!request.url.endsWith("/oauth/token")) return original(request, end);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    assert.equal(end.aborted, false, "the shared request goes on");
    return { status: 200, headers: {}, body: new Redacted('{"access_token":"t","expires_in":60}') };
  };
  const controller = new AbortController();
  const leaving = failsWith(list(connection, controller.signal), "ProviderUnavailable");
  const staying = list(connection);
  await settle();
  controller.abort();
  await leaving;
  answer?.();
  assert.deepEqual(await staying, []);
});

test("what the token service answers is told apart, and nothing of it quoted", async () => {
  const table: readonly (readonly [step: ScriptedStep, code: ProviderErrorCode, reason: string])[] = [
    [
      { status: 401, body: { error: "invalid_client", error_description: "canary" } },
      "ProviderForbidden",
      "wrong secret",
    ],
    [{ status: 400, body: { error: "unauthorized_client" } }, "ProviderForbidden", "unknown client"],
    [{ status: 403, body: "<html>canary</html>" }, "ProviderUnavailable", "a proxy's 403"],
    [
      { status: 404, headers: { "x-cf-routererror": "unknown_route" }, body: "canary" },
      "ProviderUnavailable",
      "a router",
    ],
    [{ status: 302, headers: { location: "https://canary" } }, "ProviderUnavailable", "a redirect to a log-in page"],
    [{ status: 200, body: "<html>canary</html>" }, "ProviderUnavailable", "a page"],
    [{ status: 200, body: "" }, "ProviderUnavailable", "nothing"],
    [{ status: 200, body: '{"access_token":"canary' }, "ProviderUnavailable", "half of it"],
    [{ status: 200, body: { token: "canary" } }, "ProviderUnavailable", "no token in it"],
    [{ status: 200, body: { access_token: "" } }, "ProviderUnavailable", "an empty token"],
    [
      { status: 200, body: { access_token: "canary\r\nx: y" } },
      "ProviderUnavailable",
      "a token that would be a header",
    ],
    [{ status: 200, body: { access_token: "x".repeat(70_000) } }, "ProviderUnavailable", "a token without measure"],
    [{ status: 429, headers: { "retry-after": "3" }, body: "canary" }, "ProviderThrottled", "a rate limit"],
    [{ status: 500, body: "canary" }, "ProviderUnavailable", "an outage"],
    [new Error("connect ECONNREFUSED"), "ProviderUnavailable", "no connection"],
  ];
  for (const [step, code, reason] of table) {
    const { connection, http } = connect([ok], [step]);
    const error = await failsWith(list(connection), code, reason);
    assert.equal(http.requests.length, 0, "nothing is sent without a token");
    if (code === "ProviderThrottled") assert.deepEqual(error.retry, { kind: "after", delayMs: 3_000 });
    assert.deepEqual(await list(connection), [], `${reason}: the next call asks again`);
  }
});

test("a token service that never answers is given up", async () => {
  const { connection, clock } = connect([], ["silence"]);
  const failing = failsWith(connection.delete("b1", signal), "ProviderUnavailable");
  await clock.advance(30_000);
  await failing;
  assert.equal(clock.timerCount, 0);
});

test("the life of a token is read in every form, and short ones are still used once", async () => {
  const table = [
    [3600, 3_539_999, 3_540_000],
    ["3600", 3_539_999, 3_540_000],
    [60, 29_999, 30_000],
    [undefined, 239_999, 240_000],
    [1e12, 86_339_999, 86_340_000],
  ] as const;
  for (const [expires_in, freshMs, staleMs] of table) {
    const token: ScriptedStep = { status: 200, body: { access_token: "t", expires_in } };
    const { connection, http, clock } = connect([ok, ok, ok], [token, token]);
    await list(connection);
    await clock.advance(freshMs);
    await list(connection);
    assert.equal(http.tokenRequests.length, 1, `${expires_in}`);
    await clock.advance(staleMs - freshMs);
    await list(connection);
    assert.equal(http.tokenRequests.length, 2, `${expires_in}`);
  }
  const spent: ScriptedStep = { status: 200, body: { access_token: "t", expires_in: -5 } };
  const { connection, http } = connect([ok, ok], [spent, spent]);
  await list(connection);
  await list(connection);
  assert.equal(http.tokenRequests.length, 2);
});
