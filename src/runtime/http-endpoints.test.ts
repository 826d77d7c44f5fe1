import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { UsageError } from "../base/errors.ts";
import { silentLogger } from "../base/logger.ts";
import { HealthChecks } from "./health.ts";
import { type BindAddress, type HttpEndpoints, parseBindAddress, startHttpEndpoints } from "./http-endpoints.ts";

describe("where to listen", () => {
  const good: { text: string; expected: BindAddress | undefined; reason: string }[] = [
    { text: "0", expected: undefined, reason: "off" },
    { text: ":8080", expected: { port: 8080 }, reason: "all interfaces" },
    { text: "127.0.0.1:9090", expected: { host: "127.0.0.1", port: 9090 }, reason: "one address" },
    { text: "localhost:1", expected: { host: "localhost", port: 1 }, reason: "a name" },
    { text: "[::1]:8080", expected: { host: "::1", port: 8080 }, reason: "IPv6 in brackets" },
  ];
  for (const { text, expected, reason } of good) {
    test(`${text}: ${reason}`, () => assert.deepEqual(parseBindAddress(text), expected));
  }
  for (const text of ["", "8080", "host", "::1:8080", ":99999", ":http", "a:b:1", ":-1", "[::1]"]) {
    test(`"${text}" is refused with what to write instead`, () => {
      assert.throws(
        () => parseBindAddress(text),
        (error) => error instanceof UsageError && /host:port/.test(error.message),
      );
    });
  }
});

async function start(context: TestContext, more: { metrics?: () => Promise<string> } = {}) {
  const readiness = new HealthChecks();
  const liveness = new HealthChecks();
  const endpoints: HttpEndpoints = await startHttpEndpoints({
    bind: { host: "127.0.0.1", port: 0 },
    readiness,
    liveness,
    metrics: { contentType: "text/plain; version=0.0.4", render: more.metrics ?? (async () => "keyturn_leader 1\n") },
    logger: silentLogger,
  });
  context.after(() => endpoints.close());
  const ask = async (path: string, init?: RequestInit): Promise<{ status: number; body: string; headers: Headers }> => {
    const response = await fetch(`http://${endpoints.address}${path}`, init);
    return { status: response.status, body: await response.text(), headers: response.headers };
  };
  return { readiness, liveness, endpoints, ask };
}

test("metrics come with their content type", async (context) => {
  const { ask } = await start(context);
  const { status, body, headers } = await ask("/metrics");
  assert.deepEqual(
    [status, body, headers.get("content-type")],
    [200, "keyturn_leader 1\n", "text/plain; version=0.0.4"],
  );
});

test("readyz and healthz: ok, verbose, and what is wrong without being asked", async (context) => {
  const { readiness, liveness, ask } = await start(context);
  const state = { ready: true, reason: "synced" };
  readiness.add({ name: "watch Secret", state: () => state });
  liveness.add({ name: "workers", state: () => ({ ready: true, reason: "0 of 32 busy" }) });
  assert.deepEqual([(await ask("/readyz")).status, (await ask("/readyz")).body], [200, "ok\n"]);
  assert.equal((await ask("/healthz?verbose")).body, "[+]workers ok: 0 of 32 busy\nhealthz check passed\n");
  state.ready = false;
  state.reason = "no contact for 200 s";
  const failing = await ask("/readyz");
  assert.deepEqual(
    [failing.status, failing.body],
    [503, "[-]watch Secret failed: no contact for 200 s\nreadyz check failed\n"],
  );
  assert.equal((await ask("/healthz")).status, 200, "a stale watch is no reason for a restart");
});

test("everything else is refused", async (context) => {
  const { ask } = await start(context);
  const cases = [
    { path: "/", method: "GET", status: 404, reason: "no index" },
    { path: "/metrics/", method: "GET", status: 404, reason: "paths are exact" },
    { path: "/__proto__", method: "GET", status: 404, reason: "not a member of anything" },
    { path: "/metrics", method: "POST", status: 405, reason: "read-only" },
    { path: "/readyz", method: "DELETE", status: 405, reason: "read-only" },
    { path: "/readyz", method: "HEAD", status: 200, reason: "HEAD is fine" },
  ];
  for (const { path, method, status, reason } of cases) {
    const answer = await ask(path, { method });
    assert.equal(answer.status, status, `${method} ${path}: ${reason}`);
    if (status === 405) assert.equal(answer.headers.get("allow"), "GET, HEAD");
  }
});

test("a failure while rendering is a 500, and the next request works", async (context) => {
  let isBroken = true;
  const { ask } = await start(context, {
    metrics: async () => {
      if (isBroken) throw new Error("collector failed");
      return "fine\n";
    },
  });
  assert.equal((await ask("/metrics")).status, 500);
  isBroken = false;
  assert.equal((await ask("/metrics")).status, 200);
});

test("a port that is taken, or an address this machine does not have: one line that says what to do", async (context) => {
  const { endpoints } = await start(context);
  const port = Number(endpoints.address.split(":").at(-1));
  const cases = [
    {
      bind: { host: "127.0.0.1", port },
      pattern: /^cannot listen on 127\.0\.0\.1:\d+: something else listens there; choose another port/,
    },
    { bind: { host: "192.0.2.1", port: 0 }, pattern: /does not have that address/ },
  ];
  for (const { bind, pattern } of cases) {
    const options = { readiness: new HealthChecks(), liveness: new HealthChecks(), logger: silentLogger };
    const metrics = { contentType: "text/plain", render: async () => "" };
    await assert.rejects(startHttpEndpoints({ bind, metrics, ...options }), (error) => {
      return error instanceof UsageError && pattern.test(error.message) && !error.message.includes("\n");
    });
  }
});

test("close does not wait for connections that linger", async (context) => {
  const { endpoints } = await start(context);
  const [host, port] = endpoints.address.split(":");
  const socket = connect(Number(port), host);
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  const isCut = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  socket.write("GET /metr");
  await endpoints.close();
  await isCut;
});
