import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, resolve } from "node:path";
import type {
  Action,
  ActionRequest,
  FuturesRequest,
  LiveMessage,
  Row,
  Viewer,
  WayIn,
} from "../../src/dashboard/wire.ts";
import { consumersViewOf, credentialOf, evidenceOf, overviewOf, previewOf, workloadsOf } from "./fake-views.ts";
import { DAY_MS, FakeWorld, type FakeWorldOptions } from "./fake-world.ts";

/**
 * The page without a cluster: serves what was built and a made-up world, by the words of wire.ts and with the headers that
 * the real server sends. `node dashboard/dev/fake-server.ts [--count N] [--port N] [--nasty] [--cluster-token]`.
 */
export interface FakeServer {
  readonly url: string;
  /** Works once. */
  readonly link: string;
  readonly world: FakeWorld;
  /** What was asked for, in order: `POST /api/action`. */
  readonly asked: readonly string[];
  /** How many streams are open. */
  readonly open: number;
  /** Cuts every stream. */
  cut(): void;
  /** From now on every request is refused so; undefined: no more. */
  refuse(status: number | undefined): void;
  /** No token that was given is good any more. */
  expire(): void;
  newLink(): string;
  /** Tells the streams what has changed, now. */
  tell(): void;
  close(): Promise<void>;
}

export interface FakeServerOptions extends Partial<Omit<FakeWorldOptions, "now">> {
  readonly port?: number;
  readonly wayIn?: WayIn["by"];
  readonly mayChange?: boolean;
  /** Where the page was built to. */
  readonly folder?: string;
}

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** As clouds name contexts, and with a character that turns letters around. */
const LONG_CONTEXT = "arn:aws:eks:eu-central-1:123456789012:cluster/\u202eshop-production";

const PART = 250;
/** What the fake cluster takes for a token. */
export const CLUSTER_TOKEN = "fake.cluster.token";

