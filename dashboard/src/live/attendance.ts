import type { PageClock } from "../base/clock.ts";

/**
 * Whether somebody looks at this page. Browsers open six connections to a server for all of its pages together, and each
 * stream takes one: a page that nobody sees must not keep others waiting. One that is merely passed over keeps its stream.
 * Must not: know what is kept up to date.
 */
export interface AttendanceOptions {
  readonly clock: PageClock;
  onAway(): void;
  onBack(): void;
}

const HIDDEN_MS = 5000;

export class Attendance {
  readonly #options: AttendanceOptions;
  #isAway = false;
  #takeBack: (() => void) | undefined;

  constructor(options: AttendanceOptions) {
    this.#options = options;
  }

  /** True from the moment at which the stream is to be closed. */
  get isAway(): boolean {
    return this.#isAway;
  }

  hidden(): void {
    this.#takeBack ??= this.#options.clock.after(HIDDEN_MS, () => this.gone());
  }

  /** It is left, and may be kept by the browser as it is. */
  gone(): void {
    this.#forgetTimer();
    if (this.#isAway) return;
    this.#isAway = true;
    this.#options.onAway();
  }

  seen(): void {
    this.#forgetTimer();
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#options.onBack();
  }

  #forgetTimer(): void {
    this.#takeBack?.();
    this.#takeBack = undefined;
  }
}
