import { type Clock, delay, type Timer } from "../base/clock.ts";
import { backoff, KeyturnError, messageOf, type RetryRule } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { HealthSource, HealthState } from "./health.ts";
import type { WorkQueue, WorkResult } from "./queue.ts";

/**
 * The workers: take keys from the queue, reconcile them, and turn what came of it into a due time or a retry. Nothing a
 * reconcile does (throwing anything at all, returning nonsense, never returning) ends a worker or lets a second one work
 * on the same key. Must not: know what a reconcile does.
 */
export type Outcome =
  /** Nothing to do until something changes; `isOver` where the object is gone, or was let go of. */
  | { readonly kind: "settled"; readonly isOver?: true }
  /** Nothing to do before this instant (wall clock), unless something changes. */
  | { readonly kind: "recheck"; readonly at: number };

export type Reconcile = (key: string, signal: AbortSignal) => Promise<Outcome>;

/** What the workers tell about themselves. Must be quick and must not throw. */
export interface WorkerObserver {
  /** `code` of the error for a failure, "Conflict" included. */
  reconciled?(result: "settled" | "recheck" | "failed", code: string | undefined, workMs: number): void;
  busyChanged?(busy: number): void;
  /** How many reconciles have not returned for longer than they should. */
  stuckChanged?(stuck: number): void;
}

export interface WorkersOptions {
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  readonly dueTimes: { set(key: string, dueAt: number): void; clear(key: string): void };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: WorkerObserver;
  readonly count?: number;
  /** Asked before each reconcile (leadership, say); while it says no, keys are put back and not worked on. */
  readonly mayWork?: () => boolean;
  /** A reconcile that has not returned after this long is reported, and again each time this much more has passed. */
  readonly stuckAfterMs?: number;
  /** Liveness fails when one reconcile has not returned for this long: its key would never be looked at again. */
  readonly hopelessAfterMs?: number;
}

interface Running {
  readonly startedAt: number;
  watchdog: Timer;
  isStuck: boolean;
}

/** The event loop gets a turn after this much uninterrupted work, so that many quick keys do not shut out I/O. */
const MAX_STRETCH_MS = 20;
/** How long workers and keys rest when work is not allowed at present. */
const PUT_BACK_MS = 500;
/** How many keys' last errors are remembered, to log each only when it changes. */
const MAX_REMEMBERED_ERRORS = 10_000;

