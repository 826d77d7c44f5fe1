import { meetOutage } from "../controls/common-switches.ts";
import { jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import { errorAnswer } from "./exchange.ts";
import type { SandboxWorld } from "./world.ts";

/** The answer every request gets while the outage that was switched on lasts, or undefined. Without any other effect. */
export function outageAnswer(world: SandboxWorld, isTokenRequest: boolean): SandboxResponse | undefined {
  const outage = meetOutage(world, isTokenRequest);
  if (outage === "none") return undefined;
  if (outage === "unavailable") {
    return errorAnswer({
      status: 503,
      error: "ServiceUnavailable",
      description: "Failed to schedule job. Server is busy - try again in a few minutes.",
    });
  }
  return outage === "throttled" ? throttled(world) : unknownRoute();
}

/** What the platform's router says when no instance of the application is up: not JSON, and not of the service. */
const unknownRoute = (): SandboxResponse => ({
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-cf-routererror": "unknown_route" },
  body: "404 Not Found: Requested route ('service-manager.sandbox.internal') does not exist.\n",
});

function throttled(world: SandboxWorld): SandboxResponse {
  const { retryAfter, retryAfterMs } = world.switches;
  const description = "The allowed request limit has been reached, please try again later";
  if (retryAfter === "none") return jsonAnswer(429, { error: "BadRequest", description });
  const until = new Date(world.now() + retryAfterMs);
  const forms = {
    seconds: String(Math.ceil(retryAfterMs / 1000)),
    "http-date": until.toUTCString(),
    "go-time": `${until.toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`,
  };
  return jsonAnswer(429, { error: "TooManyRequests", description }, { "retry-after": forms[retryAfter] });
}
