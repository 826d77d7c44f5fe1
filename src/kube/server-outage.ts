import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";

/** As long as a cache may be out of contact before it counts as stale. */
const CRITICAL_MS = 300_000;

/**
 * Whether the API server is there at all, for all watches together: an outage that lasts is one error in the log, and its
 * end one line, however many watches suffer from it. A refusal is an answer. Must not: decide what is done about it.
 */
export class ServerOutage {
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Monotonic: the first failure that no watch has had an answer since. */
  #beganAt: number | undefined;
  #isTold = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The server has answered, whatever it said. */
  answered(): void {
    if (this.#isTold) this.#logger.info("the API server answers again", { outageMs: this.#lengthMs });
    this.#beganAt = undefined;
    this.#isTold = false;
  }

  goesOn(error: unknown): void {
    this.#beganAt ??= this.#clock.monotonic();
    if (this.#isTold || this.#lengthMs < CRITICAL_MS) return;
    this.#isTold = true;
    this.#logger.error("the API server is unavailable; nothing is rotated or restarted before it answers", {
      outageMs: this.#lengthMs,
      error: messageOf(error),
    });
  }

  get #lengthMs(): number {
    const nowAt = this.#clock.monotonic();
    return Math.round(nowAt - (this.#beganAt ?? nowAt));
  }
}
