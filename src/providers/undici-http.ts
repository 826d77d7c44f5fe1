import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { type Dispatcher, Pool } from "undici";
import { Redacted } from "../base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "./http-port.ts";

export interface UndiciHttpOptions {
  /** PEM, in place of the host's own trust store. */
  readonly ca?: string;
  readonly connectTimeoutMs?: number;
  /** From the request to the first byte of its answer. */
  readonly headersTimeoutMs?: number;
  /** Between two pieces of a body. */
  readonly bodyTimeoutMs?: number;
  readonly maxBodyBytes?: number;
  /** Connections to one origin. */
  readonly maxConnections?: number;
  readonly keepAliveMs?: number;
}

/** No whole answer came. The code tells why; nothing of the request or the answer is in it. */
export class HttpFailure extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`no whole answer came (${code})`);
    this.name = "HttpFailure";
    this.code = code;
  }
}

const DEFAULTS = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 90_000,
  bodyTimeoutMs: 30_000,
  maxBodyBytes: 16 * 1024 * 1024,
  maxConnections: 16,
  keepAliveMs: 30_000,
} as const;

const MAX_POOLS = 256;

/**
 * HTTP/1.1 to external systems over undici: a pool of kept-alive connections for each origin and way of trusting,
 * every phase bounded in time and every body in size. Must not: follow redirects, send anything twice, or let a word of
 * what it carries into an error.
 */
export class UndiciHttp implements HttpPort {
  readonly #options: Required<Omit<UndiciHttpOptions, "ca">> & Pick<UndiciHttpOptions, "ca">;
  /** In the order of their last use. */
  readonly #pools = new Map<string, Pool>();
  #isClosed = false;

  constructor(options: UndiciHttpOptions = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const url = URL.parse(request.url);
    if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) throw new HttpFailure("INVALID_URL");
    if (this.#isClosed) throw new HttpFailure("CLOSED");
    try {
      const answer = await this.#poolFor(url.origin, request).request({
        method: request.method,
        path: url.pathname + url.search,
        headers: { ...request.headers },
        signal,
        ...(request.body && { body: request.body.reveal() }),
      });
      const body = await this.#readBody(answer);
      return { status: answer.statusCode, headers: flatten(answer.headers), body: new Redacted(body) };
    } catch (error) {
      throw error instanceof HttpFailure ? error : new HttpFailure(signal.aborted ? "ABORTED" : codeOf(error));
    }
  }

  /** Ends what is under way, too. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  async #readBody(answer: Dispatcher.ResponseData): Promise<string> {
    const { maxBodyBytes } = this.#options;
    const chunks: Buffer[] = [];
    let size = 0;
    // Leaving the loop by an error closes the connection, so that a body without an end stops there.
    for await (const chunk of answer.body) {
      const piece = Buffer.from(chunk);
      size += piece.byteLength;
      if (size > maxBodyBytes) throw new HttpFailure("BODY_TOO_LARGE");
      chunks.push(piece);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  #poolFor(origin: string, trust: Trust): Pool {
    const key = poolKey(origin, trust);
    const pool = this.#pools.get(key) ?? this.#connect(origin, trust);
    this.#pools.delete(key);
    this.#pools.set(key, pool);
    this.#closeOldest();
    return pool;
  }

  #connect(origin: string, { clientCertificate, skipTlsVerification = false }: Trust): Pool {
    const { ca, connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, maxConnections, keepAliveMs } = this.#options;
    return new Pool(origin, {
      connections: maxConnections,
      pipelining: 1,
      allowH2: false,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      connect: {
        timeout: connectTimeoutMs,
        allowH2: false,
        ...(ca !== undefined && { ca }),
        ...(skipTlsVerification && { rejectUnauthorized: false }),
        ...(clientCertificate && {
          cert: clientCertificate.certificate,
          key: clientCertificate.privateKey.reveal(),
        }),
      },
    });
  }

  /** Certificates come and go for as long as the process runs; their pools must not add up. */
  #closeOldest(): void {
    const [oldest] = this.#pools;
    if (this.#pools.size <= MAX_POOLS || !oldest) return;
    this.#pools.delete(oldest[0]);
    oldest[1].close().catch(() => {});
  }
}

/** Who proves what to whom: connections of one kind are never used for another. */
type Trust = Pick<HttpRequest, "clientCertificate" | "skipTlsVerification">;

/** Keys differ without being kept in clear as the key of a map. */
function poolKey(origin: string, { clientCertificate, skipTlsVerification = false }: Trust): string {
  const peer = skipTlsVerification ? `${origin} anybody` : origin;
  if (!clientCertificate) return peer;
  const { certificate, privateKey } = clientCertificate;
  return `${peer} ${createHash("sha256").update(certificate).update("\0").update(privateKey.reveal()).digest("hex")}`;
}

/** The code of what was thrown, or of what caused it. Messages of some errors quote headers, so they stay behind. */
function codeOf(error: unknown): string {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth += 1) {
    if ("code" in current && typeof current.code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(current.code)) {
      return current.code;
    }
  }
  return "UNKNOWN";
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
