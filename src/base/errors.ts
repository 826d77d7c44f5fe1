/**
 * Errors people and code can act on: a code to branch on, a rule for trying again, and the cause. Every code has an
 * entry in `docs/errors.md`. Must not: carry key material in its message.
 */

/** `isShared`: what did not work is what others need as well, so when it works for one of them, it does for all. */
export type RetryRule =
  /** Try again with growing pauses. */
  | { readonly kind: "backoff"; readonly isShared?: true }
  /** Try again once this much time has passed. */
  | { readonly kind: "after"; readonly delayMs: number; readonly isShared?: true }
  /** Trying again without a change changes nothing. */
  | { readonly kind: "never" };

export const backoff: RetryRule = { kind: "backoff" };
export const never: RetryRule = { kind: "never" };
export const after = (delayMs: number): RetryRule => ({ kind: "after", delayMs });

export class KeyturnError extends Error {
  readonly code: string;
  readonly retry: RetryRule;

  constructor(code: string, message: string, options: { readonly retry: RetryRule; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retry = options.retry;
  }
}

/** A mistake the person at the keyboard can mend: printed as one line, never with a stack. */
export class UsageError extends KeyturnError {
  constructor(message: string, cause?: unknown) {
    super("Usage", message, { retry: never, cause });
  }
}

/** A value in a manifest that cannot be read; the message says what it should look like, the caller adds the field. */
export class InvalidValue extends KeyturnError {
  constructor(message: string, cause?: unknown) {
    super("InvalidValue", message, { retry: never, cause });
  }
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
