import type { Clock } from "../base/clock.ts";
import { Unavailable, Unreachable } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import { CannotServe } from "./refusals.ts";

export interface ClusterPulseOptions {
  readonly kube: Pick<Kube, "fetch">;
  readonly clock: Clock;
}

/** One question for all pages together, so often at most. */
const EVERY_MS = 9000;
const ANSWER_MS = 5000;
/** What somebody waits for on a cluster that has gone silent is given up after so long. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 5000;

/**
 * Whether the API server answers. A watch may be silent for minutes and be sound, so that nothing but a question tells: the
 * cheapest there is, and only while somebody looks. A refusal is an answer. Must not: decide anything but what is said.
 */
export class ClusterPulse {
  readonly #options: ClusterPulseOptions;
  #beat: { readonly tick: number; readonly over: Promise<void> } | undefined;
  #answeredAt: number | undefined;
  #silentSince: number | undefined;

  constructor(options: ClusterPulseOptions) {
    this.#options = options;
  }

  /** When it was last heard of; undefined while it answers. */
  get silentSince(): number | undefined {
    return this.#silentSince;
  }

  /** Resolves when an answer has come, or has not. */
  beat(): Promise<void> {
    const tick = this.#options.clock.monotonic();
    if (!this.#beat || tick - this.#beat.tick >= EVERY_MS) this.#beat = { tick, over: this.#ask() };
    return this.#beat.over;
  }

  /** What comes of it; or, once the cluster has been silent for too long, a line that says so. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    let isOver = false;
    const look = async (): Promise<void> => {
      await this.beat();
      if (this.#silentSince !== undefined)
        reject(new CannotServe("the cluster does not answer: try again once it does"));
      else if (!isOver) timer = clock.setTimer(() => void look(), LOOK_MS);
    };
    let timer = clock.setTimer(() => void look(), PATIENCE_MS - ANSWER_MS);
    try {
      return await Promise.race([work(), givenUp]);
    } finally {
      isOver = true;
      timer.cancel();
      givenUp.catch(() => {});
    }
  }

  async #ask(): Promise<void> {
    const { kube, clock } = this.#options;
    const askedAt = clock.now();
    try {
      await kube.fetch("/version", { timeoutMs: ANSWER_MS });
    } catch (error) {
      if (error instanceof Unreachable || error instanceof Unavailable) {
        this.#silentSince ??= this.#answeredAt ?? askedAt;
        return;
      }
    }
    this.#answeredAt = clock.now();
    this.#silentSince = undefined;
  }
}
