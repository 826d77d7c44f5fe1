import { after, backoff, KeyturnError, never, type RetryRule } from "../base/errors.ts";

/**
 * What can go wrong at an external system, in the few kinds that make a difference to what is done next. Messages name
 * the remedy where there is one, and never quote what the service said beyond a bounded, single line.
 */
export type ProviderErrorCode =
  /** The service, or the way to it, does not work now. Nothing is known of the outside. */
  | "ProviderUnavailable"
  /** The service asks for a pause. */
  | "ProviderThrottled"
  /** The credentials are wrong or lack a right: nothing works until somebody changes them. */
  | "ProviderForbidden"
  /** The service refuses what was asked for: parameters, plan, name. Asking again without a change changes nothing. */
  | "ProviderRefused"
  /** No more keys are allowed for the instance or the plan. */
  | "QuotaExceeded"
  /** The instance that the key is to belong to does not exist. */
  | "InstanceNotFound"
  /** The name is taken; by whom is found out by looking. */
  | "NameTaken"
  /** The key exists and works, but the service does not give its credentials again. */
  | "CredentialsUnavailable"
  /** The service accepted the request for a key, and then did not manage to make it. */
  | "KeyFailed"
  /** Another operation on the same object is under way. */
  | "ProviderBusy";

const RULES: Readonly<Record<ProviderErrorCode, RetryRule>> = {
  ProviderUnavailable: { kind: "backoff", isShared: true },
  ProviderThrottled: after(10_000),
  ProviderForbidden: backoff,
  ProviderRefused: backoff,
  QuotaExceeded: backoff,
  InstanceNotFound: backoff,
  // Who took it may be missing from lists for a while yet.
  NameTaken: after(2000),
  CredentialsUnavailable: never,
  KeyFailed: backoff,
  ProviderBusy: backoff,
};

export class ProviderError extends KeyturnError {
  declare readonly code: ProviderErrorCode;

  constructor(
    code: ProviderErrorCode,
    message: string,
    details: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(code, message, { retry: ruleOf(code, details.retryAfterMs), cause: details.cause });
  }
}

function ruleOf(code: ProviderErrorCode, retryAfterMs: number | undefined): RetryRule {
  if (retryAfterMs === undefined) return RULES[code];
  return { kind: "after", delayMs: retryAfterMs, ...(code === "ProviderUnavailable" && { isShared: true }) };
}
