import { ProviderError, type ProviderErrorCode } from "../provider-error.ts";
import { type Answer, cameFromRouter } from "../rest/answer.ts";
import { garbled as garbledAnswer } from "../rest/rest-client.ts";
import { parseRetryAfter } from "../rest/retry-after.ts";
import { isRecord, textOf } from "../rest/wire.ts";

/** What was asked for, in the words of the message when it is refused. */
export type Purpose = "make the key" | "delete the key" | "change the metadata of the key" | "read";

interface CloudFoundryError {
  readonly code: number;
  /** Free text that may quote requests: it picks a kind of error, and is shown only as far as `ownWords` lets it. */
  readonly detail: string;
}

/** The first error, where the body has the form of the service's own; its type may say that it is text. */
export function errorOf({ body }: Answer): CloudFoundryError | undefined {
  const errors = body?.reveal().errors;
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (!isRecord(first) || typeof first.code !== "number") return undefined;
  return { code: first.code, detail: textOf(first.detail) ?? "" };
}

const NOT_FOUND = new Set([10010, 90004]);

/**
 * Whether Cloud Foundry itself says that something is not there, which it also says of what the caller may not see. A
 * router's 404 has another form, and an unknown route another code.
 */
export function saysNotFound(answer: Answer): boolean {
  const error = answer.status === 404 && !cameFromRouter(answer) ? errorOf(answer) : undefined;
  return error !== undefined && NOT_FOUND.has(error.code);
}

/** Some foundations take no metadata when a key is made. */
export const refusesMetadata = (answer: Answer): boolean =>
  answer.status === 422 && /\bmetadata\b/i.test(errorOf(answer)?.detail ?? "");

/** The same in words that can mean nothing else: not a label that is wrong, say. */
export const knowsNoMetadata = (answer: Answer): boolean =>
  refusesMetadata(answer) && /unknown field/i.test(errorOf(answer)?.detail ?? "");

/** Whether the API does not know a query parameter. */
export const refusesQuery = (answer: Answer): boolean => answer.status === 400 && errorOf(answer)?.code === 10005;

interface Known {
  readonly detail: RegExp;
  readonly code: ProviderErrorCode;
  readonly message: string;
}

/** All of these come as 422 with the same code 10008: only the text tells them apart. */
const UNPROCESSABLE: readonly Known[] = [
  {
    detail: /names must be unique/i,
    code: "NameTaken",
    message: "the service instance has a key of that name already",
  },
  {
    detail: /operation in progress|is being deleted/i,
    code: "ProviderBusy",
    message: "another operation on the key or its service instance is under way at Cloud Foundry",
  },
  {
    detail: /exceeded your organization's limit/i,
    code: "QuotaExceeded",
    message: "the quota of the organization allows no more service keys: delete unused ones, or have it raised",
  },
  {
    detail: /exceeded your space's limit/i,
    code: "QuotaExceeded",
    message: "the quota of the space allows no more service keys: delete unused ones, or have it raised",
  },
  {
    detail: /plan does not allow bindings/i,
    code: "ProviderRefused",
    message: "the plan of the service instance does not allow bindings: use an instance of another plan",
  },
  {
    detail: /service instance could not be found/i,
    code: "InstanceNotFound",
    message: "the service instance does not exist at Cloud Foundry",
  },
  {
    detail: /app could not be found/i,
    code: "ProviderRefused",
    message: "the app that is to be bound does not exist at Cloud Foundry, or may not be seen",
  },
  {
    detail: /not supported for user-provided/i,
    code: "ProviderRefused",
    message: "a user-provided service instance has no keys of its own: use a managed one, or bind an app",
  },
  {
    detail: /getting deleted or its deletion failed/i,
    code: "ProviderBusy",
    message: "the app's former binding to the service instance is still being deleted at Cloud Foundry",
  },
  {
    detail: /app is already bound/i,
    code: "ProviderRefused",
    message: "the app is bound to the service instance already: remove that binding first",
  },
];

/**
 * The error for an answer that is not the one hoped for, by its status and the service's own code. Nothing of what the
 * service wrote gets into a message but what `quote` makes of it.
 */
