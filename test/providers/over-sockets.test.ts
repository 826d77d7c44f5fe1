import assert from "node:assert/strict";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { systemClock } from "../../src/base/clock.ts";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { seededRandom, systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { createServingCertificate } from "../../src/embedded/http/serving-certificate.ts";
import { marksOf, signal } from "../../src/providers/conformance-harness.fixture.ts";
import type { CreateRequest } from "../../src/providers/contract.ts";
import type { HttpRequest } from "../../src/providers/http-port.ts";
import {
  parseServiceManagerCredentials,
  type ServiceManagerCredentials,
} from "../../src/providers/service-manager/credentials.ts";
import { connectServiceManager } from "../../src/providers/service-manager/service-manager.ts";
import { UndiciHttp } from "../../src/providers/undici-http.ts";
import { startSandbox } from "../../src/sandbox/http/serve-sandbox.ts";

const material = { clock: systemClock, random: systemRandom };
const serving = createServingCertificate(material);

/** Answers with the fingerprint of the client certificate that it was shown, and the port it was asked from. */
const server: Server = createServer(
  { key: serving.privateKeyPem, cert: serving.chainPem, requestCert: true, rejectUnauthorized: false },
  (request, response) => {
    const socket = request.socket as TLSSocket;
    response.end(`${socket.getPeerCertificate().fingerprint256 ?? "none"} ${socket.remotePort}`);
  },
);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => {
  server.closeAllConnections();
  server.close();
});
const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

const certificateOf = (issued: typeof serving): NonNullable<HttpRequest["clientCertificate"]> => ({
  certificate: issued.chainPem,
  privateKey: new Redacted(issued.privateKeyPem),
});

test("a server is believed by its CA and by nothing else", async () => {
  const trusting = new UndiciHttp({ ca: serving.authorityPem });
  const doubting = new UndiciHttp();
  try {
    assert.equal((await trusting.send({ method: "GET", url, headers: {} }, signal)).status, 200);
    await assert.rejects(doubting.send({ method: "GET", url, headers: {} }, signal), /CERT|SIGNED/);
  } finally {
    await Promise.all([trusting.close(), doubting.close()]);
  }
});

test("a client certificate is shown with the requests that carry it, and never with others", async () => {
  const http = new UndiciHttp({ ca: serving.authorityPem });
  const ask = async (clientCertificate?: HttpRequest["clientCertificate"]): Promise<readonly string[]> => {
    const request: HttpRequest = { method: "GET", url, headers: {}, ...(clientCertificate && { clientCertificate }) };
    return (await http.send(request, signal)).body.reveal().split(" ");
  };
  try {
    const [one, two] = [
      certificateOf(createServingCertificate(material)),
      certificateOf(createServingCertificate(material)),
    ];
    const shown = [await ask(one), await ask(two), await ask(), await ask({ ...one }), await ask()];
    const [first, second, none, again, noneAgain] = shown.map(([fingerprint]) => fingerprint);
    assert.notEqual(first, second);
    assert.deepEqual([again, none, noneAgain], [first, "none", "none"]);
  } finally {
    await http.close();
  }
});

test("a client certificate that has ended is named as the reason", async () => {
  const clock = new ManualClock();
  const certificate = certificateOf(createServingCertificate({ clock, random: seededRandom(1) }));
  const credentials: ServiceManagerCredentials = {
    apiUrl: url,
    tokenUrl: `${url}/oauth/token`,
    clientId: "me",
    login: { kind: "certificate", ...certificate },
  };
  const refusing = {
    send: async () => ({ status: 401, headers: {}, body: new Redacted('{"error":"unauthorized"}') }),
  };
  const unreachable = { send: () => Promise.reject(new Error("handshake failure")) };
  for (const http of [refusing, unreachable]) {
    const connection = connectServiceManager({ credentials, http, clock });
    await assert.rejects(connection.observe("b1", signal), (error) => !/ended on/.test(String(error)));
  }
  clock.jump(366 * 86_400_000);
  for (const http of [refusing, unreachable]) {
    const connection = connectServiceManager({ credentials, http, clock });
    await assert.rejects(connection.observe("b1", signal), {
      code: "ProviderForbidden",
      message: "the client certificate of the Service Manager credentials ended on 2027-01-01: replace it",
    });
  }
});

test("a key's whole life over sockets, with an answer that gets lost and a service that is gone", async () => {
  const { sandbox, credentials, stop } = await startSandbox({ clock: systemClock, random: systemRandom });
  const http = new UndiciHttp();
  try {
    const { id: instanceId } = sandbox.controls.putInstance();
    const parsed = parseServiceManagerCredentials(new Redacted({ creds: JSON.stringify(credentials) }), "creds");
    const connection = connectServiceManager({ credentials: parsed, http, clock: systemClock });
    const request: CreateRequest = { name: "it's", instanceId, parameters: new Redacted({}), marks: marksOf() };
    assert.deepEqual(await connection.listMarked({ clusterId: marksOf().clusterId }, signal), []);
    sandbox.controls.set({ lostAnswers: 1, lostAnswersTo: "POST" });
    await assert.rejects(connection.create(request, signal), { code: "ProviderUnavailable" });
    const [key] = await connection.findByName(instanceId, "it's", signal);
    assert.ok(key);
    assert.deepEqual(key.marks, marksOf());
    assert.ok(sandbox.authenticate((await connection.readCredentials(key.id, signal)).reveal()));
    await connection.mark(key.id, marksOf({ sequence: 5 }), signal);
    assert.equal((await connection.observe(key.id, signal))?.marks?.sequence, 5);
    assert.equal(await connection.delete(key.id, signal), "gone");
    assert.equal(await connection.observe(key.id, signal), undefined);
    await stop();
    await assert.rejects(connection.observe(key.id, signal), { code: "ProviderUnavailable" });
  } finally {
    await http.close();
    await stop();
  }
});
