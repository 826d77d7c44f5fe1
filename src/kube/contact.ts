import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { KubeError } from "./errors.ts";
import type { ServerOutage } from "./server-outage.ts";

/** Failures without an answer that are nobody's business: connections break. */
const SILENT_FAILURES = 2;

/** A time without contact: how it goes, and which errors have been told of. */
interface Trouble {
  readonly sinceAt: number;
  code: string;
  count: number;
  readonly told: Set<string>;
}

/**
 * Whether the server is there: its last sign of life, and what keeps us from it at present. An outage is one log line for
 * each kind of error, not one for each attempt, and one when it is over. Must not: decide what is done about it.
 */
export class Contact {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #outage: ServerOutage | undefined;
  #lastAt: number | undefined;
  #trouble: Trouble | undefined;

  constructor(clock: Clock, logger: Logger, outage?: ServerOutage) {
    this.#clock = clock;
    this.#logger = logger;
    this.#outage = outage;
  }

  /** Monotonic time of the last sign of life; undefined before the first. */
  get lastAt(): number | undefined {
    return this.#lastAt;
  }

  get silentMs(): number {
    return this.#clock.monotonic() - (this.#lastAt ?? Number.NEGATIVE_INFINITY);
  }

  /** The code of the error that keeps us from the server. */
  get trouble(): string | undefined {
    return this.#trouble?.code;
  }

  /** For how long attempts have failed, one after the other; zero while all is well. */
  get troubleMs(): number {
    return this.#trouble ? this.#clock.monotonic() - this.#trouble.sinceAt : 0;
  }

  made(): void {
    this.#outage?.answered();
    this.#lastAt = this.#clock.monotonic();
    const trouble = this.#trouble;
    this.#trouble = undefined;
    if (trouble && trouble.told.size > 0) this.#logger.info("in contact again", { attempts: trouble.count });
  }

  /** A refusal is worth telling at once: it does not pass by itself. */
  failed(error: unknown, isRefusal: boolean): void {
    if (isRefusal) this.#outage?.answered();
    else this.#outage?.goesOn(error);
    const code = error instanceof KubeError ? error.code : "Unreachable";
    this.#trouble ??= { sinceAt: this.#clock.monotonic(), code, count: 0, told: new Set() };
    this.#trouble.code = code;
    this.#trouble.count++;
    if (this.#trouble.told.has(code) || !(isRefusal || this.#trouble.count > SILENT_FAILURES)) return;
    this.#trouble.told.add(code);
    this.#logger.warn("cannot watch; trying on", { code, error: messageOf(error) });
  }
}
