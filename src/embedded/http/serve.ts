import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Clock } from "../../base/clock.ts";
import { messageOf, UsageError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { Redacted } from "../../base/redacted.ts";
import { StatusError } from "../status-error.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import { MAX_BODY_BYTES, tooLarge } from "./request-body.ts";
import { respondError } from "./responses.ts";
import type { ServingCertificate } from "./serving-certificate.ts";

/**
 * The API server on a socket: TLS, loopback only, one bearer token. Everything but health and version needs the token,
 * so neither another user of the machine nor a web page in a browser can do anything. Must not: know what it serves.
 */
export interface ServeOptions {
  readonly api: { handle(request: ApiRequest): Promise<ApiResponse> };
  readonly certificate: ServingCertificate;
  readonly token: Redacted<string>;
  readonly clock: Clock;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly logger?: Logger;
}

export interface Serving {
  readonly url: string;
  readonly port: number;
  /** Ends watches, lets requests finish, and after at most a second closes what is left. */
  stop(): Promise<void>;
}

/** The addresses of this machine alone: there is no option for another. */
const HOST = "127.0.0.1";
const PUBLIC_PATHS = new Set(["/healthz", "/livez", "/readyz", "/version"]);
const STOP_GRACE_MS = 800;

export async function serve(options: ServeOptions): Promise<Serving> {
  const stopping = new AbortController();
  const server = createServer(
    {
      key: options.certificate.privateKeyPem,
      cert: options.certificate.chainPem,
      minVersion: "TLSv1.2",
      maxHeaderSize: 64 * 1024,
      headersTimeout: 15_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 65_000,
    },
    (request, response) => void new Exchange(options, request, response, stopping.signal).run(),
  );
  const port = await listen(server, options.port ?? 0);
  return { url: `https://${HOST}:${port}`, port, stop: () => stop(server, stopping, options.clock) };
}

/** A token nobody can guess. */
export const createToken = (random: Random): Redacted<string> =>
  new Redacted(Buffer.from(random.bytes(32)).toString("base64url"));

/** Compares without telling, by the time it takes, how much was right. */
export function isSameToken(given: string, expected: Redacted<string>): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected.reveal()));
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const remedy = port === 0 ? "" : "; stop what uses it, or choose another port";
      reject(new UsageError(`cannot listen on ${HOST}:${port}: ${messageOf(error)}${remedy}`, error));
    });
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

async function stop(server: Server, stopping: AbortController, clock: Clock): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  stopping.abort();
  server.closeIdleConnections();
  const timer = clock.setTimer(() => server.closeAllConnections(), STOP_GRACE_MS);
  await closed;
  timer.cancel();
}

/** One request on a socket and its answer. Never rejects. */
class Exchange {
  readonly #options: ServeOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #stopping: AbortSignal;
  readonly #abort = new AbortController();

  constructor(options: ServeOptions, request: IncomingMessage, response: ServerResponse, stopping: AbortSignal) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.#stopping = stopping;
  }

  async run(): Promise<void> {
    const end = (): void => this.#abort.abort();
    this.#response.once("close", end);
    this.#stopping.addEventListener("abort", end);
    try {
      await this.#send(await this.#answer());
    } catch (error) {
      // The peer has gone, or the answer broke off half-way: all that is left is to make that visible.
      if (!this.#response.destroyed) {
        this.#options.logger?.debug("embedded API: an exchange broke off", { error });
        this.#response.destroy();
      }
    } finally {
      this.#stopping.removeEventListener("abort", end);
    }
  }

  async #answer(): Promise<ApiResponse> {
    const request = toApiRequest(this.#request, this.#abort.signal);
    if (!request) return respondError(new StatusError(400, "BadRequest", "the request target must be a path"));
    if (!PUBLIC_PATHS.has(request.path) && !this.#isAuthenticated()) {
      return respondError(new StatusError(401, "Unauthorized", "Unauthorized"));
    }
    const body = await readBody(this.#request);
    if (body === "too large") return closing(respondError(tooLarge()));
    return this.#options.api.handle(body.length === 0 ? request : { ...request, body });
  }

  #isAuthenticated(): boolean {
    const [scheme = "", token = ""] = (this.#request.headers.authorization ?? "").split(" ", 2);
    return scheme.toLowerCase() === "bearer" && isSameToken(token, this.#options.token);
  }

  async #send(answer: ApiResponse): Promise<void> {
    const response = this.#response;
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(answer.headers)) headers[name] = headerValue(value);
    if (this.#stopping.aborted) headers.connection = "close";
    if (typeof answer.body === "string") {
      // As bytes: Node would join a text body to the headers and encode both as one, spoiling header values.
      const body = Buffer.from(answer.body, "utf8");
      if (answer.status !== 304) headers["content-length"] = String(body.length);
      response.writeHead(answer.status, headers);
      response.end(body);
      return;
    }
    response.writeHead(answer.status, headers);
    response.flushHeaders();
    await this.#stream(answer.body);
    response.end();
  }

  /** Takes no more from the stream while the socket is full, so that a slow reader costs no memory. */
  async #stream(body: AsyncIterable<string>): Promise<void> {
    for await (const chunk of body) {
      if (this.#response.destroyed) return;
      if (!this.#response.write(chunk)) await this.#drained();
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#response.off("drain", done);
        this.#abort.signal.removeEventListener("abort", done);
        resolve();
      };
      this.#response.once("drain", done);
      this.#abort.signal.addEventListener("abort", done);
      if (this.#abort.signal.aborted) done();
    });
  }
}

function toApiRequest(request: IncomingMessage, signal: AbortSignal): ApiRequest | undefined {
  const target = request.url ?? "";
  if (!target.startsWith("/")) return undefined;
  const at = target.indexOf("?");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === "string") headers[name] = value;
  return {
    method: request.method ?? "GET",
    path: at < 0 ? target : target.slice(0, at),
    query: new URLSearchParams(at < 0 ? "" : target.slice(at + 1)),
    headers,
    signal,
  };
}

/** The whole body, or that it is beyond the limit: the rest is then thrown away until the connection closes. */
async function readBody(request: IncomingMessage): Promise<Buffer | "too large"> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      request.resume();
      return "too large";
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const closing = (answer: ApiResponse): ApiResponse => ({
  ...answer,
  headers: { ...answer.headers, connection: "close" },
});

/** Header values are bytes on the wire: text beyond ASCII goes out as UTF-8. */
const headerValue = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
