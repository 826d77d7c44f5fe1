import { backoff, KeyturnError, never } from "../base/errors.ts";
import { KubeError, Unreachable } from "../kube/errors.ts";
import type { Refusal } from "./wire.ts";

/** Why a request is not answered as it was asked: each with the status of HTTP that says so. */
abstract class RequestRefused extends KeyturnError {
  abstract readonly status: number;
}

/** No token, a wrong one, or one that is over. */
export class NotAdmitted extends RequestRefused {
  readonly status = 401;

  constructor(message: string, cause?: unknown) {
    super("NotAdmitted", message, { retry: never, cause });
  }
}

/** A page of somebody else's asks, or a change is asked for where only looking is allowed. */
export class NotPermitted extends RequestRefused {
  readonly status = 403;

  constructor(message: string) {
    super("NotPermitted", message, { retry: never });
  }
}

/** The name under which it was asked for is none of those that this server has. */
export class WrongHost extends RequestRefused {
  readonly status = 421;

  constructor(host: string) {
    super("WrongHost", `this server is not known as "${host}": use the address that it was started with`, {
      retry: never,
    });
  }
}

/** The request itself is wrong. */
export class BadQuestion extends RequestRefused {
  readonly status: 400 | 404 | 405 | 413 | 415;

  constructor(status: BadQuestion["status"], message: string) {
    super("BadQuestion", message, { retry: never });
    this.status = status;
  }
}

/** An action was meant for a state that is over, or for one in which it has been taken already. */
export class StateMovedOn extends RequestRefused {
  readonly status = 409;

  constructor(message: string) {
    super("StateMovedOn", message, { retry: never });
  }
}

/** As many look on as there may be, or what is to be shown is not there. */
export class CannotServe extends RequestRefused {
  readonly status = 503;

  constructor(message: string) {
    super("CannotServe", message, { retry: backoff });
  }
}

export interface RefusalAnswer {
  readonly status: number;
  readonly body: Refusal;
}

const KUBE_STATUS: Readonly<Record<string, number>> = {
  NotFound: 404,
  NotServed: 404,
  Forbidden: 403,
  Unauthorized: 401,
  Conflict: 409,
  Invalid: 422,
  TooManyRequests: 429,
  Unavailable: 503,
  Unreachable: 503,
};

/** What whoever asked is told. Undefined where that is nothing but that something went wrong: the log has the rest. */
export function refusalOf(error: unknown): RefusalAnswer | undefined {
  if (!(error instanceof KeyturnError)) return undefined;
  const { code } = error;
  const status = error instanceof RequestRefused ? error.status : statusOf(error);
  // What was asked of it is for whoever looks for the reason; that it does not answer is for everybody.
  const message = error instanceof Unreachable ? `the cluster does not answer: ${error.message}` : error.message;
  return { status, body: { error: { code, message } } };
}

const statusOf = (error: KeyturnError): number => (error instanceof KubeError ? (KUBE_STATUS[error.code] ?? 502) : 400);
