import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect } from "node:tls";
import { inspect } from "node:util";
import { parse } from "yaml";
import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { Redacted } from "../../base/redacted.ts";
import { createTestingServer } from "./api-server.fixture.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { writeKubeconfig } from "./kubeconfig-file.ts";
import { MAX_BODY_BYTES } from "./request-body.ts";
import { createToken, isSameToken, type Serving, serve } from "./serve.ts";
import { createServingCertificate } from "./serving-certificate.ts";

const certificate = createServingCertificate({ clock: systemClock, random: systemRandom });
const token = createToken(systemRandom);
const running: Serving[] = [];
after(() => Promise.all(running.map((serving) => serving.stop())));

async function start(
  api: { handle(request: ApiRequest): Promise<ApiResponse> } = createTestingServer().api,
): Promise<Serving> {
  const serving = await serve({ api, certificate, token, clock: systemClock });
  running.push(serving);
  return serving;
}

interface CallOptions {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that checks the server's certificate against nothing but its own authority. */
async function call(serving: Serving, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
  const bearer = "token" in options ? options.token : token.reveal();
  const outgoing = httpsRequest(`${serving.url}${path}`, {
    method: options.method ?? "GET",
    ca: certificate.authorityPem,
    agent: new Agent({ keepAlive: false }),
    headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), ...options.headers },
  });
  outgoing.end(options.body);
  const [response] = await once(outgoing, "response");
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

test("serve: a TLS handshake that checks the certificate, by address and by name", async () => {
  const serving = await start();
  for (const servername of ["localhost", "kubernetes"]) {
    const socket = connect({ port: serving.port, host: "127.0.0.1", ca: certificate.authorityPem, servername });
    await once(socket, "secureConnect");
    assert.equal(socket.authorized, true, servername);
    socket.destroy();
  }
  const stranger = connect({ port: serving.port, host: "127.0.0.1", servername: "localhost" });
  const [error] = await once(stranger, "error");
  assert.match(String(error), /self-signed|unable to verify/i, "nobody else trusts it");
});

const doors = [
  { path: "/api/v1/namespaces", token: undefined, status: 401, reason: "no token" },
  { path: "/api/v1/namespaces", token: "wrong", status: 401, reason: "a wrong token" },
  { path: "/nope", token: undefined, status: 401, reason: "unknown paths tell nothing to strangers" },
  { path: "/openapi/v3", token: undefined, status: 401, reason: "what is served is nobody's business" },
  { path: "/healthz", token: undefined, status: 200, reason: "health is public" },
  { path: "/readyz", token: undefined, status: 200, reason: "readiness is public" },
  { path: "/version", token: undefined, status: 200, reason: "the version is public" },
  { path: "/api/v1/namespaces", token: token.reveal(), status: 200, reason: "the token opens" },
];

test("serve: who may come in", async () => {
  const serving = await start();
  for (const door of doors) {
    const response = await call(serving, door.path, { token: door.token });
    assert.equal(response.statusCode, door.status, `${door.path}: ${door.reason}`);
    const text = await textOf(response);
    if (door.status === 401) assert.deepEqual(JSON.parse(text).reason, "Unauthorized");
  }
});

test("serve: a body within the limit arrives, one beyond it is refused", async () => {
  const serving = await start();
  const target = "/api/v1/namespaces/default/configmaps?dryRun=All";
  const body = JSON.stringify({ metadata: { name: "a" }, data: { k: "ü".repeat(1000) } });
  const created = await call(serving, target, { method: "POST", body });
  assert.equal(created.statusCode, 201);
  assert.equal(JSON.parse(await textOf(created)).data.k.length, 1000);
  const refused = await call(serving, target, { method: "POST", body: "x".repeat(MAX_BODY_BYTES + 1) });
  assert.equal(refused.statusCode, 413);
  assert.equal(JSON.parse(await textOf(refused)).reason, "RequestEntityTooLarge");
});

test("serve: warnings beyond ASCII get through", async () => {
  const serving = await start();
  const body = JSON.stringify({ metadata: { name: "a" }, dätä: {} });
  const response = await call(serving, "/api/v1/namespaces/default/configmaps", { method: "POST", body });
  assert.match(Buffer.from(String(response.headers.warning), "latin1").toString("utf8"), /unknown field \\"dätä\\"/);
  response.resume();
});

