import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { messageOf, UsageError } from "../base/errors.ts";
import type { Redacted } from "../base/redacted.ts";
import type { BindAddress } from "../runtime/http-endpoints.ts";
import { ANSWERS } from "./api-answers.ts";
import { answerApi } from "./api-routes.ts";
import { AuditPast } from "./audit-past.ts";
import type { Gate } from "./gate.ts";
import { LiveStreams } from "./live-streams.ts";
import type { PageFile, PageFiles } from "./page-files.ts";
import { BadQuestion, CannotServe, refusalOf } from "./refusals.ts";
import { type AllowedHosts, guardRequest, SECURITY_HEADERS } from "./request-guard.ts";
import type { ViewSource } from "./view-source.ts";

/**
 * The page and what it asks for, over HTTP: who asks is checked first, what they may see next, and only then is anything
 * looked at. No cookies: a browser sends nothing by itself that would open anything. Must not: hold a rule of rotation, read
 * a Secret's data, or say more of a failure than its own line.
 */
export interface DashboardServerOptions {
  readonly bind: BindAddress;
  /** What the server is called; of loopback alone, with its own port. */
  readonly hostNames: readonly string[];
  /** The port in a name must be ours; false where others forward to us. */
  readonly isPortOurs: boolean;
  /** Read again now and then: certificates are renewed. */
  readonly tls?: { read(): Promise<TlsPair> };
  readonly gate: Gate;
  readonly source: ViewSource;
  readonly page: PageFiles;
  /** Streams are packed where the way to the browser may be long. */
  readonly packsStreams: boolean;
}

export interface TlsPair {
  readonly certificate: string;
  readonly key: Redacted<string>;
}

export interface DashboardServer {
  readonly port: number;
  /** `http://127.0.0.1:8099`. */
  readonly url: string;
  close(): Promise<void>;
}

const INDEX = "/index.html";
/** Places within the page that names of resources are a part of, and those may have dots. */
const NAMED_PLACES = /^\/(?:credential|consumers)\//;
const NOT_BUILT = "The page is not built. In a checkout: npm run build:dashboard, and then start again.";

export async function startDashboardServer(options: DashboardServerOptions): Promise<DashboardServer> {
  const streams = new LiveStreams(options);
  const past = new AuditPast(options.source);
  const allowed: { hosts: AllowedHosts } = { hosts: { names: options.hostNames } };
  const handle = (request: IncomingMessage, response: ServerResponse): void =>
    void respond({ options, streams, past, hosts: allowed.hosts }, request, response);
  const { server, stop } = await createServer(options, handle);
  const port = await listen(server, options.bind);
  if (options.isPortOurs) allowed.hosts = { names: options.hostNames, port };
  server.on("error", (error) => options.source.logger.error("the dashboard's server failed", { error }));
  const scheme = options.tls ? "https" : "http";
  return {
    port,
    url: `${scheme}://${options.bind.host ?? "127.0.0.1"}:${port}`,
    close: () => {
      stop();
      streams.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const LIMITS = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 3000,
};
const MAX_CONNECTIONS = 512;
const RENEW_MS = 60_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Stoppable {
  readonly server: Server;
  readonly stop: () => void;
}

async function createServer(options: DashboardServerOptions, handle: Handler): Promise<Stoppable> {
  const { tls } = options;
  if (!tls) {
    const server = createPlainServer(LIMITS, handle);
    server.maxConnections = MAX_CONNECTIONS;
    return { server, stop: () => {} };
  }
  const first = await tls.read();
  const server = createTlsServer({ ...LIMITS, ...secureOf(first), minVersion: "TLSv1.2" }, handle);
  server.maxConnections = MAX_CONNECTIONS;
  return { server, stop: renewing(server, { tls, source: options.source }, first) };
}

const secureOf = ({ certificate, key }: TlsPair): { readonly cert: string; readonly key: string } => ({
  cert: certificate,
  key: key.reveal(),
});

/** A pair that does not fit, or cannot be read, is told of, and the one before goes on. */
function renewing(
  server: TlsServer,
  { tls, source }: Required<Pick<DashboardServerOptions, "tls" | "source">>,
  first: TlsPair,
): () => void {
  let last = first.certificate;
  const renew = async (): Promise<void> => {
    try {
      const next = await tls.read();
      if (next.certificate !== last) server.setSecureContext({ ...secureOf(next), minVersion: "TLSv1.2" });
      last = next.certificate;
    } catch (error) {
      source.logger.warn("the dashboard's certificate cannot be renewed; the one before is used on", { error });
    }
    timer = source.clock.setTimer(() => void renew(), RENEW_MS);
  };
  let timer = source.clock.setTimer(() => void renew(), RENEW_MS);
  return () => timer.cancel();
}

function listen(server: Server, { host, port }: BindAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const where = `${host ?? ""}:${port}`;
      reject(new UsageError(`cannot serve the dashboard on ${where}: ${messageOf(error)}; choose another port`, error));
    });
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

interface Serving {
  readonly past: AuditPast;
  readonly options: DashboardServerOptions;
  readonly streams: LiveStreams;
  readonly hosts: AllowedHosts;
}

async function respond(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { gate, source } = serving.options;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  try {
    guardRequest(request.headers, serving.hosts);
    const url = URL.parse(request.url ?? "/", "http://here");
    if (!url) throw new BadQuestion(400, "the request is not for a path");
    if (!isApi(request)) return sendPage(serving, url.pathname, request, response);
    const answer = await answerApi({
      answers: ANSWERS,
      past: serving.past,
      gate,
      source,
      streams: serving.streams,
      request,
      response,
      url,
    });
    if (answer !== undefined) sendJson(response, 200, answer);
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) source.logger.error("a request to the dashboard failed", { path: request.url?.split("?")[0], error });
    if (response.headersSent) return void response.destroy();
    const unexpected = { error: { code: "Unexpected", message: "something went wrong here; the log has it" } };
    // What was not read of the request would be taken for the next one.
    if (!request.complete) response.setHeader("connection", "close");
    const status = refusal?.status ?? 500;
    const body = refusal?.body ?? unexpected;
    if (isApi(request)) sendJson(response, status, body);
    else sendLine(response, status, body.error.message);
  }
}

const isApi = ({ url = "" }: IncomingMessage): boolean => url.startsWith("/api/");

/** For a person at a browser, whose page is not there to say it. */
function sendLine(response: ServerResponse, status: number, line: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(`${line}\n`);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

/** A path without a dot is a place within the page, which finds it out for itself. */
function sendPage({ options }: Serving, path: string, request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    throw new BadQuestion(405, "only GET and HEAD");
  }
  const isPlace = !path.includes(".") || NAMED_PLACES.test(path);
  const file = options.page.get(isPlace ? INDEX : path);
  if (!file && options.page.size === 0) throw new CannotServe(NOT_BUILT);
  if (!file) throw new BadQuestion(404, "there is no such file");
  const { body, encoding } = packed(file, String(request.headers["accept-encoding"] ?? ""));
  response.writeHead(200, {
    "content-type": file.type,
    "content-length": body.length,
    vary: "accept-encoding",
    "cache-control": file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
    ...(encoding !== undefined && { "content-encoding": encoding }),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

function packed(file: PageFile, accepted: string): { readonly body: Buffer; readonly encoding?: string } {
  if (file.brotli && /\bbr\b/.test(accepted)) return { body: file.brotli, encoding: "br" };
  if (file.gzip && /\bgzip\b/.test(accepted)) return { body: file.gzip, encoding: "gzip" };
  return { body: file.body };
}
