/**
 * A request to a sandbox and its answer, as values: what a socket carries, without the socket. Each sandbox has the form
 * of its errors of its own.
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
  /** Whether it came over TLS. */
  readonly isSecure?: boolean;
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

/** No answer reaches the client, though the request may have had its effect. A transport breaks the connection. */
export class AnswerLost extends Error {
  constructor() {
    super("the connection was lost before the answer came");
  }
}

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): SandboxResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

/** The answer of a request, or `AnswerLost` as soon as its client goes away; what was set going goes on. */
export async function unlessAbandoned<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (signal?.aborted) throw new AnswerLost();
  if (!signal) return await work();
  return await new Promise((resolve, reject) => {
    const leave = (): void => reject(new AnswerLost());
    signal.addEventListener("abort", leave, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}

/** Values that are nested deeper could be read but not written again. */
const DEEPEST_BODY = 100;

export function isTooDeep(value: Json): boolean {
  let depth = 0;
  for (let level: readonly Json[] = [value]; level.length > 0; depth++) {
    if (depth > DEEPEST_BODY) return true;
    level = level.filter((each) => typeof each === "object" && each !== null).flatMap(children);
  }
  return false;
}

const children = (value: Json): readonly Json[] =>
  typeof value === "object" && value !== null ? Object.values<Json>(value as JsonObject) : [];
