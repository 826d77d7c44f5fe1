import { type Checks, type Count, isCount, isWhole, oneOf, spend, strikes } from "./settings.ts";

/** What can be made to go wrong with any sandbox, whatever it stands in for. */
export interface CommonSwitches {
  /** Every answer takes so much longer on its way. What was asked for has happened by then. */
  readonly latencyMs: number;
  /** How many requests meet the outage; then it switches itself off. */
  readonly outageRequests: Count;
  readonly outageScope: "all" | "api" | "token";
  /** What a 429 asks for while throttled. */
  readonly retryAfterMs: number;
  readonly tokenLifetimeMs: number;
  /** A new binding works and can be read by id, but is missing from lists for so long. */
  readonly createdHiddenMs: number;
  /** A deleted binding is gone, but is in lists for so long. */
  readonly deletedListedMs: number;
  /** Requests that have their whole effect, and whose answer gets lost. */
  readonly lostAnswers: Count;
  readonly lostAnswersTo: "any" | "GET" | "POST" | "PATCH" | "DELETE";
}

export const commonDefaults: Omit<CommonSwitches, "tokenLifetimeMs"> = {
  latencyMs: 0,
  outageRequests: "always",
  outageScope: "all",
  retryAfterMs: 10_000,
  createdHiddenMs: 0,
  deletedListedMs: 0,
  lostAnswers: 0,
  lostAnswersTo: "any",
};

export const commonChecks: Checks<CommonSwitches> = {
  latencyMs: isWhole,
  outageRequests: isCount,
  outageScope: oneOf("all", "api", "token"),
  retryAfterMs: isWhole,
  tokenLifetimeMs: isWhole,
  createdHiddenMs: isWhole,
  deletedListedMs: isWhole,
  lostAnswers: isCount,
  lostAnswersTo: oneOf("any", "GET", "POST", "PATCH", "DELETE"),
};

/** A world, as far as its switches are concerned: some of them count down. */
interface Switched<S> {
  switches: S;
}

/** Whether an answer to this method gets lost; there is one less to lose then. */
export function losesAnswer<S extends CommonSwitches>(world: Switched<S>, method: string): boolean {
  const { lostAnswers, lostAnswersTo } = world.switches;
  if (!strikes(lostAnswers) || (lostAnswersTo !== "any" && lostAnswersTo !== method)) return false;
  world.switches = { ...world.switches, lostAnswers: spend(lostAnswers) };
  return true;
}

/** The outage that a request meets, `none` as a rule. The last request that meets it switches it off. */
export function meetOutage<S extends CommonSwitches & { readonly outage: string }>(
  world: Switched<S>,
  isTokenRequest: boolean,
): S["outage"] | "none" {
  const { outage, outageScope, outageRequests } = world.switches;
  const isMeant = outageScope === "all" || outageScope === (isTokenRequest ? "token" : "api");
  if (outage === "none" || !isMeant || !strikes(outageRequests)) return "none";
  const left = spend(outageRequests);
  const isOver = left === 0;
  world.switches = {
    ...world.switches,
    ...(isOver ? { outage: "none", outageRequests: "always" } : { outageRequests: left }),
  };
  return outage;
}
