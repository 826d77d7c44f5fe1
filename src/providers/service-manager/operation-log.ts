import type { Clock } from "../../base/clock.ts";
import type { OutsideKey } from "../contract.ts";

export type TrackedOperation =
  | { readonly kind: "create"; readonly operationId: string; readonly key: Omit<OutsideKey, "state"> }
  | { readonly kind: "delete"; readonly operationId: string };

const MAX_ENTRIES = 20_000;

/**
 * Operations that this process was told of and that may still be under way. While the Service Manager waits for a
 * broker, the binding itself can be a 404; only the operation tells then, and it can be asked for only by an id that
 * the accepting answer alone contains. Losing an entry is safe: the answer is then what the binding says, as it is for
 * everything that was begun before a restart.
 */
export class OperationLog {
  readonly #clock: Clock;
  readonly #trustMs: number;
  readonly #entries = new Map<string, { readonly operation: TrackedOperation; readonly until: number }>();

  constructor(clock: Clock, trustMs: number) {
    this.#clock = clock;
    this.#trustMs = trustMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  track(bindingId: string, operation: TrackedOperation): void {
    this.#entries.delete(bindingId);
    this.#entries.set(bindingId, { operation, until: this.#clock.monotonic() + this.#trustMs });
    this.#dropOldest();
  }

  get(bindingId: string): TrackedOperation | undefined {
    const entry = this.#entries.get(bindingId);
    if (entry && entry.until > this.#clock.monotonic()) return entry.operation;
    this.#entries.delete(bindingId);
    return undefined;
  }

  forget(bindingId: string): void {
    this.#entries.delete(bindingId);
  }

  /** Entries stand in the order of their ends, so whatever is over or too many is at the front. */
  #dropOldest(): void {
    for (const [id, { until }] of this.#entries) {
      if (this.#entries.size <= MAX_ENTRIES && until > this.#clock.monotonic()) return;
      this.#entries.delete(id);
    }
  }
}
