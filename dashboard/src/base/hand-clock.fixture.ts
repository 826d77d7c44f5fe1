import type { PageClock } from "./clock.ts";

/** A clock that is moved by hand. */
export class HandClock implements PageClock {
  #now = 0;
  #calls: { at: number; call: () => void }[] = [];
  now(): number {
    return this.#now;
  }
  after(delayMs: number, call: () => void): () => void {
    const entry = { at: this.#now + delayMs, call };
    this.#calls.push(entry);
    return () => {
      this.#calls = this.#calls.filter((other) => other !== entry);
    };
  }
  async move(ms: number): Promise<void> {
    this.#now += ms;
    for (const entry of this.#calls.filter(({ at }) => at <= this.#now)) {
      this.#calls = this.#calls.filter((other) => other !== entry);
      entry.call();
    }
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  }
}
