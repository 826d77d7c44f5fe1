import { Buffer } from "node:buffer";
import { createSecureContext, type SecureContext } from "node:tls";
import { type Dispatcher, Pool, ProxyAgent } from "undici";
import type { Redacted } from "../base/redacted.ts";
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts";

/** What the connection itself needs. Compared by identity: a new object means new connections. */
export interface TlsMaterial {
  /** PEM. The host's own trust store where absent. */
  readonly ca?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: Redacted<string>;
  /** The name to ask for and to check, where it is not the host's. */
  readonly serverName?: string;
  readonly skipVerify?: boolean;
}

export interface Credentials {
  /** The whole value of the Authorization header. */
  readonly authorization?: Redacted<string>;
  readonly tls: TlsMaterial;
}

export interface CredentialSource {
  /** What to use now. The same object, and the same `tls` in it, comes back for as long as nothing in it has changed. */
  current(signal?: AbortSignal): Promise<Credentials>;
  /** These were answered with a 401: the next `current` looks whether there are others. */
  reject(credentials: Credentials): void;
}

export interface UndiciTransportOptions {
  /** `https://host:port`, with the path that comes before `/api` where a gateway has one. */
  readonly server: string;
  readonly credentials: CredentialSource;
  readonly proxyUrl?: string;
  readonly connectTimeoutMs?: number;
  /** How long an unused connection is kept. */
  readonly keepAliveMs?: number;
}

const MAX_REFUSAL_BYTES = 64 * 1024;

interface Connections {
  readonly tls: TlsMaterial;
  readonly dispatcher: Dispatcher;
}

/**
 * HTTP/1.1 to one API server over undici: a pool of kept-alive connections, made anew when certificates change. It never
 * follows redirects and never retries, with one exception: after a 401, which says that nothing was done, a source that
 * can renew its credentials is asked for others and the request is sent once more. Must not: time anything out beyond
 * connecting; the client does that through its clock.
 */
export function createUndiciTransport(options: UndiciTransportOptions): Transport {
  return new UndiciTransport(options);
}

class UndiciTransport implements Transport {
  readonly #options: UndiciTransportOptions;
  readonly #origin: string;
  readonly #prefix: string;
  #connections: Connections | undefined;

  constructor(options: UndiciTransportOptions) {
    const url = new URL(options.server);
    this.#options = options;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, "");
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const credentials = await this.#options.credentials.current(request.signal);
    const response = await this.#request(request, credentials);
    if (response.status !== 401) return response;
    const body = await collect(response.body);
    this.#options.credentials.reject(credentials);
    const renewed = await this.#options.credentials.current(request.signal);
    return renewed === credentials ? { ...response, body: replay(body) } : this.#request(request, renewed);
  }

  async close(): Promise<void> {
    const connections = this.#connections;
    this.#connections = undefined;
    // `close` would wait for watches, which end only when somebody ends them.
    await connections?.dispatcher.destroy();
  }

  async #request(request: TransportRequest, credentials: Credentials): Promise<TransportResponse> {
    const authorization = credentials.authorization?.reveal();
    const answer = await this.#dispatcherFor(credentials.tls).request({
      origin: this.#origin,
      path: this.#prefix + request.path,
      method: request.method,
      headers: { ...request.headers, ...(authorization !== undefined && { authorization }) },
      ...(request.body !== undefined && { body: request.body }),
      ...(request.signal && { signal: request.signal }),
    });
    return { status: answer.statusCode, headers: flatten(answer.headers), body: answer.body };
  }

  /** Requests under way on the old connections finish there; the pool closes itself behind them. */
  #dispatcherFor(tls: TlsMaterial): Dispatcher {
    if (this.#connections?.tls === tls) return this.#connections.dispatcher;
    const old = this.#connections;
    this.#connections = { tls, dispatcher: this.#connect(tls) };
    old?.dispatcher.close().catch(() => {});
    return this.#connections.dispatcher;
  }

  #connect(tls: TlsMaterial): Dispatcher {
    const { proxyUrl, connectTimeoutMs = 10_000, keepAliveMs = 30_000 } = this.#options;
    const requestTls = { ...tlsOptions(tls), timeout: connectTimeoutMs, allowH2: false };
    const shared = {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      connectTimeout: connectTimeoutMs,
    };
    if (proxyUrl === undefined) return new Pool(this.#origin, { ...shared, connect: requestTls });
    const { uri, token } = proxyAddress(proxyUrl);
    return new ProxyAgent({ ...shared, uri, requestTls, ...(token !== undefined && { token }) });
  }
}

/** A refusal is short; what goes on longer is cut off. */
async function collect(body: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MAX_REFUSAL_BYTES) break;
  }
  return chunks;
}

async function* replay(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** One context for all connections: each would make its own otherwise, with the certificates in it. */
function tlsOptions(tls: TlsMaterial): Record<string, string | boolean | SecureContext> {
  const secureContext = createSecureContext({
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.clientCertificate !== undefined && { cert: tls.clientCertificate }),
    ...(tls.clientKey && { key: tls.clientKey.reveal() }),
  });
  return {
    secureContext,
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...(tls.skipVerify && { rejectUnauthorized: false }),
  };
}

/** A password in a proxy's URL must not travel in the URL, where errors would show it. */
function proxyAddress(proxyUrl: string): { readonly uri: string; readonly token?: string } {
  const url = new URL(proxyUrl);
  const { username, password } = url;
  url.username = "";
  url.password = "";
  if (username === "") return { uri: url.href };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { uri: url.href, token: `Basic ${Buffer.from(pair).toString("base64")}` };
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
