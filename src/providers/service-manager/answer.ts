import { ProviderError } from "../provider-error.ts";
import { type Answer, cameFromRouter } from "../rest/answer.ts";
import { garbled as garbledAnswer } from "../rest/rest-client.ts";
import { parseRetryAfter } from "../rest/retry-after.ts";
import { isRecord } from "../rest/wire.ts";

/** What was asked for, in the words of the message when it is refused. */
export type Purpose = "make the binding" | "delete the binding" | "change the labels of the binding" | "read";

export interface RefusalContext {
  readonly purpose: Purpose;
  /** Of the credentials, where they tell. */
  readonly plan: string | undefined;
  readonly now: number;
}

/**
 * Whether the Service Manager itself says that something is not there. A router or proxy that does not find the Service
 * Manager answers 404 too; only the service speaks in this form.
 */
export function saysNotFound(answer: Answer): boolean {
  if (answer.status === 410) return answer.body !== undefined && !cameFromRouter(answer);
  return answer.status === 404 && !cameFromRouter(answer) && errorCodeOf(answer) === "NotFound";
}

/** Undefined unless the body has the form of the service's own errors. */
function errorCodeOf(answer: Answer): string | undefined {
  const { error, description } = answer.body?.reveal() ?? {};
  return typeof error === "string" && typeof description === "string" ? error : undefined;
}

/**
 * The error for an answer that is not the one hoped for. Codes come from the status and the service's error code.
 * Nothing of what the service wrote gets into a message: descriptions repeat parts of requests, and those of brokers
 * differ from try to try.
 */
export function refusalOf(answer: Answer, context: RefusalContext): ProviderError {
  const code = errorCodeOf(answer);
  if (answer.status === 429) return throttled(answer, context);
  if (code === undefined || answer.status < 400 || cameFromRouter(answer)) return strangerError(answer, context);
  if (isQuotaCode(code) || isQuotaCode(brokerCodeOf(answer)) || speaksOfQuota(answer, context)) {
    return new ProviderError(
      "QuotaExceeded",
      "no more bindings are allowed for this service instance: delete unused ones, have the quota raised, or make ttl shorter so that fewer keys live at a time",
    );
  }
  if (code === "BrokerError" && answer.status >= 500) {
    return new ProviderError(
      "ProviderRefused",
      `the service's broker refused or failed to ${context.purpose}: check parameters, quota and the service itself`,
    );
  }
  return answer.status >= 500 ? unavailable(answer, context) : clientError(answer, context);
}

function clientError(answer: Answer, context: RefusalContext): ProviderError {
  const { purpose } = context;
  switch (answer.status) {
    case 401:
      return new ProviderError("ProviderForbidden", "the Service Manager does not accept the token of the credentials");
    case 403:
      return forbidden(context);
    case 404:
      return purpose === "make the binding"
        ? new ProviderError("InstanceNotFound", "the service instance does not exist at the Service Manager")
        : new ProviderError("ProviderRefused", `the Service Manager cannot ${purpose}: it is not there`);
    case 409:
      return purpose === "make the binding"
        ? new ProviderError("NameTaken", "the service instance has a binding of that name already")
        : busy(context);
    case 412:
    case 422:
      return busy(context);
    default:
      return new ProviderError("ProviderRefused", refusedMessage(answer, context));
  }
}

function refusedMessage(answer: Answer, { purpose }: RefusalContext): string {
  // The text only picks the words of the message; what is done does not depend on it.
  const description = String(answer.body?.reveal().description);
  if (purpose === "make the binding" && description.includes("not bindable")) {
    return "the plan of the service instance does not allow bindings: use an instance of another plan";
  }
  const hint = purpose === "make the binding" ? ": check name, service instance and parameters" : "";
  return `the Service Manager refuses to ${purpose} (${answer.status})${hint}`;
}

function forbidden({ purpose, plan }: RefusalContext): ProviderError {
  const what = `the Service Manager does not let these credentials ${purpose}`;
  const remedy =
    plan === undefined || plan === "service-operator-access"
      ? "needs the plan subaccount-admin of the service service-manager; service-operator-access is not enough"
      : "a right is missing";
  return new ProviderError("ProviderForbidden", `${what}: ${remedy}`);
}

const busy = ({ purpose }: RefusalContext): ProviderError =>
  new ProviderError("ProviderBusy", `the Service Manager cannot ${purpose} now: another operation on it is under way`);

function throttled(answer: Answer, { now }: RefusalContext): ProviderError {
  const retryAfterMs = parseRetryAfter(answer.headers, now);
  return new ProviderError(
    "ProviderThrottled",
    "the Service Manager asks for a pause: too many requests",
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

function unavailable(answer: Answer, { now }: RefusalContext): ProviderError {
  const retryAfterMs = parseRetryAfter(answer.headers, now);
  return new ProviderError(
    "ProviderUnavailable",
    "the Service Manager cannot serve now",
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

/** An answer that does not have the service's form: something in between, or the service in a bad state. */
function strangerError(answer: Answer, context: RefusalContext): ProviderError {
  const { status } = answer;
  if (status >= 300 && status < 400) {
    return new ProviderError(
      "ProviderUnavailable",
      "the address of the Service Manager answers with a redirect, which is not followed: check sm_url",
    );
  }
  if (status === 404) {
    return new ProviderError(
      "ProviderUnavailable",
      "a router or proxy answers instead of the Service Manager (404): it is down, or sm_url is wrong",
    );
  }
  if ((status === 401 || status === 403) && !cameFromRouter(answer)) return clientError(answer, context);
  if (status >= 500) return unavailable(answer, context);
  return garbled();
}

export const garbled = (): ProviderError => garbledAnswer("the Service Manager");

function brokerCodeOf(answer: Answer): string | undefined {
  const brokerError = answer.body?.reveal().broker_error;
  if (!isRecord(brokerError)) return undefined;
  const code = brokerError.error ?? brokerError.ErrorMessage ?? brokerError.errorMessage;
  return typeof code === "string" ? code : undefined;
}

const QUOTA_WORDS = /\bquota|\bbindings? limit|\b(?:limit|maximum number) of (?:service )?bindings/i;
/** Enough for what a broker has to say first. */
const MAX_LOOKED_AT = 2000;

/**
 * Brokers that are used up mostly say so in a sentence, within a `BrokerError` like any other. Only words are chosen by it:
 * what such an error leads to is the same with either code.
 */
function speaksOfQuota(answer: Answer, { purpose }: RefusalContext): boolean {
  if (purpose !== "make the binding" || errorCodeOf(answer) !== "BrokerError") return false;
  const { description, broker_error: brokerError } = answer.body?.reveal() ?? {};
  const said = [description, ...(isRecord(brokerError) ? Object.values(brokerError) : [])];
  return said.some((text) => typeof text === "string" && QUOTA_WORDS.test(text.slice(0, MAX_LOOKED_AT)));
}

const QUOTA_CODES: ReadonlySet<string> = new Set([
  "quotaexceeded",
  "planquotaexceeded",
  "servicequotaexceeded",
  "bindingquotaexceeded",
  "limitexceeded",
  "bindinglimitexceeded",
]);

/** A code is one word. */
const isQuotaCode = (code: string | undefined): boolean =>
  code !== undefined && code.length <= 40 && QUOTA_CODES.has(code.replaceAll(/[_-]/g, "").toLowerCase());
