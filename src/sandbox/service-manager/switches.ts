import { type CommonSwitches, commonChecks, commonDefaults } from "../controls/common-switches.ts";
import {
  type Checks,
  type Count,
  isCount,
  isFlag,
  isText,
  isWhole,
  isWholeOrNull,
  oneOf,
  type Parsed,
  parseSettings,
} from "../controls/settings.ts";

/**
 * What can be made to go wrong with the whole Service Manager. The defaults are a well-behaved, fast one. All changes
 * take effect with the next request.
 */
export interface Switches extends CommonSwitches {
  /** What every request meets before it has any effect. */
  readonly outage: "none" | "unavailable" | "unknown-route" | "throttled";
  /** The form of `Retry-After` while throttled: each was seen in production, and so was none. */
  readonly retryAfter: "seconds" | "http-date" | "go-time" | "none";
  /** Creates of one name that begin within this window of one another all succeed. */
  readonly nameRaceMs: number;
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
  ...commonDefaults,
  outage: "none",
  retryAfter: "seconds",
  tokenLifetimeMs: 12 * 3_600_000,
  nameRaceMs: 0,
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
  readonly offering: string;
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
  offering: "database",
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

const switchChecks: Checks<Switches> = {
  ...commonChecks,
  outage: oneOf("none", "unavailable", "unknown-route", "throttled"),
  retryAfter: oneOf("seconds", "http-date", "go-time", "none"),
  nameRaceMs: isWhole,
  deletedStatus: oneOf(404, 410),
  operationErrors: oneOf("object", "array"),
  operationTypeCase: oneOf("lower", "upper"),
  deleteOperations: oneOf("kept", "forgotten"),
  operationPollFailures: isCount,
  patchConflicts: isCount,
  operationTimeoutMs: isWhole,
};

const instanceChecks: Checks<InstanceSettings> = {
  name: isText,
  offering: isText,
  plan: isText,
  bindable: isFlag,
  bindingQuota: isWholeOrNull,
  broker: oneOf("synchronous", "asynchronous"),
  brokerLatencyMs: isWhole,
  brokerWorkMs: isWhole,
  brokerFailures: isCount,
  brokerFailsOn: oneOf("bind", "unbind", "both"),
  brokerFailureStatus: (value) => isWhole(value) && Number(value) >= 400 && Number(value) <= 599,
  sameCredentials: isFlag,
  parametersRetrievable: isFlag,
};

export const parseSwitches = (value: unknown): Parsed<Switches> => parseSettings(value, switchChecks);
export const parseInstanceSettings = (value: unknown): Parsed<InstanceSettings> => parseSettings(value, instanceChecks);
