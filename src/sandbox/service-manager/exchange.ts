import {
  isObject,
  isTooDeep,
  type JsonObject,
  jsonAnswer,
  type SandboxRequest,
  type SandboxResponse,
} from "../http/exchange.ts";

/**
 * The errors of a Service Manager. Handlers answer with a `SandboxResponse` or throw a `Refusal`, which becomes the
 * error body its clients know.
 */

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
  if (isTooDeep(value)) throw badRequest("Failed to decode request body: it is nested too deeply");
  return value;
}
