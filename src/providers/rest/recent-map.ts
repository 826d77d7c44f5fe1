import type { Clock } from "../../base/clock.ts";

const MAX_ENTRIES = 20_000;

/**
 * What a connection remembers for a while, under an id, bounded in number. Only for what may be lost without harm: after a
 * restart nothing of it is there.
 */
export class RecentMap<V> {
  readonly #clock: Clock;
  readonly #trustMs: number;
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();

  constructor(clock: Clock, trustMs: number) {
    this.#clock = clock;
    this.#trustMs = trustMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  set(id: string, value: V): void {
    this.#entries.delete(id);
    this.#entries.set(id, { value, until: this.#clock.monotonic() + this.#trustMs });
    this.#dropOldest();
  }

  get(id: string): V | undefined {
    const entry = this.#entries.get(id);
    if (entry && entry.until > this.#clock.monotonic()) return entry.value;
    this.#entries.delete(id);
    return undefined;
  }

  ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  /** Entries stand in the order of their ends, so whatever is over or too many is at the front. */
  #dropOldest(): void {
    for (const [id, { until }] of this.#entries) {
      if (this.#entries.size <= MAX_ENTRIES && until > this.#clock.monotonic()) return;
      this.#entries.delete(id);
    }
  }
}