export function refusalOf(
  answer: Answer,
  purpose: Purpose,
  now: number,
  quote: (detail: string) => string | undefined = () => undefined,
): ProviderError {
  const { status } = answer;
  const error = errorOf(answer);
  if (status === 429) return throttled(answer, now);
  if (status === 401) {
    return new ProviderError("ProviderForbidden", "Cloud Foundry does not accept the token of the credentials");
  }
  if (!error || status < 400 || cameFromRouter(answer)) return strangerError(answer, purpose, now);
  if (status === 403) return forbidden(purpose);
  if (status === 404) return missing(error, purpose);
  if (status >= 500) return unavailable(answer, now);
  const known = status === 422 ? UNPROCESSABLE.find(({ detail }) => detail.test(error.detail)) : undefined;
  if (known) return new ProviderError(known.code, known.message);
  const words =
    quote(error.detail) ?? (purpose === "make the key" ? "check name, service instance and parameters" : "");
  const why = words === "" ? "" : `: ${words}`;
  return new ProviderError("ProviderRefused", `Cloud Foundry refuses to ${purpose} (${status})${why}`);
}

/** By `Retry-After`, in seconds or as the instant itself, or by the instant at which the count starts anew. */
export function pauseOf(headers: Answer["headers"], now: number): number | undefined {
  const { "retry-after": stated, "x-ratelimit-reset": reset, ...others } = headers;
  const until = [stated, reset].find((text) => EPOCH_SECONDS.test(text ?? ""));
  if (until === undefined || (stated !== undefined && stated !== until)) return parseRetryAfter(headers, now);
  return parseRetryAfter({ ...others, "retry-after": new Date(Number(until) * 1000).toUTCString() }, now);
}

const EPOCH_SECONDS = /^\d{10,11}$/;

export const throttled = ({ headers }: Pick<Answer, "headers">, now: number): ProviderError =>
  pauseFor(pauseOf(headers, now));

/** Undefined: for as long as is usual. */
export function pauseFor(retryAfterMs: number | undefined): ProviderError {
  return new ProviderError(
    "ProviderThrottled",
    "Cloud Foundry asks for a pause: too many requests",
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

const forbidden = (purpose: Purpose): ProviderError =>
  new ProviderError(
    "ProviderForbidden",
    `Cloud Foundry does not let these credentials ${purpose}: they need the role Space Developer`,
  );

/** Neither the thing nor what it is in can be seen: as if all had been deleted, but nobody would know. */
export const outOfSight = (): ProviderError =>
  new ProviderError(
    "ProviderForbidden",
    "Cloud Foundry shows these credentials neither what is looked for nor a space that it could be in: they need the role Space Developer there",
  );

function missing({ code }: CloudFoundryError, purpose: Purpose): ProviderError {
  return NOT_FOUND.has(code)
    ? new ProviderError("ProviderRefused", `Cloud Foundry cannot ${purpose}: it is not there`)
    : new ProviderError(
        "ProviderUnavailable",
        "this Cloud Foundry does not know the request: check its address and version",
      );
}

function unavailable(answer: Answer, now: number): ProviderError {
  const retryAfterMs = pauseOf(answer.headers, now);
  const details = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new ProviderError("ProviderUnavailable", "Cloud Foundry cannot serve now", details);
}

/** An answer that does not have the service's form: something in between, or the service in a bad state. */
function strangerError(answer: Answer, purpose: Purpose, now: number): ProviderError {
  const { status } = answer;
  if (status >= 300 && status < 400) {
    return new ProviderError(
      "ProviderUnavailable",
      "the address of Cloud Foundry answers with a redirect, which is not followed: check it",
    );
  }
  if (status === 404) {
    return new ProviderError(
      "ProviderUnavailable",
      "a router or proxy answers instead of Cloud Foundry (404): it is down, or its address is wrong",
    );
  }
  if (status === 403 && !cameFromRouter(answer)) return forbidden(purpose);
  return status >= 500 ? unavailable(answer, now) : garbled();
}

export const garbled = (): ProviderError => garbledAnswer("Cloud Foundry");
