import { isObject, type JsonObject } from "./exchange.ts";

/** How often something strikes: so many times more, or until it is switched off. */
export type Count = number | "always";

/**
 * What can be made to go wrong with the whole Service Manager. The defaults are a well-behaved, fast one. All changes
 * take effect with the next request.
 */
export interface Switches {
  /** What every request meets before it has any effect. */
  readonly outage: "none" | "unavailable" | "unknown-route" | "throttled";
  /** How many requests meet the outage; then it switches itself off. */
  readonly outageRequests: Count;
  readonly outageScope: "all" | "api" | "token";
  /** The form of `Retry-After` while throttled: each was seen in production, and so was none. */
  readonly retryAfter: "seconds" | "http-date" | "go-time" | "none";
  readonly retryAfterMs: number;
  readonly tokenLifetimeMs: number;
  /** A new binding works and can be read by id, but is missing from lists for so long. */
  readonly createdHiddenMs: number;
  /** A deleted binding is gone, but is in lists for so long. */
  readonly deletedListedMs: number;
  /** Creates of one name that begin within this window of one another all succeed. */
  readonly nameRaceMs: number;
  /** Requests that have their whole effect, and whose answer gets lost. */
  readonly lostAnswers: Count;
  readonly lostAnswersTo: "any" | "GET" | "POST" | "PATCH" | "DELETE";
  /** What GET and DELETE say of a binding that was deleted not long ago. */
  readonly deletedStatus: 404 | 410;
  readonly operationErrors: "object" | "array";
  readonly operationTypeCase: "lower" | "upper";
  /** Whether the operation of a finished delete can still be polled. */
  readonly deleteOperations: "kept" | "forgotten";
  /** So many looks at an operation are a 500. */
  readonly operationPollFailures: Count;
  /** So many changes of a binding meet a concurrent update: 412. */
  readonly patchConflicts: Count;
  /** The create operation of a binding that was deleted meanwhile reads `in progress` for so long. */
  readonly operationTimeoutMs: number;
}

export const defaultSwitches: Switches = {
  outage: "none",
  outageRequests: "always",
  outageScope: "all",
  retryAfter: "seconds",
  retryAfterMs: 10_000,
  tokenLifetimeMs: 12 * 3_600_000,
  createdHiddenMs: 0,
  deletedListedMs: 0,
  nameRaceMs: 0,
  lostAnswers: 0,
  lostAnswersTo: "any",
  deletedStatus: 404,
  operationErrors: "object",
  operationTypeCase: "lower",
  deleteOperations: "kept",
  operationPollFailures: 0,
  patchConflicts: 0,
  operationTimeoutMs: 300_000,
};

/** A service instance, its plan and its broker. */
export interface InstanceSettings {
  readonly name: string;
  readonly plan: string;
  readonly bindable: boolean;
  /** The most bindings the broker allows; further ones are a 502, like every error of a broker. */
  readonly bindingQuota: number | null;
  /** An asynchronous broker answers 202 after `brokerLatencyMs` and is done `brokerWorkMs` later. */
  readonly broker: "synchronous" | "asynchronous";
  readonly brokerLatencyMs: number;
  readonly brokerWorkMs: number;
  /** So many requests fail: a synchronous broker's at once, an asynchronous one's in the operation. */
  readonly brokerFailures: Count;
  readonly brokerFailsOn: "bind" | "unbind" | "both";
  /** What the broker itself says; the Service Manager turns each into a 502. */
  readonly brokerFailureStatus: number;
  /** Every binding gets the credentials of the first. */
  readonly sameCredentials: boolean;
  readonly parametersRetrievable: boolean;
}

export const defaultInstance: InstanceSettings = {
  name: "instance",
  plan: "standard",
  bindable: true,
  bindingQuota: null,
  broker: "synchronous",
  brokerLatencyMs: 0,
  brokerWorkMs: 0,
  brokerFailures: 0,
  brokerFailsOn: "both",
  brokerFailureStatus: 400,
  sameCredentials: false,
  parametersRetrievable: true,
};

type Check = (value: unknown) => boolean;

const isWhole: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isCount: Check = (value) => value === "always" || isWhole(value);
const isText: Check = (value) => typeof value === "string" && value !== "" && value.length <= 255;
const isFlag: Check = (value) => typeof value === "boolean";
const oneOf =
  (...allowed: readonly (string | number)[]): Check =>
  (value) =>
    allowed.some((each) => each === value);

const switchChecks: Readonly<Record<keyof Switches, Check>> = {
  outage: oneOf("none", "unavailable", "unknown-route", "throttled"),
  outageRequests: isCount,
  outageScope: oneOf("all", "api", "token"),
  retryAfter: oneOf("seconds", "http-date", "go-time", "none"),
  retryAfterMs: isWhole,
  tokenLifetimeMs: isWhole,
  createdHiddenMs: isWhole,
  deletedListedMs: isWhole,
  nameRaceMs: isWhole,
  lostAnswers: isCount,
  lostAnswersTo: oneOf("any", "GET", "POST", "PATCH", "DELETE"),
  deletedStatus: oneOf(404, 410),
  operationErrors: oneOf("object", "array"),
  operationTypeCase: oneOf("lower", "upper"),
  deleteOperations: oneOf("kept", "forgotten"),
  operationPollFailures: isCount,
  patchConflicts: isCount,
  operationTimeoutMs: isWhole,
};

const instanceChecks: Readonly<Record<keyof InstanceSettings, Check>> = {
  name: isText,
  plan: isText,
  bindable: isFlag,
  bindingQuota: (value) => value === null || isWhole(value),
  broker: oneOf("synchronous", "asynchronous"),
  brokerLatencyMs: isWhole,
  brokerWorkMs: isWhole,
  brokerFailures: isCount,
  brokerFailsOn: oneOf("bind", "unbind", "both"),
  brokerFailureStatus: (value) => isWhole(value) && Number(value) >= 400 && Number(value) <= 599,
  sameCredentials: isFlag,
  parametersRetrievable: isFlag,
};

/** The names of values that are unknown or do not fit; empty when all is well. */
function misfits(value: JsonObject, checks: Readonly<Record<string, Check>>): string[] {
  return Object.entries(value).flatMap(([key, each]) => {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    return check?.(each) ? [] : [key];
  });
}

/** Every property was checked against its type's table by the caller, which TypeScript cannot see. */
const checked = <T>(value: JsonObject): Partial<T> => value as Partial<T>;

export type Parsed<T> =
  | { readonly kind: "fits"; readonly value: Partial<T> }
  | { readonly kind: "misfit"; readonly keys: readonly string[] };

function parse<T>(value: unknown, checks: Readonly<Record<keyof T & string, Check>>): Parsed<T> {
  if (!isObject(value)) return { kind: "misfit", keys: ["(body)"] };
  const keys = misfits(value, checks);
  return keys.length === 0 ? { kind: "fits", value: checked<T>(value) } : { kind: "misfit", keys };
}

export const parseSwitches = (value: unknown): Parsed<Switches> => parse<Switches>(value, switchChecks);
export const parseInstanceSettings = (value: unknown): Parsed<InstanceSettings> =>
  parse<InstanceSettings>(value, instanceChecks);

/** One less, where it counts down. */
export const spend = (count: Count): Count => (count === "always" ? count : Math.max(0, count - 1));
export const strikes = (count: Count): boolean => count === "always" || count > 0;
