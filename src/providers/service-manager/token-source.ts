import type { Clock } from "../../base/clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../http-port.ts";
import { ProviderError } from "../provider-error.ts";
import { certificateEndsAt, type ServiceManagerCredentials } from "./credentials.ts";
import { startDeadline, unlessAborted } from "./deadline.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { parseRecord } from "./wire.ts";

/** Compared by identity. */
export interface Token {
  readonly value: Redacted<string>;
  /** On the clock that never goes back: a correction of the wall clock must not make a token look fresh. */
  readonly freshUntil: number;
}

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_MARGIN_MS = 60_000;
const DEFAULT_LIFETIME_MS = 300_000;
const MAX_LIFETIME_MS = 86_400_000;
const MAX_TOKEN_CHARS = 64 * 1024;

/**
 * The token that requests carry, asked for once and kept until shortly before it ends. Callers at the same time share
 * one request, which goes on when one of them leaves. Must not: try again by itself.
 */
export class TokenSource {
  readonly #credentials: ServiceManagerCredentials;
  readonly #http: HttpPort;
  readonly #clock: Clock;
  #token: Token | undefined;
  #request: Promise<Token> | undefined;

  constructor(credentials: ServiceManagerCredentials, http: HttpPort, clock: Clock) {
    this.#credentials = credentials;
    this.#http = http;
    this.#clock = clock;
  }

  current(signal: AbortSignal): Promise<Token> {
    const token = this.#token;
    if (token && this.#clock.monotonic() < token.freshUntil) return Promise.resolve(token);
    this.#request ??= this.#fetch().finally(() => {
      this.#request = undefined;
    });
    return unlessAborted(this.#request, signal);
  }

  /** The service did not take this one. Another that came in the meantime stays. */
  reject(token: Token): void {
    if (this.#token === token) this.#token = undefined;
  }

  async #fetch(): Promise<Token> {
    const startedAt = this.#clock.monotonic();
    const deadline = startDeadline(this.#clock, REQUEST_TIMEOUT_MS);
    try {
      const response = await unlessAborted(this.#http.send(this.#tokenRequest(), deadline.signal), deadline.signal);
      const token = this.#read(response, startedAt);
      this.#token = token;
      return token;
    } catch (error) {
      throw error instanceof ProviderError ? error : this.#unreachable(error);
    } finally {
      deadline.cancel();
    }
  }

  #tokenRequest(): HttpRequest {
    const { clientId, login, tokenUrl } = this.#credentials;
    const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId });
    if (login.kind === "secret") form.set("client_secret", login.clientSecret.reveal());
    return {
      method: "POST",
      url: tokenUrl,
      headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: new Redacted(form.toString()),
      ...(login.kind === "certificate" && {
        clientCertificate: { certificate: login.certificate, privateKey: login.privateKey },
      }),
    };
  }

  #read(response: HttpResponse, startedAt: number): Token {
    const { status, headers } = response;
    const body = parseRecord(response.body.reveal());
    if (status === 429 || status >= 500) throw this.#unavailable(response);
    if (body && (status === 400 || status === 401 || status === 403)) throw this.#refused();
    const value = body?.access_token;
    // Anything but printable characters in a header would be refused by the HTTP client, or be another header.
    if (
      status !== 200 ||
      typeof value !== "string" ||
      !/^[\x21-\x7e]+$/.test(value) ||
      value.length > MAX_TOKEN_CHARS
    ) {
      const isElsewhere = headers["x-cf-routererror"] !== undefined || status !== 200;
      throw new ProviderError(
        "ProviderUnavailable",
        isElsewhere
          ? "what answers at the token address is not the token service: it is down, or the address is wrong"
          : "the answer of the token service cannot be understood",
      );
    }
    const lifetimeMs = readLifetime(body?.expires_in);
    return {
      value: new Redacted(value),
      freshUntil: startedAt + lifetimeMs - Math.min(MAX_MARGIN_MS, lifetimeMs / 2),
    };
  }

  #unavailable(response: HttpResponse): ProviderError {
    const retryAfterMs = parseRetryAfter(response.headers, this.#clock.now());
    const details = retryAfterMs === undefined ? {} : { retryAfterMs };
    return response.status === 429
      ? new ProviderError("ProviderThrottled", "the token service asks for a pause: too many requests", details)
      : new ProviderError("ProviderUnavailable", "the token service cannot serve now", details);
  }

  #refused(): ProviderError {
    return (
      this.#expired() ??
      new ProviderError(
        "ProviderForbidden",
        "the token service does not accept the Service Manager credentials: replace them",
      )
    );
  }

  #unreachable(cause: unknown): ProviderError {
    const { host } = new URL(this.#credentials.tokenUrl);
    return (
      this.#expired() ??
      new ProviderError("ProviderUnavailable", `the token service cannot be reached at ${host}`, { cause })
    );
  }

  /** A certificate that has ended is seldom named by whoever refuses it. */
  #expired(): ProviderError | undefined {
    const { login } = this.#credentials;
    const endsAt = login.kind === "certificate" ? certificateEndsAt(login.certificate) : undefined;
    if (endsAt === undefined || this.#clock.now() <= endsAt) return undefined;
    const day = new Date(endsAt).toISOString().slice(0, 10);
    return new ProviderError(
      "ProviderForbidden",
      `the client certificate of the Service Manager credentials ended on ${day}: replace it`,
    );
  }
}

function readLifetime(value: unknown): number {
  const seconds = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  if (!Number.isFinite(seconds)) return DEFAULT_LIFETIME_MS;
  return Math.min(MAX_LIFETIME_MS, Math.max(0, seconds * 1000));
}
