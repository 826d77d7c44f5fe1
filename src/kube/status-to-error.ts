import {
  AlreadyExists,
  BadRequest,
  Conflict,
  Forbidden,
  Gone,
  Invalid,
  type KubeError,
  type KubeErrorDetails,
  NotFound,
  NotServed,
  type StatusCause,
  TooManyRequests,
  Unauthorized,
  Unavailable,
} from "./errors.ts";
import { isRecord } from "./record.ts";

/** The parts of a `Status` object that matter here; everything is optional because servers and proxies differ. */
interface StatusLike {
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly name?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface FailedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body, or undefined where it was not JSON. */
  readonly body: unknown;
  /** Wall-clock time of the answer, for a Retry-After that is a date. */
  readonly receivedAt: number;
}

const MAX_MESSAGE_LENGTH = 2000;
const MAX_QUOTE_LENGTH = 256;
const MAX_CAUSES = 100;
const LEFT_OUT = "[left out]";

/** The typed error for an answer that is not a success. */
export function statusToError(answer: FailedAnswer): KubeError {
  const status = readStatus(answer.body);
  const details: KubeErrorDetails = {
    status: answer.status,
    ...(status?.causes && { causes: status.causes }),
    ...retryAfter(answer, status),
  };
  return classify(answer.status, status, details);
}

/** The typed error for the `Status` inside an ERROR event of a watch. */
export function errorEventToError(object: unknown): KubeError {
  const status = readStatus(object);
  const body = object;
  return statusToError({ status: status?.code ?? 500, headers: {}, body, receivedAt: 0 });
}

function classify(code: number, status: StatusLike | undefined, details: KubeErrorDetails): KubeError {
  const message = status?.message ?? `the server answered ${code} without a reason`;
  switch (code) {
    case 401:
      return new Unauthorized(message, details);
    case 403:
      return new Forbidden(message, details);
    case 404:
      // Only a 404 that names what it missed is about an object; all others are about the path.
      return status?.name ? new NotFound(message, details) : new NotServed(notServedMessage(status), details);
    case 409:
      return status?.reason === "AlreadyExists" ? new AlreadyExists(message, details) : new Conflict(message, details);
    case 410:
      return new Gone(message, details);
    case 422:
      return new Invalid(message, details);
    case 429:
      return new TooManyRequests(message, details);
    default:
      return code >= 400 && code < 500 && code !== 408 && status
        ? new BadRequest(message, details)
        : new Unavailable(message, details);
  }
}

const notServedMessage = (status: StatusLike | undefined): string =>
  status?.message ?? "the server does not serve this path";

function retryAfter(answer: FailedAnswer, status: StatusLike | undefined): { retryAfterMs?: number } {
  const header = answer.headers["retry-after"]?.trim();
  if (header && /^\d+$/.test(header)) return { retryAfterMs: Number(header) * 1000 };
  const dateMs = header ? Date.parse(header) : Number.NaN;
  if (!Number.isNaN(dateMs)) return { retryAfterMs: Math.max(0, dateMs - answer.receivedAt) };
  const seconds = status?.retryAfterSeconds;
  return seconds !== undefined && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {};
}

function readStatus(body: unknown): StatusLike | undefined {
  if (!isRecord(body) || body.kind !== "Status") return undefined;
  const details = isRecord(body.details) ? body.details : {};
  return {
    ...optional("message", typeof body.message === "string" && body.message !== "" ? tidy(body.message) : undefined),
    ...optional("reason", text(body.reason)),
    ...optional("code", typeof body.code === "number" ? body.code : undefined),
    ...optional("name", text(details.name)),
    ...optional(
      "causes",
      Array.isArray(details.causes) ? details.causes.slice(0, MAX_CAUSES).map(readCause) : undefined,
    ),
    ...optional(
      "retryAfterSeconds",
      typeof details.retryAfterSeconds === "number" ? details.retryAfterSeconds : undefined,
    ),
  };
}

function readCause(cause: unknown): StatusCause {
  if (!isRecord(cause)) return {};
  const message = text(cause.message);
  return {
    ...optional("reason", text(cause.reason)),
    ...optional("message", message === undefined ? undefined : tidy(message)),
    ...optional("field", text(cause.field)),
  };
}

/**
 * Servers quote what they refuse: a Secret whose data is not base64 comes back whole inside the message, and older ones
 * quote the request around a decoding mistake. Whatever could be an object or is long is left out.
 */
function tidy(message: string): string {
  const [kept = ""] = message.split(/,? ?error found in #|\.\.\.\|/, 1);
  const masked = kept
    .replace(/"(?:[^"\\]|\\.)*"/gs, (quoted) =>
      quoted.length > MAX_QUOTE_LENGTH || /^"\s*[{[]/.test(quoted) ? LEFT_OUT : quoted,
    )
    .replace(/(value: )[{[].*[}\]](?=: |$)/s, `$1${LEFT_OUT}`);
  return masked.length <= MAX_MESSAGE_LENGTH ? masked : `${masked.slice(0, MAX_MESSAGE_LENGTH)}…`;
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const optional = <K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: V });