export async function startFakeServer(options: FakeServerOptions = {}): Promise<FakeServer> {
  const { count = 200, port = 0, wayIn = "link", mayChange = true, folder = builtFolder } = options;
  const world = new FakeWorld({ ...options, now: Date.now(), count });
  const cluster = options.isNasty ? LONG_CONTEXT : "made-up";
  const viewer: Viewer = { name: "jane@example.com", cluster, mayChange, unseen: [] };
  const streams = new Set<ServerResponse>();
  const sessions = new Set<string>(wayIn === "cluster-token" ? [CLUSTER_TOKEN] : []);
  const links = new Set<string>();
  const asked: string[] = [];
  let refusal: number | undefined;

  const send = (stream: ServerResponse, message: LiveMessage): void => {
    stream.write(`data: ${JSON.stringify(message)}\n\n`);
  };
  const tell = (): void => {
    world.advance(Date.now());
    const changed = world.takeChanged();
    if (changed.length === 0) return;
    const rows = changed.map((id) => world.credentials.get(id)?.row).filter((row): row is Row => row !== undefined);
    const gone = changed.filter((id) => !world.credentials.has(id));
    const overview = overviewOf(world, Date.now());
    for (const stream of streams) {
      send(stream, { type: "changed", rows, gone });
      send(stream, { type: "overview", overview });
    }
  };
  const timer = setInterval(tell, 200);
  const pulse = setInterval(() => {
    for (const stream of streams) stream.write(": here\n\n");
  }, 10_000);

  const refuse = (response: ServerResponse, status: number, message = ""): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { code: `Fake${status}`, message } }));
  };
  const json = (response: ServerResponse, body: unknown): void => {
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(body));
  };

  const live = (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const now = Date.now();
    send(response, { type: "hello", at: now, viewer });
    send(response, { type: "overview", overview: overviewOf(world, now) });
    const rows = [...world.credentials.values()].map(({ row }) => row);
    for (let from = 0; from === 0 || from < rows.length; from += PART) {
      const part = rows.slice(from, from + PART);
      send(response, { type: "rows", rows: part, isLast: from + PART >= rows.length, count: rows.length });
    }
    streams.add(response);
    response.on("close", () => streams.delete(response));
  };

  const api = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const now = Date.now();
    const { searchParams: words, pathname } = url;
    asked.push(`${request.method} ${pathname}`);
    if (refusal !== undefined) return refuse(response, refusal);
    if (pathname === "/api/way-in") return json(response, { by: wayIn } satisfies WayIn);
    if (pathname === "/api/session") {
      const { token } = (await bodyOf(request)) as { token: string };
      if (!links.delete(token)) return refuse(response, 401, "this link was used already");
      const session = `session-${token}`;
      sessions.add(session);
      return json(response, { token: session });
    }
    const [, bearer = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    if (!sessions.has(bearer)) return refuse(response, 401);
    if (pathname === "/api/live") return live(response);
    if (pathname === "/api/futures") {
      const { ids, ...asked } = (await bodyOf(request)) as FuturesRequest;
      const known = ids.flatMap((id) => world.credentials.get(id) ?? []);
      const futures = known.map((credential) => [credential.row.id, world.future(credential, now, asked)] as const);
      return json(response, { futures: Object.fromEntries(futures) });
    }
    if (pathname === "/api/consumers") {
      return json(response, consumersViewOf(world, words.get("namespace") ?? "", words.get("name") ?? "", now));
    }
    if (pathname === "/api/workloads") return json(response, workloadsOf(world, words.get("namespace") ?? ""));
    if (pathname === "/api/evidence") {
      const period = /^(\d+)d$/.exec(words.get("maxPeriod") ?? "");
      if (words.has("maxPeriod") && !period)
        return refuse(response, 400, "maxPeriod is not a duration: numbers with units, such as 90d");
      return json(response, evidenceOf(world, period ? Number(period[1]) * DAY_MS : undefined, now));
    }
    const body = request.method === "POST" ? ((await bodyOf(request)) as ActionRequest) : undefined;
    const credential = world.credentials.get(body?.id ?? words.get("id") ?? "");
    if (!credential) return refuse(response, 404, "there is no such resource");
    if (pathname === "/api/credential") return json(response, credentialOf(world, credential, now));
    if (pathname === "/api/last-failure") return json(response, {});
    if (pathname === "/api/preview") {
      const until = Number(words.get("until"));
      return json(response, previewOf(credential, words.get("action") as Action, now, until));
    }
    if (pathname === "/api/action" && body) {
      const said = world.act(credential, body.action, body.seen.sequence, now);
      if (said === undefined)
        return refuse(response, 409, "It has changed meanwhile: nothing was done. Look at it again, and decide anew.");
      return json(response, { words: said });
    }
    return refuse(response, 404);
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://fake");
    response.setHeader("content-security-policy", CSP);
    response.setHeader("x-content-type-options", "nosniff");
    const work = url.pathname.startsWith("/api/") ? api(request, response, url) : file(response, folder, url.pathname);
    work.catch((error: unknown) => refuse(response, 500, String(error)));
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let made = 0;
  const newLink = (): string => {
    const token = `link-${++made}`;
    links.add(token);
    return `${url}/#token=${token}`;
  };
  return {
    url,
    link: newLink(),
    world,
    asked,
    get open() {
      return streams.size;
    },
    newLink,
    tell,
    cut: () => {
      for (const stream of streams) stream.destroy();
    },
    refuse: (status) => {
      refusal = status;
    },
    expire: () => sessions.clear(),
    close: async () => {
      clearInterval(timer);
      clearInterval(pulse);
      for (const stream of streams) stream.destroy();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const builtFolder = resolve(import.meta.dirname, "../../dist/page");

async function file(response: ServerResponse, folder: string, path: string): Promise<void> {
  const isFile = path.startsWith("/assets/") || path === "/icon.svg";
  const content = await readFile(join(folder, isFile ? path : "index.html")).catch(() => undefined);
  const type = TYPES[isFile ? extname(path) : ".html"] ?? "application/octet-stream";
  response.writeHead(content ? 200 : 404, { "content-type": type });
  response.end(content ?? "not built: npm run build:dashboard");
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

if (import.meta.main) {
  const word = (name: string): string | undefined => process.argv[process.argv.indexOf(`--${name}`) + 1];
  const has = (name: string): boolean => process.argv.includes(`--${name}`);
  const server = await startFakeServer({
    count: has("count") ? Number(word("count")) : 200,
    port: has("port") ? Number(word("port")) : 8090,
    isNasty: has("nasty"),
    wayIn: has("cluster-token") ? "cluster-token" : "link",
  });
  process.stdout.write(`${server.link}\n${has("cluster-token") ? `token: ${CLUSTER_TOKEN}\n` : ""}`);
  process.on("SIGINT", () => void server.close());
  process.on("SIGTERM", () => void server.close());
}
