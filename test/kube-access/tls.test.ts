import assert from "node:assert/strict";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { createServingCertificate } from "../../src/embedded/http/serving-certificate.ts";
import { Unreachable } from "../../src/kube/errors.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import { type Credentials, createUndiciTransport, type TlsMaterial } from "../../src/kube/undici-transport.ts";

const material = { clock: systemClock, random: systemRandom };
const certificate = createServingCertificate(material);
const stranger = createServingCertificate(material);

/** Answers with the client certificate it was shown and the name it was asked for. */
const server: Server = createServer(
  { key: certificate.privateKeyPem, cert: certificate.chainPem, requestCert: true, rejectUnauthorized: false },
  (request, response) => {
    const socket = request.socket as TLSSocket;
    const shown = socket.getPeerCertificate().fingerprint256 ?? null;
    const servername: unknown = Reflect.get(socket, "servername");
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ shown, servername, http: request.httpVersion, port: socket.remotePort }));
  },
);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => {
  server.closeAllConnections();
  server.close();
});
const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

interface Seen {
  readonly shown: string | null;
  readonly servername: unknown;
  readonly http: string;
  readonly port: number;
}

async function ask(tls: TlsMaterial): Promise<Seen> {
  const credentials: Credentials = { tls };
  const transport = createUndiciTransport({
    server: url,
    credentials: { current: async () => credentials, reject: () => {} },
  });
  const kube = createKubeClient({ transport, clock: systemClock, userAgent: "test" });
  try {
    return (await kube.fetch("/")) as Seen;
  } finally {
    await kube.close();
  }
}

test("the CA of the kubeconfig is trusted, over HTTP/1.1", async () => {
  const seen = await ask({ ca: certificate.authorityPem });
  assert.equal(seen.http, "1.1");
  assert.equal(seen.shown, null);
});

test("another CA, or none, is not; the error says why and has no stack of bytes", async () => {
  for (const tls of [{ ca: stranger.authorityPem }, {}]) {
    await assert.rejects(ask(tls), (error) => error instanceof Unreachable && /certificate/i.test(error.message));
  }
});

test("without verification anything is trusted, because somebody said so", async () => {
  await ask({ skipVerify: true });
});

test("a server name of its own is asked for and checked", async () => {
  const seen = await ask({ ca: certificate.authorityPem, serverName: "kubernetes" });
  assert.equal(seen.servername, "kubernetes");
  await assert.rejects(ask({ ca: certificate.authorityPem, serverName: "example.org" }), Unreachable);
});

test("a client certificate is shown; other certificates make other connections", async () => {
  const shown = (of: typeof stranger): TlsMaterial => ({
    ca: certificate.authorityPem,
    clientCertificate: of.chainPem,
    clientKey: new Redacted(of.privateKeyPem),
  });
  let credentials: Credentials = { tls: shown(stranger) };
  const transport = createUndiciTransport({
    server: url,
    credentials: { current: async () => credentials, reject: () => {} },
  });
  const kube = createKubeClient({ transport, clock: systemClock, userAgent: "test" });
  const first = (await kube.fetch("/")) as Seen;
  assert.ok(first.shown);
  credentials = { tls: shown(certificate) };
  const renewed = (await kube.fetch("/")) as Seen;
  assert.notEqual(renewed.shown, first.shown);
  assert.notEqual(renewed.port, first.port);
  await kube.close();
});