export class Workers implements HealthSource {
  readonly name = "workers";
  readonly #options: WorkersOptions;
  readonly #count: number;
  readonly #stuckAfterMs: number;
  readonly #hopelessAfterMs: number;
  readonly #abort = new AbortController();
  readonly #running = new Map<string, Running>();
  readonly #lastErrors = new Map<string, string>();
  #loops: readonly Promise<void>[] = [];
  #stuck = 0;
  #yieldedAt = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#count = options.count ?? 32;
    this.#stuckAfterMs = options.stuckAfterMs ?? 5 * 60_000;
    this.#hopelessAfterMs = options.hopelessAfterMs ?? 30 * 60_000;
  }

  start(): void {
    if (this.#loops.length > 0) return;
    this.#yieldedAt = this.#options.clock.monotonic();
    this.#loops = Array.from({ length: this.#count }, () => this.#loop());
  }

  /**
   * Closes the queue, tells running reconciles to stop, and resolves when all have returned. One that never returns
   * keeps this pending: the caller bounds it, as `shutdown.ts` does.
   */
  async stop(): Promise<void> {
    this.#abort.abort(new Error("the operator is shutting down"));
    await this.#options.queue.close();
    await Promise.all(this.#loops);
  }

  /** Keys being worked on, longest first. */
  runningKeys(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** For liveness: a restart is called for when no worker is left, or one key is held for ever. */
  state(): HealthState {
    const [oldestKey, oldest] = this.#running.entries().next().value ?? [];
    if (this.#stuck > 0 && this.#stuck >= this.#count) {
      return { ready: false, reason: `all ${this.#count} workers are stuck` };
    }
    const ranMs = oldest ? this.#options.clock.monotonic() - oldest.startedAt : 0;
    if (ranMs >= this.#hopelessAfterMs) {
      return { ready: false, reason: `reconcile of ${oldestKey} has not returned for ${Math.round(ranMs / 1000)} s` };
    }
    return { ready: true, reason: `${this.#running.size} of ${this.#count} busy, ${this.#stuck} stuck` };
  }

  async #loop(): Promise<void> {
    for (;;) {
      await this.#untilAllowed();
      const work = await this.#options.queue.take(this.#abort.signal);
      if (!work) return;
      const result = await this.#work(work.key);
      this.#options.queue.done(work.key, result);
      await this.#giveWay();
    }
  }

  /** Keys stay in the queue meanwhile; only one that a worker was already waiting for is put back. */
  async #untilAllowed(): Promise<void> {
    const { clock, mayWork } = this.#options;
    const { signal } = this.#abort;
    while (mayWork && !signal.aborted && !mayWork()) await delay(clock, PUT_BACK_MS, signal);
  }

  async #work(key: string): Promise<WorkResult> {
    const { clock, observer, mayWork } = this.#options;
    if (mayWork && !mayWork()) return { kind: "postponed", delayMs: PUT_BACK_MS };
    const running = this.#watch(key);
    try {
      const outcome = await this.#options.reconcile(key, this.#abort.signal);
      this.#keep(key, outcome);
      this.#recovered(key, outcome);
      observer?.reconciled?.(outcome.kind, undefined, clock.monotonic() - running.startedAt);
      return { kind: "succeeded" };
    } catch (error) {
      observer?.reconciled?.("failed", codeOf(error), clock.monotonic() - running.startedAt);
      return { kind: "failed", retry: this.#failed(key, error) };
    } finally {
      this.#unwatch(key, running);
    }
  }

  #keep(key: string, outcome: Outcome): void {
    if (outcome?.kind === "settled") this.#options.dueTimes.clear(key);
    else if (outcome?.kind === "recheck") this.#options.dueTimes.set(key, outcome.at);
    else throw new TypeError(`reconcile of ${key} returned no outcome`);
  }

  /** A conflict is nobody's business, and neither is what a shut-down interrupts; the rest is logged when it changes. */
  #failed(key: string, error: unknown): RetryRule {
    const retry = error instanceof KeyturnError ? error.retry : backoff;
    const code = codeOf(error);
    if (code === "Conflict" || this.#abort.signal.aborted) return retry;
    const signature = `${code}: ${messageOf(error)}`;
    if (this.#lastErrors.get(key) === signature) return retry;
    this.#remember(key, signature);
    const fields = { key, code, retry: retry.kind, error };
    if (error instanceof KeyturnError) this.#options.logger.warn("reconcile failed", fields);
    else this.#options.logger.error("reconcile failed unexpectedly", fields);
    return retry;
  }

  #remember(key: string, signature: string): void {
    this.#lastErrors.delete(key);
    this.#lastErrors.set(key, signature);
    if (this.#lastErrors.size <= MAX_REMEMBERED_ERRORS) return;
    const oldest = this.#lastErrors.keys().next();
    if (!oldest.done) this.#lastErrors.delete(oldest.value);
  }

  #recovered(key: string, outcome: Outcome): void {
    const isOver = outcome.kind === "settled" && outcome.isOver === true;
    if (this.#lastErrors.delete(key) && !isOver) this.#options.logger.info("reconcile works again", { key });
  }

  #watch(key: string): Running {
    const { clock } = this.#options;
    const running: Running = {
      startedAt: clock.monotonic(),
      watchdog: clock.setTimer(() => this.#reportStuck(key, running), this.#stuckAfterMs),
      isStuck: false,
    };
    this.#running.set(key, running);
    this.#options.observer?.busyChanged?.(this.#running.size);
    return running;
  }

  #reportStuck(key: string, running: Running): void {
    const { clock, logger } = this.#options;
    if (!running.isStuck) {
      running.isStuck = true;
      this.#stuck++;
      this.#options.observer?.stuckChanged?.(this.#stuck);
    }
    const ranMs = Math.round(clock.monotonic() - running.startedAt);
    logger.error("a reconcile has not returned; its key is held until it does", { key, ranMs });
    running.watchdog = clock.setTimer(() => this.#reportStuck(key, running), this.#stuckAfterMs);
  }

  #unwatch(key: string, running: Running): void {
    running.watchdog.cancel();
    this.#running.delete(key);
    if (running.isStuck) {
      this.#stuck--;
      this.#options.observer?.stuckChanged?.(this.#stuck);
      this.#options.logger.warn("a reconcile that seemed stuck has returned", { key });
    }
    this.#options.observer?.busyChanged?.(this.#running.size);
  }

  async #giveWay(): Promise<void> {
    const { clock } = this.#options;
    if (clock.monotonic() - this.#yieldedAt < MAX_STRETCH_MS) return;
    await delay(clock, 0, this.#abort.signal);
    this.#yieldedAt = clock.monotonic();
  }
}

function codeOf(error: unknown): string {
  if (error instanceof KeyturnError) return error.code;
  return error instanceof Error ? error.name : "Thrown";
}
