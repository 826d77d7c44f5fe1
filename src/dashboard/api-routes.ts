import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuditPast } from "./audit-past.ts";
import type { Gate } from "./gate.ts";
import type { LiveStreams } from "./live-streams.ts";
import { BadQuestion } from "./refusals.ts";
import { bearerOf, requireJson } from "./request-guard.ts";
import type { Looker, ViewSource } from "./view-source.ts";
import type { SessionAnswer, WayIn } from "./wire.ts";

/** One request to the API of the page. */
export interface ApiCall {
  readonly answers: ReadonlyMap<string, readonly [method: Method, answer: Answer]>;
  readonly gate: Gate;
  readonly source: ViewSource;
  readonly past: AuditPast;
  readonly streams: LiveStreams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

export type Method = "GET" | "POST";

/** Of what somebody asks who was let in. */
interface Asked {
  readonly source: ViewSource;
  readonly past: AuditPast;
  readonly looker: Looker;
  readonly query: URLSearchParams;
  /** What came with a POST. */
  readonly body: unknown;
}

export type Answer = (asked: Asked) => Promise<unknown>;

const MAX_BODY_BYTES = 64 * 1024;

/** The body of the answer; undefined where it goes on by itself. Throws what is answered instead. */
export async function answerApi(call: ApiCall): Promise<unknown> {
  const { gate, request, url } = call;
  switch (url.pathname) {
    case "/api/way-in":
      expect(request, call.response, "GET");
      return { by: gate.by } satisfies WayIn;
    case "/api/session":
      return openSession(call);
    case "/api/live":
      return openLive(call);
    default:
      return answerRoute(call);
  }
}

async function openSession({ gate, request, response }: ApiCall): Promise<SessionAnswer> {
  expect(request, response, "POST");
  if (!gate.exchange) throw new BadQuestion(404, "there are no links here: a token of the cluster is what counts");
  const { token } = (await readBody(request)) as { readonly token?: unknown };
  return gate.exchange(typeof token === "string" ? token : "");
}

async function openLive({ gate, source, streams, request, response }: ApiCall): Promise<undefined> {
  expect(request, response, "GET");
  request.resume();
  const token = bearerOf(request.headers);
  const looker = await patiently(source, () => lookerOf(gate, token));
  // Whoever has left while the cluster was asked has no stream that would ever close.
  if (!response.destroyed) streams.open(looker, token, request, response);
  return undefined;
}

async function answerRoute({ gate, answers, source, past, request, response, url }: ApiCall): Promise<unknown> {
  const [method, answer] = answers.get(url.pathname) ?? [];
  if (method === undefined || answer === undefined) throw new BadQuestion(404, "there is nothing here by that name");
  expect(request, response, method);
  const token = bearerOf(request.headers);
  return patiently(source, async () => {
    const guest = await gate.admit(token);
    const body = method === "POST" ? await readBody(request) : undefined;
    return answer({ source, past, looker: { guest, sight: await guest.sight() }, query: url.searchParams, body });
  });
}

/** Nobody waits for a cluster that has gone silent. */
const patiently = <T>({ pulse }: ViewSource, work: () => Promise<T>): Promise<T> =>
  pulse ? pulse.patiently(work) : work();

async function lookerOf(gate: Gate, token: string): Promise<Looker> {
  const guest = await gate.admit(token);
  return { guest, sight: await guest.sight() };
}

function expect(request: IncomingMessage, response: ServerResponse, method: Method): void {
  if (request.method === method) return;
  response.setHeader("allow", method);
  throw new BadQuestion(405, `only ${method}`);
}

/** An object, and no more of it than anything here needs. */
async function readBody(request: IncomingMessage): Promise<object> {
  requireJson(request.headers);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new BadQuestion(413, `a request has at most ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below.
  }
  throw new BadQuestion(400, "the body must be a JSON object");
}
