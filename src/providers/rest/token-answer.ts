import { Redacted } from "../../base/redacted.ts";
import type { HttpResponse } from "../http-port.ts";
import { ProviderError } from "../provider-error.ts";
import { cameFromRouter } from "./answer.ts";
import { parseRetryAfter } from "./retry-after.ts";
import type { Granted } from "./token-source.ts";
import { parseRecord, textOf } from "./wire.ts";

export interface TokenAnswer extends Granted {
  readonly refreshToken?: Redacted<string>;
}

export interface TokenAnswerOptions {
  readonly now: number;
  /** The error for credentials that are not accepted. */
  refused(): ProviderError;
}

const DEFAULT_LIFETIME_MS = 300_000;
const MAX_LIFETIME_MS = 86_400_000;
const MAX_TOKEN_CHARS = 64 * 1024;

/** What an OAuth 2.0 token service answered, or the error for it; nothing of it is quoted. */
export function readTokenAnswer(response: HttpResponse, { now, refused }: TokenAnswerOptions): TokenAnswer {
  const { status } = response;
  const body = parseRecord(response.body.reveal());
  if (status === 429 || status >= 500) throw unavailable(response, now);
  if (body && (status === 400 || status === 401 || status === 403)) throw refused();
  const value = body?.access_token;
  // Anything but printable characters in a header would be refused by the HTTP client, or be another header.
  if (status !== 200 || typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value) || value.length > MAX_TOKEN_CHARS) {
    const isElsewhere = cameFromRouter(response) || status !== 200;
    throw new ProviderError(
      "ProviderUnavailable",
      isElsewhere
        ? "what answers at the token address is not the token service: it is down, or the address is wrong"
        : "the answer of the token service cannot be understood",
    );
  }
  const refreshToken = textOf(body?.refresh_token);
  return {
    value: new Redacted(value),
    lifetimeMs: readLifetime(body?.expires_in),
    ...(refreshToken !== undefined && { refreshToken: new Redacted(refreshToken) }),
  };
}

function unavailable(response: HttpResponse, now: number): ProviderError {
  const retryAfterMs = parseRetryAfter(response.headers, now);
  const details = retryAfterMs === undefined ? {} : { retryAfterMs };
  return response.status === 429
    ? new ProviderError("ProviderThrottled", "the token service asks for a pause: too many requests", details)
    : new ProviderError("ProviderUnavailable", "the token service cannot serve now", details);
}

function readLifetime(value: unknown): number {
  const seconds = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  if (!Number.isFinite(seconds)) return DEFAULT_LIFETIME_MS;
  return Math.min(MAX_LIFETIME_MS, Math.max(0, seconds * 1000));
}
