import { meetOutage } from "../controls/common-switches.ts";
import type { SandboxResponse } from "../http/exchange.ts";
import { errorAnswer, errorList, problem } from "./problems.ts";
import type { LoginRecord } from "./records.ts";
import { type CloudFoundryWorld, loginKey } from "./world.ts";

/** The answer every request gets while the outage that was switched on lasts, or undefined. Without any other effect. */
export function outageAnswer(world: CloudFoundryWorld, isTokenRequest: boolean): SandboxResponse | undefined {
  switch (meetOutage(world, isTokenRequest)) {
    case "none":
      return undefined;
    case "unavailable":
      return errorAnswer(problem("ServiceUnavailable", "The service is temporarily unavailable."));
    case "server-error":
      return errorAnswer(problem("UnknownError", "An unknown error occurred."));
    case "throttled":
      return tooMany(world, world.switches.retryAfterMs);
    case "bad-gateway":
      return routerAnswer(
        502,
        "endpoint_failure",
        "502 Bad Gateway: Registered endpoint failed to handle the request.",
      );
    case "unknown-route":
      return routerAnswer(
        404,
        "unknown_route",
        "404 Not Found: Requested route ('api.sandbox.internal') does not exist.",
      );
  }
}

/** What the platform's own router says: not JSON, and not of the Cloud Controller. */
const routerAnswer = (status: number, error: string, text: string): SandboxResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "x-cf-routererror": error },
  body: `${text}\n`,
});

/** Counts a request of a login; the headers that tell how many are left, or the 429 when there are none. */
export function countRequest(
  world: CloudFoundryWorld,
  caller: LoginRecord,
): { readonly headers: Readonly<Record<string, string>> } | { readonly answer: SandboxResponse } {
  const { rateLimit, rateLimitWindowMs } = world.switches;
  if (rateLimit === null) return { headers: {} };
  const now = world.tick();
  const key = loginKey(caller);
  const before = world.rates.get(key);
  const window = before && before.untilTick > now ? before : { count: 0, untilTick: now + rateLimitWindowMs };
  const leftMs = window.untilTick - now;
  if (window.count >= rateLimit) return { answer: tooMany(world, leftMs) };
  world.rates.set(key, { ...window, count: window.count + 1 });
  return { headers: limitHeaders(world, { limit: rateLimit, remaining: rateLimit - window.count - 1, leftMs }) };
}

function limitHeaders(
  world: CloudFoundryWorld,
  { limit, remaining, leftMs }: { readonly limit: number; readonly remaining: number; readonly leftMs: number },
): Readonly<Record<string, string>> {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(Math.ceil((world.now() + leftMs) / 1000)),
  };
}

/** The body is JSON, although its type says otherwise. */
function tooMany(world: CloudFoundryWorld, leftMs: number): SandboxResponse {
  const { retryAfter, throttledCode, rateLimit } = world.switches;
  const limits = limitHeaders(world, { limit: rateLimit ?? 0, remaining: 0, leftMs });
  const forms = {
    seconds: { "retry-after": String(Math.ceil(leftMs / 1000)) },
    epoch: { "retry-after": limits["x-ratelimit-reset"] ?? "" },
    none: {},
  };
  const given =
    throttledCode === 10013
      ? problem("RateLimitExceeded", "Rate Limit Exceeded")
      : problem("UaaRateLimited", "The UAA is currently rate limited. Please try again later");
  return {
    status: 429,
    headers: { "content-type": "text/plain; charset=utf-8", ...limits, ...forms[retryAfter] },
    body: JSON.stringify({ errors: errorList(given) }),
  };
}