test("serve: an upgrade is answered, not left hanging", async () => {
  const serving = await start();
  const headers = { connection: "Upgrade", upgrade: "websocket" };
  const response = await call(serving, "/api/v1/namespaces/default/pods/p/exec", { headers });
  assert.equal(response.statusCode, 501);
  response.resume();
});

test("serve: a watch streams as things happen and ends cleanly when the server stops", async () => {
  const server = createTestingServer();
  const serving = await start(server.api);
  const response = await call(serving, "/api/v1/namespaces/default/configmaps?watch=1");
  assert.equal(response.statusCode, 200, "the headers come before the first event");
  await server.json("POST", "/api/v1/namespaces/default/configmaps", { body: { metadata: { name: "a" } } });
  const [chunk] = await once(response.setEncoding("utf8"), "data");
  assert.match(chunk, /^\{"type":"ADDED".*\}\n$/);
  const startedAt = performance.now();
  const ended = once(response, "end");
  await serving.stop();
  await ended;
  assert.equal(response.complete, true, "the stream was ended, not cut");
  assert.ok(performance.now() - startedAt < 1_000);
});

test("serve: a client that leaves ends its watch", async () => {
  const server = createTestingServer();
  const serving = await start(server.api);
  const response = await call(serving, "/api/v1/namespaces/default/configmaps?watch=1");
  assert.equal(server.clock.timerCount, 1, "the watch has its timer");
  response.destroy();
  while (server.clock.timerCount > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("serve: a reader that does not read holds the stream up instead of filling memory", async () => {
  let produced = 0;
  const chunk = "x".repeat(64 * 1024);
  async function* endless(signal: AbortSignal): AsyncGenerator<string> {
    while (!signal.aborted) {
      produced += chunk.length;
      yield chunk;
    }
  }
  const serving = await start({ handle: async ({ signal }) => ({ status: 200, headers: {}, body: endless(signal) }) });
  const response = await call(serving, "/anything");
  response.pause();
  let last = -1;
  for (let quiet = 0; quiet < 20; ) {
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
    quiet = produced === last ? quiet + 1 : 0;
    last = produced;
  }
  assert.ok(produced < 64 * 1024 * 1024, `${produced} bytes were made for nobody`);
  response.destroy();
});

test("serve: an answer that breaks off half-way is cut, not completed", async () => {
  async function* broken(): AsyncGenerator<string> {
    yield "half";
    throw new Error("lost");
  }
  const serving = await start({ handle: async () => ({ status: 200, headers: {}, body: broken() }) });
  const response = await call(serving, "/anything");
  await assert.rejects(textOf(response));
});

test("serve: stopping twice is harmless, and a port in use is a clear error", async () => {
  const serving = await start();
  await assert.rejects(
    serve({ api: createTestingServer().api, certificate, token, clock: systemClock, port: serving.port }),
    /cannot listen on 127\.0\.0\.1:\d+: .*choose another port/,
  );
  await Promise.all([serving.stop(), serving.stop()]);
  await serving.stop();
});

test("token: compared whole, never shown", () => {
  assert.equal(isSameToken(token.reveal(), token), true);
  assert.equal(isSameToken(token.reveal().slice(1), token), false);
  assert.equal(isSameToken("", token), false);
  assert.ok(token.reveal().length >= 43);
  assert.ok(!inspect({ token }, { depth: 9 }).includes(token.reveal()));
});

test("kubeconfig: complete, private, replaced in one step", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-"));
  try {
    const path = join(folder, "deep", "kubeconfig");
    const content = { url: "https://127.0.0.1:1", authorityPem: certificate.authorityPem };
    await writeKubeconfig(path, { ...content, token: new Redacted("old") });
    await writeKubeconfig(path, { ...content, token });
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(join(folder, "deep")), ["kubeconfig"]);
    const config = parse(await readFile(path, "utf8"));
    assert.equal(config["current-context"], "keyturn");
    assert.equal(config.clusters[0].cluster.server, content.url);
    const authority = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64").toString();
    assert.equal(authority, certificate.authorityPem);
    assert.equal(config.users[0].user.token, token.reveal());
  } finally {
    await rm(folder, { recursive: true });
  }
});
