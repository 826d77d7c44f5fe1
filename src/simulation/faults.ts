import type { KeyturnError } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";
import { Conflict, type KubeError, TooManyRequests, Unavailable, Unreachable } from "../kube/errors.ts";
import type { HttpResponse } from "../providers/http-port.ts";
import { RndcProtocolViolation, RndcTimeout, RndcUnreachable } from "../rndc/errors.ts";
import type { Words } from "./families/family.ts";

/** What can happen to one call of a process. */
export type Fault =
  | "none"
  /** The process ends before the call leaves it. */
  | "crashBefore"
  /** The call has its effect, and the process ends before it hears of it. */
  | "crashAfter"
  /** The call has its effect, and the connection breaks before the answer comes. */
  | "lost"
  /** Nobody hears of it any more, and it has its effect later, when everybody has left. */
  | "late"
  /** No answer, no effect. */
  | "timeout"
  | "conflict"
  | "throttled"
  | "unavailable"
  /** It has its effect, and the answer cannot be read. */
  | "malformed"
  /** It has its effect, and the answer is empty. */
  | "empty"
  /** A router answers in place of the service. */
  | "unknownRoute"
  /** It has its effect, and the answer comes without credentials. */
  | "withheld";

export const KUBE_FAULTS: readonly Fault[] = [
  "crashBefore",
  "crashAfter",
  "lost",
  "timeout",
  "conflict",
  "throttled",
  "unavailable",
  "malformed",
];

export const HTTP_FAULTS: readonly Fault[] = [
  "crashBefore",
  "crashAfter",
  "lost",
  "late",
  "timeout",
  "conflict",
  "throttled",
  "unavailable",
  "malformed",
  "empty",
  "unknownRoute",
  "withheld",
];

/** What can happen to a command to named. */
export const RNDC_FAULTS: readonly Fault[] = [
  "crashBefore",
  "crashAfter",
  "lost",
  "timeout",
  "unavailable",
  "malformed",
];

/** What can happen to a process that only waits. */
export const WAIT_FAULTS: readonly Fault[] = ["crashBefore", "crashAfter"];

const EFFECTIVE: ReadonlySet<Fault> = new Set<Fault>(["none", "crashAfter", "lost", "malformed", "empty", "withheld"]);

/** Whether the call reaches the other side now. */
export const hasEffect = (fault: Fault): boolean => EFFECTIVE.has(fault);

/** What a Kubernetes client throws; undefined where it gets its answer. */
export function kubeErrorOf(fault: Fault): KubeError | undefined {
  switch (fault) {
    case "none":
    case "withheld":
    case "crashAfter":
    case "crashBefore":
      return undefined;
    case "conflict":
      return new Conflict("the object has been modified");
    case "throttled":
      return new TooManyRequests("too many requests", { retryAfterMs: 3000 });
    case "unavailable":
    case "malformed":
    case "empty":
    case "unknownRoute":
      return new Unavailable("the server cannot serve");
    case "lost":
    case "late":
    case "timeout":
      return new Unreachable("the connection was lost");
  }
}

/** What a client of named throws; undefined where it gets its answer. */
export function rndcErrorOf(fault: Fault): KeyturnError | undefined {
  switch (fault) {
    case "lost":
      return new RndcUnreachable("the connection was lost", { mayHaveRun: true });
    case "timeout":
      return new RndcTimeout("no answer came");
    case "unavailable":
      return new RndcUnreachable("nobody listens");
    case "malformed":
      return new RndcProtocolViolation("what came is no message", { mayHaveRun: true });
    default:
      return undefined;
  }
}

const answer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse => ({
  status,
  headers,
  body: new Redacted(body),
});

/** What an HTTP client gets in place of the answer; undefined where it gets none at all. */
export function httpAnswerOf(fault: Fault, real: HttpResponse | undefined, words: Words): HttpResponse | undefined {
  switch (fault) {
    case "conflict":
      return answer(409, words.problem("Conflict"));
    case "throttled":
      return answer(429, words.problem("TooManyRequests"), { "retry-after": "7" });
    case "unavailable":
      return answer(503, words.problem("ServiceUnavailable"));
    case "malformed":
      return answer(real?.status ?? 200, '{"id":', real?.headers);
    case "empty":
      return answer(real?.status ?? 200, "");
    case "withheld":
      return real && { ...real, body: new Redacted(words.withheld(real.body.reveal())) };
    case "unknownRoute":
      return answer(404, "404 Not Found: Requested route does not exist.\n", { "x-cf-routererror": "unknown_route" });
    default:
      return real;
  }
}
