import { type Clock, delay } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

export interface SandboxKeeperOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Writes the state of the moment of the call to where it is kept. */
  readonly save: () => Promise<void>;
}

/**
 * Keeps a sandbox's state: what a client has been told is on the disk, so that a process that is killed forgets nothing
 * anybody knows. Whoever waits at the same time shares one save. Must not: let a disk that is full stop the sandbox.
 */
export class SandboxKeeper {
  readonly #options: SandboxKeeperOptions;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #pauseMs = 0;
  #isStopped = false;

  constructor(options: SandboxKeeperOptions) {
    this.#options = options;
  }

  /** The first save, which tells when it fails. */
  async start(): Promise<void> {
    const first = this.#options.save();
    this.#running = first.catch(() => {});
    await first;
  }

  /** Resolves once the state of this moment, or a later one, is kept, or cannot be. */
  async saved(): Promise<void> {
    if (this.#isStopped) return;
    this.#next ??= this.#saveAfter(this.#running);
    await this.#next;
  }

  /** The last save, which tells when it fails. Requests that were broken off may still ask: two at a time must not be. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await (this.#next ?? this.#running);
    await this.#options.save();
  }

  async #saveAfter(running: Promise<void> | undefined): Promise<void> {
    const { clock, logger, save } = this.#options;
    await running;
    // However large the state has become, saving it takes at most half of the time.
    await delay(clock, this.#pauseMs);
    // What changes from here on is for the next one.
    this.#running = this.#next;
    this.#next = undefined;
    const startedTick = clock.monotonic();
    try {
      await save();
    } catch (error) {
      logger.warn("the state of the sandbox could not be saved", { error });
    }
    this.#pauseMs = clock.monotonic() - startedTick;
  }
}
