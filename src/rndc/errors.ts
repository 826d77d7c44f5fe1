import { backoff, KeyturnError, never, type RetryRule } from "../base/errors.ts";

/**
 * What can go wrong between us and the control channel of a named, and what can be wrong with a key. Must not: carry a
 * secret, a signature, or more of what the other side said than one bounded line.
 */
interface RndcErrorDetails {
  /** The command was sent, and whether it was carried out is not known. */
  readonly mayHaveRun?: boolean;
  readonly cause?: unknown;
}

class RndcError extends KeyturnError {
  readonly mayHaveRun: boolean;

  constructor(code: string, message: string, retry: RetryRule, details: RndcErrorDetails = {}) {
    super(code, message, { retry, cause: details.cause });
    this.mayHaveRun = details.mayHaveRun ?? false;
  }
}

/** No connection, or one that broke off after the key had been accepted. */
export class RndcUnreachable extends RndcError {
  constructor(message: string, details?: RndcErrorDetails) {
    super("RndcUnreachable", message, backoff, details);
  }
}

export class RndcTimeout extends RndcError {
  constructor(message: string, details?: RndcErrorDetails) {
    super("RndcTimeout", message, backoff, details);
  }
}

/** named took the first message and hung up, which is all it ever says about a signature that it does not accept. */
export class RndcRefused extends RndcError {
  constructor(message: string, details?: RndcErrorDetails) {
    super("RndcRefused", message, backoff, details);
  }
}

/** An answer that is truly signed, by a clock too far from ours. */
export class RndcClockSkew extends RndcError {
  constructor(message: string, details?: RndcErrorDetails) {
    super("RndcClockSkew", message, backoff, details);
  }
}

/** What came is no message of the control protocol, or not the answer to what was asked. */
export class RndcProtocolViolation extends RndcError {
  constructor(message: string, details?: RndcErrorDetails) {
    super("RndcProtocolViolation", message, backoff, details);
  }
}

/** named understood the command and says that it failed. */
export class RndcCommandFailed extends RndcError {
  /** named's own number for what went wrong; it differs between versions. */
  readonly result: number;
  /** What named says about it beyond the one line of the message. */
  readonly text: string;

  constructor(message: string, reply: { readonly result: number; readonly text: string }) {
    super("RndcCommandFailed", message, backoff);
    this.result = reply.result;
    this.text = reply.text;
  }
}

/** A key that cannot be read, or is too weak to be used. */
export class RndcKeyInvalid extends KeyturnError {
  /** Where in the text, counted from 1; undefined for a key that came as separate values. */
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super("RndcKeyInvalid", line === undefined ? message : `line ${line}: ${message}`, { retry: never });
    this.line = line;
  }
}
