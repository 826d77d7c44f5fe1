import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Server } from "node:net";
import { TLSSocket } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { AnswerLost, jsonAnswer, type SandboxRequest, type SandboxResponse } from "./exchange.ts";

const LARGEST_BODY = 1_048_576;

type Handle = (request: SandboxRequest) => Promise<SandboxResponse>;

/** PEM: what the address with TLS presents itself. */
interface ServingMaterial {
  readonly privateKeyPem: string;
  readonly chainPem: string;
}

/** How a sandbox is served that goes on from one run to the next. */
export interface ServingOptions<Snapshot> {
  readonly clock: Clock;
  readonly random: Random;
  /** Any free one when left out. */
  readonly port?: number;
  readonly snapshot?: Snapshot;
  readonly tls?: ServingMaterial;
  /** Keeps the state of now; an answer that may tell of a change waits for it. */
  readonly keep?: () => Promise<void>;
}

export interface Listening {
  /** Where the API, its token endpoint and `/sandbox/` are. */
  readonly url: string;
  /** The same over TLS, where clients can show a certificate; only with TLS material of the sandbox's own. */
  readonly certUrl?: string;
  /** Breaks off what is under way. */
  stop(): Promise<void>;
}

/** A sandbox whose answers wait until what they may tell of is kept. */
export function keeping(
  sandbox: { readonly isAtRest: boolean; handle: Handle },
  keep: (() => Promise<void>) | undefined,
): Handle {
  return async (request) => {
    const mayTellOfChange = request.method !== "GET" || !sandbox.isAtRest;
    try {
      return await sandbox.handle(request);
    } finally {
      if (mayTellOfChange) await keep?.();
    }
  };
}

/**
 * Puts a sandbox on a loopback port. A connection stands for its client: when it goes, the request is abandoned; when an
 * answer is to get lost, it is broken off. A client certificate is what was proven over TLS at the second address, or
 * what comes as behind a router that ends TLS: base64 in `x-forwarded-client-cert`. Must not: listen anywhere but on
 * loopback.
 */
export async function serveOnLoopback(
  handle: Handle,
  { port = 0, tls }: { readonly port?: number; readonly tls?: ServingMaterial },
): Promise<Listening> {
  const listener: RequestListener = (incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch(() => outgoing.destroy());
  };
  const plain = createServer(listener);
  const url = `http://127.0.0.1:${await listen(plain, port)}`;
  if (!tls) return { url, stop: () => close(plain) };
  const { privateKeyPem: key, chainPem: cert } = tls;
  // Whose certificate it is decides the token endpoint; who signed it does not matter here.
  const secure = createSecureServer({ key, cert, requestCert: true, rejectUnauthorized: false }, listener);
  const certUrl = `https://127.0.0.1:${await listen(secure, 0)}`;
  return { url, certUrl, stop: () => Promise.all([close(plain), close(secure)]).then(() => undefined) };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("the sandbox has no port"));
      else resolve(address.port);
    });
  });
}

const close = (server: Server & { closeAllConnections(): void }): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function answer(handle: Handle, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const departure = new AbortController();
  outgoing.once("close", () => departure.abort());
  const body = await read(incoming);
  if (body === undefined) {
    const description = "the body is larger than the sandbox takes";
    send(outgoing, jsonAnswer(413, { error: "RequestEntityTooLarge", description }));
    return;
  }
  try {
    send(outgoing, await handle(requestOf(incoming, body, departure.signal)));
  } catch (error) {
    if (!(error instanceof AnswerLost)) throw error;
    outgoing.destroy();
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: SandboxResponse): void {
  outgoing.writeHead(status, headers).end(body);
}

/** The whole body, or undefined when it is too large; it is read to its end all the same, so that an answer arrives. */
async function read(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size <= LARGEST_BODY) chunks.push(bytes);
  }
  if (size > LARGEST_BODY) return undefined;
  return Buffer.concat(chunks).toString();
}

function requestOf(incoming: IncomingMessage, body: string, signal: AbortSignal): SandboxRequest {
  const [path = "/", ...query] = (incoming.url ?? "/").split("?");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) if (typeof value === "string") headers[name] = value;
  const clientCertificate = certificateOf(incoming);
  return {
    method: incoming.method ?? "GET",
    path,
    query: new URLSearchParams(query.join("?")),
    headers,
    body,
    isSecure: incoming.socket instanceof TLSSocket,
    signal,
    ...(clientCertificate !== undefined && { clientCertificate }),
  };
}

function certificateOf({ socket, headers }: IncomingMessage): string | undefined {
  if (socket instanceof TLSSocket) return socket.getPeerX509Certificate()?.toString();
  const forwarded = headers["x-forwarded-client-cert"];
  if (typeof forwarded !== "string") return undefined;
  return `-----BEGIN CERTIFICATE-----\n${forwarded}\n-----END CERTIFICATE-----\n`;
}
