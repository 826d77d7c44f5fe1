import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { messageOf, UsageError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { HealthChecks, HealthReport } from "./health.ts";

/**
 * `/metrics`, `/readyz` and `/healthz` over plain HTTP for probes and Prometheus. Read-only. Must not: show anything that
 * is not meant for everyone who can reach the port.
 */
export interface BindAddress {
  /** Absent: all interfaces. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface HttpEndpointsOptions {
  readonly bind: BindAddress;
  readonly readiness: HealthChecks;
  readonly liveness: HealthChecks;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
  readonly logger: Logger;
}

export interface HttpEndpoints {
  /** As it was bound: `127.0.0.1:8080`. */
  readonly address: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly allow?: string;
  readonly body: string;
}

/** `host:port`, `[v6]:port`, `:port`; `0` is off and gives undefined. */
export function parseBindAddress(text: string): BindAddress | undefined {
  if (text === "0") return undefined;
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) {
    throw new UsageError(`cannot listen on "${text}": give host:port, :port for all interfaces, or 0 to switch it off`);
  }
  const host = match[1] ?? match[2] ?? "";
  return host === "" ? { port } : { host, port };
}

export async function startHttpEndpoints(options: HttpEndpointsOptions): Promise<HttpEndpoints> {
  const server = createServer((request, response) => void respond(request, response, options));
  server.requestTimeout = 10_000;
  server.headersTimeout = 5_000;
  server.keepAliveTimeout = 30_000;
  server.maxConnections = 256;
  await listen(server, options.bind);
  server.on("error", (error) => options.logger.error("the metrics and health server failed", { error }));
  return { address: addressOf(server), close: () => close(server) };
}

function listen(server: Server, bind: BindAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(bindError(bind, error));
    server.once("error", refuse);
    server.listen({ port: bind.port, ...(bind.host !== undefined && { host: bind.host }) }, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there; choose another port, or 0 to switch it off",
  EACCES: "this user may not; choose a port above 1023",
  EADDRNOTAVAIL: "this machine does not have that address; use 127.0.0.1, or no host for all interfaces",
  ENOTFOUND: "there is no such host; use an address of this machine, or no host for all interfaces",
};

function bindError(bind: BindAddress, error: NodeJS.ErrnoException): UsageError {
  const where = formatAddress(bind.host ?? "", bind.port);
  return new UsageError(`cannot listen on ${where}: ${REMEDIES[error.code ?? ""] ?? error.message}`, error);
}

function addressOf(server: Server): string {
  const address = server.address();
  return address === null || typeof address === "string" ? "" : formatAddress(address.address, address.port);
}

const formatAddress = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/** Idle and half-open connections are cut, so that leaving never waits for a scraper. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpEndpointsOptions,
): Promise<void> {
  request.resume();
  const answer = await answerTo(request, options).catch((error: unknown): Answer => {
    options.logger.error("a metrics or health request failed", { path: request.url, error });
    return { status: 500, body: `internal error: ${messageOf(error)}\n` };
  });
  response.writeHead(answer.status, {
    "content-type": answer.contentType ?? "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(answer.body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(answer.allow !== undefined && { allow: answer.allow }),
  });
  response.end(request.method === "HEAD" ? undefined : answer.body);
}

async function answerTo(request: IncomingMessage, options: HttpEndpointsOptions): Promise<Answer> {
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  const route = routes.get(path);
  if (!route) return { status: 404, body: `not found; try ${[...routes.keys()].join(", ")}\n` };
  if (request.method !== "GET" && request.method !== "HEAD") {
    return { status: 405, allow: "GET, HEAD", body: "only GET and HEAD\n" };
  }
  return route(options, new URLSearchParams(query).has("verbose"));
}

type Route = (options: HttpEndpointsOptions, verbose: boolean) => Promise<Answer>;

const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  [
    "/metrics",
    async ({ metrics }) => ({ status: 200, contentType: metrics.contentType, body: await metrics.render() }),
  ],
  ["/readyz", async ({ readiness }, verbose) => healthAnswer("readyz", readiness.report(), verbose)],
  ["/healthz", async ({ liveness }, verbose) => healthAnswer("healthz", liveness.report(), verbose)],
]);

/** The form of the API server's own endpoints, which people know how to read. */
function healthAnswer(name: string, report: HealthReport, verbose: boolean): Answer {
  if (report.ready && !verbose) return { status: 200, body: "ok\n" };
  const lines = report.checks.map((check) => `[${check.ready ? "+" : "-"}]${check.name} ${verdict(check)}`);
  const status = report.ready ? 200 : 503;
  return { status, body: [...lines, `${name} check ${report.ready ? "passed" : "failed"}`, ""].join("\n") };
}

const verdict = (check: { readonly ready: boolean; readonly reason: string }): string =>
  check.ready ? `ok: ${check.reason}` : `failed: ${check.reason}`;
