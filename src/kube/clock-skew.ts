import type { Clock } from "../base/clock.ts";

/** How far this machine's clock may be from the API server's before dates cannot be acted on. */
const TOLERANCE_MS = 60_000;

/**
 * Compares the local clock with the `Date` of the API server's last answer, carried on by the clock that never jumps: a
 * clock that is set wrong is noticed at once, not with the next answer, and one that was set right is trusted again. Must
 * not: correct anything; whoever acts on dates asks first.
 */
export class ClockSkew {
  readonly #clock: Clock;
  #last: { readonly serverAt: number; readonly tick: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Told of every answer: the server's time in it. */
  observe(serverAt: number): void {
    this.#last = { serverAt, tick: this.#clock.monotonic() };
  }

  /** How much the local clock is ahead of the server's. */
  get skewMs(): number {
    if (!this.#last) return 0;
    const { serverAt, tick } = this.#last;
    return this.#clock.now() - (serverAt + this.#clock.monotonic() - tick);
  }

  /** The server has told its time. */
  get isKnown(): boolean {
    return this.#last !== undefined;
  }

  get isSkewed(): boolean {
    return Math.abs(this.skewMs) > TOLERANCE_MS;
  }
}
