import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import {
  AnswerLost,
  errorAnswer,
  Refusal,
  type SandboxRequest,
  type SandboxResponse,
} from "../service-manager/exchange.ts";
import type { SandboxSnapshot } from "../service-manager/records.ts";
import { SandboxServiceManager } from "../service-manager/sandbox-service-manager.ts";
import type { IssuedCredentials } from "../service-manager/tokens.ts";

const LARGEST_BODY = 1_048_576;

export interface ServedSandbox {
  /** Where the Service Manager, its token endpoint and `/sandbox/` are. */
  readonly url: string;
  /** The content of a `service-manager` credential Secret. */
  readonly credentials: IssuedCredentials;
  /** Controls, oracles, and `snapshot()` for a caller that wants to go on another time. */
  readonly sandbox: SandboxServiceManager;
  /** Breaks off what is under way. */
  stop(): Promise<void>;
}

/**
 * Puts a sandbox on a loopback port. A connection stands for its client: when it goes, the request is abandoned; when an
 * answer is to get lost, it is broken off. There is no TLS, so a client certificate comes as behind a router that ends
 * TLS: base64 in `x-forwarded-client-cert`. Must not: listen anywhere but on loopback.
 */
export async function startSandbox(options: {
  readonly clock: Clock;
  readonly random: Random;
  /** Any free one when left out. */
  readonly port?: number;
  readonly snapshot?: SandboxSnapshot;
}): Promise<ServedSandbox> {
  const sandbox = new SandboxServiceManager(options);
  const server = createServer((incoming, outgoing) => {
    answer(sandbox, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the sandbox has no port");
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    credentials: sandbox.controls.credentials(url) ?? sandbox.controls.issueClient(url),
    sandbox,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  sandbox: SandboxServiceManager,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const departure = new AbortController();
  outgoing.once("close", () => departure.abort());
  const body = await read(incoming);
  if (body === undefined) {
    const refusal = new Refusal(413, "RequestEntityTooLarge", "the body is larger than the sandbox takes");
    send(outgoing, errorAnswer(refusal.problem));
    return;
  }
  try {
    send(outgoing, await sandbox.handle(requestOf(incoming, body, departure.signal)));
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
  const certificate = headers["x-forwarded-client-cert"];
  return {
    method: incoming.method ?? "GET",
    path,
    query: new URLSearchParams(query.join("?")),
    headers,
    body,
    signal,
    ...(certificate !== undefined && { clientCertificate: pem(certificate) }),
  };
}

const pem = (base64: string): string => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
