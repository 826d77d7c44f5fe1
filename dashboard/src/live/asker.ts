import type { PageClock } from "../base/clock.ts";

/**
 * Asks for something again whenever it may have changed: at once, but one question at a time and with a pause after each
 * answer, so that changes that come in groups are asked about twice at most, and changes without end still bring answers.
 * Must not: know what is asked for.
 */
export interface AskerOptions<T> {
  readonly clock: PageClock;
  readonly pauseMs: number;
  ask(): Promise<T>;
  onAnswer(answer: T): void;
  onFailure(error: unknown): void;
}

export class Asker<T> {
  readonly #options: AskerOptions<T>;
  #isBusy = false;
  #isWanted = false;
  #isStopped = false;

  constructor(options: AskerOptions<T>) {
    this.#options = options;
  }

  /** What is known may be old by now. */
  want(): void {
    this.#isWanted = true;
    if (!this.#isBusy && !this.#isStopped) void this.#ask();
  }

  /** Nobody wants an answer any more, also not the one that is on its way. */
  stop(): void {
    this.#isStopped = true;
  }

  async #ask(): Promise<void> {
    const { clock, pauseMs, ask, onAnswer, onFailure } = this.#options;
    this.#isBusy = true;
    this.#isWanted = false;
    try {
      const answer = await ask();
      if (!this.#isStopped) onAnswer(answer);
    } catch (error) {
      if (!this.#isStopped) onFailure(error);
    }
    clock.after(pauseMs, () => {
      this.#isBusy = false;
      if (this.#isWanted) this.want();
    });
  }
}
