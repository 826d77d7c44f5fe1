import type { IncomingHttpHeaders } from "node:http";
import { BadQuestion, NotAdmitted, NotPermitted, WrongHost } from "./refusals.ts";

/**
 * What a request must be before anything is looked at: asked of a name that is ours, by a page that is ours. A browser that
 * shows somebody else's page can send requests here, and a name of theirs can be made to mean this address; neither gets
 * beyond this. Must not: know what is asked for, or who asks.
 */
export interface AllowedHosts {
  readonly names: readonly string[];
  /** Undefined: any, since whoever forwards a port chooses it. */
  readonly port?: number;
}

export const LOOPBACK_NAMES: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;

/** Throws what is to be answered instead. */
export function guardRequest(headers: IncomingHttpHeaders, { names, port }: AllowedHosts): void {
  const host = (headers.host ?? "").toLowerCase();
  const [, name = "", given] = HOST.exec(host) ?? [];
  if (!names.includes(name) || (port !== undefined && Number(given ?? 80) !== port))
    throw new WrongHost(host.slice(0, 100));
  const { origin, "sec-fetch-site": site } = headers;
  if (origin !== undefined && hostOf(origin) !== host) {
    throw new NotPermitted("the request comes from a page of another origin");
  }
  // A link on another page may lead here; nothing of that page may ask here.
  const isVisit = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isVisit) {
    throw new NotPermitted("the request comes from a page of another site");
  }
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
}

const MAX_TOKEN_CHARACTERS = 16_384;

export function bearerOf({ authorization = "" }: IncomingHttpHeaders): string {
  const [, token] = /^bearer ([\w.~+/=-]+)$/i.exec(authorization) ?? [];
  if (token === undefined || token.length > MAX_TOKEN_CHARACTERS) {
    throw new NotAdmitted("a token is needed: Authorization: Bearer TOKEN");
  }
  return token;
}

/** A form of another page can send text, but not this type without asking first. */
export function requireJson(headers: IncomingHttpHeaders): void {
  if (/^application\/json(?:\s*;.*)?$/i.test(headers["content-type"] ?? "")) return;
  throw new BadQuestion(415, "content-type must be application/json");
}

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** On every answer. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CSP,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};
