import { stringify as stringifyYaml } from "yaml";
import { StatusError } from "../status-error.ts";
import type { ApiResponse } from "./exchange.ts";
import { plainJson, type Representation } from "./negotiate.ts";

/** Answers in the forms the API server gives them. Must not: decide what is answered. */
export function respond(
  status: number,
  value: unknown,
  representation: Representation = plainJson,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return {
    status,
    headers: {
      "content-type": `application/${representation.format}`,
      "cache-control": "no-cache, private",
      ...headers,
    },
    body: encode(value, representation),
  };
}

export function respondText(status: number, text: string): ApiResponse {
  return {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-cache, private",
      "x-content-type-options": "nosniff",
    },
    body: text,
  };
}

export function respondError(error: StatusError, representation: Representation = plainJson): ApiResponse {
  const retryAfter = error.details?.retryAfterSeconds;
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return respond(error.status, error.toStatus(), representation, headers);
}

/** What stands where a kind or path is not served at all; clients tell it from a missing object by the empty details. */
export const notServed = (): StatusError =>
  new StatusError(404, "NotFound", "the server could not find the requested resource", {});

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

export const notImplemented = (what: string): StatusError =>
  new StatusError(501, "NotImplemented", `${what} is not supported by the embedded API server`, {});

export const pageNotFound = (): ApiResponse => respondText(404, "404 page not found\n");

/** Clients of Kubernetes read YAML 1.1, where `yes` and `1_000` are no text unless they are quoted. */
const YAML = { aliasDuplicateObjects: false, lineWidth: 0, version: "1.1" } as const;

export function encode(value: unknown, representation: Representation): string {
  if (representation.format === "yaml") return stringifyYaml(value, YAML);
  return representation.pretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`;
}

/** Bounds the header, as the real server does; a client sees the first warnings and loses the rest. */
const MAX_WARNING_LENGTH = 4096;

/** Warnings as one `Warning` header; nothing when there are none. */
export function warningHeaders(warnings: readonly string[]): Readonly<Record<string, string>> {
  const values: string[] = [];
  let length = 0;
  for (const warning of new Set(warnings)) {
    const value = `299 - "${quotable(warning)}"`;
    length += value.length + 2;
    if (length > MAX_WARNING_LENGTH) break;
    values.push(value);
  }
  return values.length === 0 ? {} : { warning: values.join(", ") };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out of a header here.
const quotable = (text: string): string => text.replace(/[\u0000-\u001f\u007f]/g, " ").replace(/["\\]/g, "\\$&");
