import type { Redacted } from "../base/redacted.ts";

/**
 * Requests to an external system and their whole answers: undici in production, a call into the sandbox in tests and in
 * the simulation, with faults in between where asked for. Must not: follow redirects, retry, or know what it carries.
 */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bodies hold secrets of users and of ours. */
  readonly body?: Redacted<string>;
  /** For log-ins with a client certificate. */
  readonly clientCertificate?: { readonly certificate: string; readonly privateKey: Redacted<string> };
  /** Whoever answers is believed. Only where a user has said so. */
  readonly skipTlsVerification?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Redacted<string>;
}

export interface HttpPort {
  /** Resolves with whatever answer came; rejects when none came whole, or when the signal aborts. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}
