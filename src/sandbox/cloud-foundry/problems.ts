import {
  isObject,
  isTooDeep,
  type JsonObject,
  jsonAnswer,
  type SandboxRequest,
  type SandboxResponse,
} from "../http/exchange.ts";

/**
 * The errors of a Cloud Controller: `{"errors":[{"code","title","detail"}]}`. Handlers answer with a `SandboxResponse` or
 * throw a `Refusal`. Texts are those that clients of the real one meet, because some clients read them.
 */
const KINDS = {
  InvalidAuthToken: { status: 401, code: 1000 },
  MessageParseError: { status: 400, code: 1001 },
  NotFound: { status: 404, code: 10000 },
  UnknownError: { status: 500, code: 10001 },
  NotAuthenticated: { status: 401, code: 10002 },
  NotAuthorized: { status: 403, code: 10003 },
  BadQueryParameter: { status: 400, code: 10005 },
  UnprocessableEntity: { status: 422, code: 10008 },
  UnableToPerform: { status: 400, code: 10009 },
  ResourceNotFound: { status: 404, code: 10010 },
  RateLimitExceeded: { status: 429, code: 10013 },
  ServiceUnavailable: { status: 503, code: 10015 },
  UaaRateLimited: { status: 429, code: 20008 },
  ServiceBindingNotFound: { status: 404, code: 90004 },
  ServiceFetchBindingParametersNotSupported: { status: 502, code: 90007 },
} as const;

export type ProblemKind = keyof typeof KINDS;

/** An error as data: kept by failed jobs, sent as a body. */
export interface Problem {
  readonly status: number;
  readonly code: number;
  readonly title: string;
  readonly detail: string;
}

export const problem = (kind: ProblemKind, detail: string): Problem => ({
  ...KINDS[kind],
  title: `CF-${kind}`,
  detail,
});

/** Ends a request with an error answer. */
export class Refusal extends Error {
  readonly problem: Problem;

  constructor(kind: ProblemKind, detail: string) {
    super(detail);
    this.problem = problem(kind, detail);
  }
}

export const unprocessable = (detail: string): Refusal => new Refusal("UnprocessableEntity", detail);
export const notFound = (what: string): Refusal => new Refusal("ResourceNotFound", `${what} not found`);
export const badQuery = (detail: string): Refusal =>
  new Refusal("BadQueryParameter", `The query parameter is invalid: ${detail}`);

export const errorList = ({ code, title, detail }: Problem) => [{ code, title, detail }];

export const errorAnswer = (given: Problem): SandboxResponse => jsonAnswer(given.status, { errors: errorList(given) });

const unparsable = (): Refusal =>
  new Refusal("MessageParseError", "Request invalid due to parse error: invalid request body");

/** The body as a JSON object with no fields but these, or a refusal that quotes no value of it: bodies hold secrets. */
export function bodyObject(request: SandboxRequest, fields: readonly string[]): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(request.body ?? "");
  } catch {
    throw unparsable();
  }
  if (!isObject(value) || isTooDeep(value)) throw unparsable();
  const unknown = Object.keys(value).filter((key) => !fields.includes(key));
  if (unknown.length > 0)
    throw unprocessable(`Unknown field(s): ${unknown.map((key) => `'${shortened(key)}'`).join(", ")}`);
  return value;
}

/** Of what a client sent, no more than tells it what is meant. */
export const shortened = (text: string): string => (text.length <= 63 ? text : `${text.slice(0, 8)}...`);
