/**
 * A request to the sandbox and its answer, as values: what a socket carries, without the socket. Handlers answer with a
 * `SandboxResponse` or throw a `Refusal`, which becomes the error body clients of a Service Manager know.
 */
export interface SandboxRequest {
  readonly method: string;
  /** Without the query, percent-encoded as it came. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The client certificate (PEM) that the caller proved to hold, where the connection has one. */
  readonly clientCertificate?: string;
  /** Aborts when the client goes away. What it had set going goes on. */
  readonly signal?: AbortSignal;
}

export interface SandboxResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What a broker said, passed on under the names the Service Manager gives it. */
interface BrokerError {
  readonly StatusCode: number;
  readonly ErrorMessage: string;
  readonly Description: string;
}

/** An error as data: kept by failed operations, sent as a body. */
export interface Problem {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  readonly brokerError?: BrokerError;
}

/** Ends a request with an error answer. */
export class Refusal extends Error {
  readonly problem: Problem;

  constructor(status: number, error: string, description: string) {
    super(description);
    this.problem = { status, error, description };
  }
}

/** No answer reaches the client, though the request may have had its effect. A transport breaks the connection. */
export class AnswerLost extends Error {
  constructor() {
    super("the connection was lost before the answer came");
  }
}

export function jsonAnswer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

export function errorBody(problem: Problem) {
  return {
    error: problem.error,
    description: problem.description,
    ...(problem.brokerError && { broker_error: problem.brokerError }),
  };
}

export const errorAnswer = (problem: Problem): SandboxResponse => jsonAnswer(problem.status, errorBody(problem));

export const badRequest = (description: string): Refusal => new Refusal(400, "BadRequest", description);

/** The body as a JSON object, or a 400 that quotes nothing of it: bodies hold secrets. */
export function bodyObject(request: SandboxRequest): JsonObject {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new Refusal(415, "UnsupportedMediaType", "media type not supported: application/json is expected");
  }
  let value: unknown;
  try {
    value = JSON.parse(request.body ?? "");
  } catch {
    throw badRequest("Failed to decode request body: it is not JSON");
  }
  if (!isObject(value)) throw badRequest("Failed to decode request body: it is not an object");
  if (depthOf(value) > DEEPEST_BODY) throw badRequest("Failed to decode request body: it is nested too deeply");
  return value;
}

/** Values that are nested deeper could be read but not written again. */
const DEEPEST_BODY = 100;

/** How deep a value is nested, counted no further than matters. */
function depthOf(value: Json): number {
  let depth = 0;
  for (let level: readonly Json[] = [value]; level.length > 0 && depth <= DEEPEST_BODY; depth++) {
    level = level.filter((each) => typeof each === "object" && each !== null).flatMap(children);
  }
  return depth;
}

const children = (value: Json): readonly Json[] =>
  typeof value === "object" && value !== null ? Object.values<Json>(value as JsonObject) : [];
