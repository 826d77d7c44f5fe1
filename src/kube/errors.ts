import { after, backoff, KeyturnError, never, type RetryRule } from "../base/errors.ts";

/**
 * What can go wrong when talking to a Kubernetes API, as classes to branch on (`instanceof` or `code`), never on text.
 * Must not: quote a request or response body beyond the server's own message, because bodies hold key material.
 */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface KubeErrorDetails {
  readonly status?: number;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class KubeError extends KeyturnError {
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  readonly causes: readonly StatusCause[];

  constructor(code: string, message: string, retry: RetryRule, details: KubeErrorDetails = {}) {
    super(code, message, { retry, cause: details.cause });
    this.status = details.status;
    this.causes = details.causes ?? [];
  }
}

/** 404 about an object. */
export class NotFound extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("NotFound", message, never, details);
  }
}

/** 404 about the path itself: the kind is not served (a CRD that is not installed, say). */
export class NotServed extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("NotServed", message, backoff, details);
  }
}

/** 409: somebody else wrote first. Read again and decide again; nobody needs to hear of it. */
export class Conflict extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("Conflict", message, after(0), details);
  }
}

export class AlreadyExists extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("AlreadyExists", message, after(0), details);
  }
}

/** 410: the resourceVersion or continue token is too old. List again. */
export class Gone extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("Gone", message, after(0), details);
  }
}

export class TooManyRequests extends KubeError {
  constructor(message: string, details: KubeErrorDetails = {}) {
    super("TooManyRequests", message, after(details.retryAfterMs ?? 1000), details);
  }
}

export class Unauthorized extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("Unauthorized", message, backoff, details);
  }
}

export class Forbidden extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("Forbidden", message, backoff, details);
  }
}

/** 422: the object breaks a rule; `causes` names the fields. */
export class Invalid extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("Invalid", message, never, details);
  }
}

/** 400, 405, 406, 415: the request itself is wrong. */
export class BadRequest extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("BadRequest", message, never, details);
  }
}

/** 5xx, or an answer that is not Kubernetes': the server is there but cannot serve. */
export class Unavailable extends KubeError {
  constructor(message: string, details: KubeErrorDetails = {}) {
    super("Unavailable", message, details.retryAfterMs === undefined ? backoff : after(details.retryAfterMs), details);
  }
}

/** No whole answer: refused, reset, time-out, TLS. A write may or may not have happened. */
export class Unreachable extends KubeError {
  constructor(message: string, details?: KubeErrorDetails) {
    super("Unreachable", message, backoff, details);
  }
}
