import { type Clock, delay } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";

export interface HandoverOptions {
  readonly clock: Clock;
  /** Tells of each request to stop. */
  readonly onStop: (callback: () => void) => void;
}

/** Longer than it takes another replica to become the leader. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;

/**
 * The patience for an operator that is to take its marks off a Secret, since a policy lets nobody else write what bears
 * them. It begins with the first pause. Must not: look at anything.
 */
export class Handover {
  readonly #options: HandoverOptions;
  readonly #stopped = new AbortController();
  #startedAt: number | undefined;

  constructor(options: HandoverOptions) {
    this.#options = options;
  }

  /** Why there is none left; undefined: it is worth another look. */
  async pause(): Promise<string | undefined> {
    const { clock, onStop } = this.#options;
    if (this.#startedAt === undefined) onStop(() => this.#stopped.abort());
    this.#startedAt ??= clock.monotonic();
    if (clock.monotonic() - this.#startedAt >= PATIENCE_MS) {
      return `no operator has taken that away within ${formatDuration(PATIENCE_MS)}: is one running?`;
    }
    await delay(clock, PAUSE_MS, this.#stopped.signal);
    return this.isStopped ? "interrupted before the operator had taken that away" : undefined;
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }
}
