import type { Clock } from "../../base/clock.ts";
import type { HttpPort } from "../http-port.ts";
import { understand } from "../rest/rest-client.ts";
import { errorOf, pauseFor, pauseOf } from "./answer.ts";

const DEFAULT_PAUSE_MS = 10_000;
const MIN_PAUSE_MS = 1_000;
/** Too many operations of this user at the brokers at the same time: no reason for others to wait. */
const BROKER_CONCURRENCY = 10016;

/**
 * A foundation's rate limit counts all requests of a user, so the pause that one request is told to make is kept by all: what
 * comes meanwhile fails at once, without a request that would only prolong it. May be shared by connections to one foundation.
 */
export class RateGate {
  readonly #clock: Clock;
  #closedUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  guard(http: HttpPort): HttpPort {
    return {
      send: async (request, signal) => {
        const pauseMs = this.#closedUntil - this.#clock.monotonic();
        if (pauseMs > 0) throw pauseFor(Math.max(MIN_PAUSE_MS, Math.ceil(pauseMs)));
        const response = await http.send(request, signal);
        if (response.status === 429 && errorOf(understand(response))?.code !== BROKER_CONCURRENCY) {
          this.#close(pauseOf(response.headers, this.#clock.now()) ?? DEFAULT_PAUSE_MS);
        }
        return response;
      },
    };
  }

  #close(pauseMs: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#clock.monotonic() + pauseMs);
  }
}
