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
 * What can be made to go wrong with a whole foundation, and how foundations differ. The defaults are a well-behaved, fast
 * Cloud Controller with a UAA. All changes take effect with the next request.
 */
export interface Switches extends CommonSwitches {
  /** What every request meets before it has any effect. */
  readonly outage: "none" | "unavailable" | "server-error" | "bad-gateway" | "unknown-route" | "throttled";
  /** The form of `Retry-After` on a 429; `X-RateLimit-Reset` is there in any case. */
  readonly retryAfter: "seconds" | "epoch" | "none";
  /** Which limit it is that a throttled client has reached. */
  readonly throttledCode: 10013 | 20008;
  /** So many requests of one login in a window; further ones are a 429. */
  readonly rateLimit: number | null;
  readonly rateLimitWindowMs: number;
  readonly refreshTokenLifetimeMs: number;
  /** Pages hold no more than so many, whatever is asked for. */
  readonly largestPage: number;
  /** What is said of a binding that is not there. */
  readonly missingCode: 10010 | 90004;
  /** How long a job waits for a worker. */
  readonly jobQueueMs: number;
  /** How long a finished job can be read. */
  readonly jobMemoryMs: number;
  /** So many looks at a job are a 500. */
  readonly jobLookFailures: Count;
  /** Korifi refuses `metadata` in a create, and takes it in a PATCH. */
  readonly metadataInCreate: "accepted" | "refused";
  /** Korifi has no UAA: tokens come from elsewhere. */
  readonly uaa: "present" | "absent";
}

export const defaultSwitches: Switches = {
  ...commonDefaults,
  outage: "none",
  retryAfter: "seconds",
  throttledCode: 10013,
  rateLimit: null,
  rateLimitWindowMs: 3_600_000,
  tokenLifetimeMs: 600_000,
  refreshTokenLifetimeMs: 30 * 24 * 3_600_000,
  largestPage: 5000,
  missingCode: 10010,
  jobQueueMs: 0,
  jobMemoryMs: 3_600_000,
  jobLookFailures: 0,
  metadataInCreate: "accepted",
  uaa: "present",
};

/** A service instance, its plan and its broker. */
export interface InstanceSettings {
  readonly name: string;
  /** Its space; the first one when left out. */
  readonly space: string;
  readonly type: "managed" | "user-provided";
  readonly offering: string;
  readonly plan: string;
  readonly bindable: boolean;
  /** An operation on the instance itself is under way. */
  readonly isBusy: boolean;
  /** An asynchronous broker answers 202 after `brokerLatencyMs` and is done `brokerWorkMs` later. */
  readonly broker: "synchronous" | "asynchronous";
  readonly brokerLatencyMs: number;
  readonly brokerWorkMs: number;
  /** So many requests fail: in the job, as all that brokers do. */
  readonly brokerFailures: Count;
  readonly brokerFailsOn: "bind" | "unbind" | "both";
  /** Every binding gets the credentials of the first. */
  readonly sameCredentials: boolean;
  /** Nested: objects and lists among the credentials. */
  readonly credentials: "flat" | "nested";
  readonly parametersRetrievable: boolean;
}

export const defaultInstance: Omit<InstanceSettings, "space"> = {
  name: "instance",
  type: "managed",
  offering: "database",
  plan: "standard",
  bindable: true,
  isBusy: false,
  broker: "synchronous",
  brokerLatencyMs: 0,
  brokerWorkMs: 0,
  brokerFailures: 0,
  brokerFailsOn: "both",
  sameCredentials: false,
  credentials: "flat",
  parametersRetrievable: true,
};

/** An organization; a space has one more setting. */
export interface OrganizationSettings {
  readonly name: string;
  /** The most service keys in it. */
  readonly keyQuota: number | null;
}

export interface SpaceSettings extends OrganizationSettings {
  /** The first one when left out. */
  readonly organization: string;
}

export interface AppSettings {
  readonly name: string;
  /** The first one when left out. */
  readonly space: string;
}

const switchChecks: Checks<Switches> = {
  ...commonChecks,
  outage: oneOf("none", "unavailable", "server-error", "bad-gateway", "unknown-route", "throttled"),
  retryAfter: oneOf("seconds", "epoch", "none"),
  throttledCode: oneOf(10013, 20008),
  rateLimit: isWholeOrNull,
  rateLimitWindowMs: isWhole,
  refreshTokenLifetimeMs: isWhole,
  largestPage: (value) => isWhole(value) && Number(value) >= 1 && Number(value) <= 5000,
  missingCode: oneOf(10010, 90004),
  jobQueueMs: isWhole,
  jobMemoryMs: isWhole,
  jobLookFailures: isCount,
  metadataInCreate: oneOf("accepted", "refused"),
  uaa: oneOf("present", "absent"),
};

const instanceChecks: Checks<InstanceSettings> = {
  name: isText,
  space: isText,
  type: oneOf("managed", "user-provided"),
  offering: isText,
  plan: isText,
  bindable: isFlag,
  isBusy: isFlag,
  broker: oneOf("synchronous", "asynchronous"),
  brokerLatencyMs: isWhole,
  brokerWorkMs: isWhole,
  brokerFailures: isCount,
  brokerFailsOn: oneOf("bind", "unbind", "both"),
  sameCredentials: isFlag,
  credentials: oneOf("flat", "nested"),
  parametersRetrievable: isFlag,
};

const organizationChecks: Checks<OrganizationSettings> = { name: isText, keyQuota: isWholeOrNull };

export const parseSwitches = (value: unknown): Parsed<Switches> => parseSettings(value, switchChecks);
export const parseInstance = (value: unknown): Parsed<InstanceSettings> => parseSettings(value, instanceChecks);
export const parseOrganization = (value: unknown): Parsed<OrganizationSettings> =>
  parseSettings(value, organizationChecks);
export const parseSpace = (value: unknown): Parsed<SpaceSettings> =>
  parseSettings<SpaceSettings>(value, { ...organizationChecks, organization: isText });
export const parseApp = (value: unknown): Parsed<AppSettings> =>
  parseSettings<AppSettings>(value, { name: isText, space: isText });
