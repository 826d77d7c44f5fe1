import { type Clock, delay } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";

/**
 * Leaving in order: named steps, one after the other, each with its own bound and all of them within one. A step that
 * hangs or fails is named in the log and does not keep the next ones from running; a second signal ends the process at
 * once. Must not: know what a step does, or listen to signals itself (main.ts hands them in).
 */
export interface ShutdownStep {
  readonly name: string;
  readonly boundMs: number;
  /** Steps that must have ended well before; otherwise this one is left out (a lease is not given up while work goes on). */
  readonly needs?: readonly string[];
  /** The signal aborts when the step's time is up. */
  readonly run: (signal: AbortSignal) => Promise<void> | void;
}

export interface ShutdownOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the process. */
  readonly exit: (code: number) => void;
  /** For all steps together. */
  readonly totalMs?: number;
}

export interface ShutdownResult {
  readonly hung: readonly string[];
  readonly failed: readonly string[];
}

type StepEnd = "done" | "failed" | "hung";

const DEFAULT_TOTAL_MS = 4_500;
/** What a shell reports for a process that a signal ended: 128 + the signal's number. */
const SIGNAL_EXIT_CODES: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

export class Shutdown {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #exit: (code: number) => void;
  readonly #totalMs: number;
  readonly #steps: ShutdownStep[] = [];
  #running: Promise<ShutdownResult> | undefined;

  constructor(options: ShutdownOptions) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#exit = options.exit;
    this.#totalMs = options.totalMs ?? DEFAULT_TOTAL_MS;
  }

  get isUnderWay(): boolean {
    return this.#running !== undefined;
  }

  /** Steps run in the order they were added: first what makes work, then what does it, then what it stands on. */
  addStep(step: ShutdownStep): void {
    this.#steps.push(step);
  }

  /** The first signal leaves in order, the second at once. */
  handleSignal(name: string): void {
    if (this.isUnderWay) {
      this.#logger.warn("second signal: leaving at once", { signal: name });
      this.#exit(SIGNAL_EXIT_CODES[name] ?? 1);
      return;
    }
    void this.leave(`received ${name}`, 0);
  }

  /** Runs the steps and then ends the process, with `code` when all of them ended well. */
  async leave(reason: string, code: number): Promise<void> {
    const isFirst = !this.isUnderWay;
    const { hung, failed } = await this.runSteps(reason);
    if (isFirst) this.#exit(hung.length + failed.length > 0 && code === 0 ? 1 : code);
  }

  /** Runs the steps once, however often it is called. */
  runSteps(reason: string): Promise<ShutdownResult> {
    this.#running ??= this.#runSteps(reason);
    return this.#running;
  }

  async #runSteps(reason: string): Promise<ShutdownResult> {
    const startedAt = this.#clock.monotonic();
    this.#logger.info("shutting down", { reason });
    const ended: Record<StepEnd, string[]> = { done: [], failed: [], hung: [] };
    for (const step of this.#steps) {
      const missing = step.needs?.filter((name) => !ended.done.includes(name)) ?? [];
      if (missing.length > 0) {
        this.#logger.warn("a shutdown step is left out", { step: step.name, missing });
        continue;
      }
      const leftMs = this.#totalMs - (this.#clock.monotonic() - startedAt);
      ended[await this.#runStep(step, Math.max(0, Math.min(step.boundMs, leftMs)))].push(step.name);
    }
    const tookMs = Math.round(this.#clock.monotonic() - startedAt);
    this.#logger.info("shut down", { tookMs, hung: ended.hung, failed: ended.failed });
    return { hung: ended.hung, failed: ended.failed };
  }

  async #runStep(step: ShutdownStep, boundMs: number): Promise<StepEnd> {
    const timeUp = new AbortController();
    const stepOver = new AbortController();
    const run = async (): Promise<StepEnd> => {
      try {
        await step.run(timeUp.signal);
        return "done";
      } catch (error) {
        if (!timeUp.signal.aborted) this.#logger.error("a shutdown step failed", { step: step.name, error });
        return "failed";
      }
    };
    const bound = async (): Promise<StepEnd> => {
      await delay(this.#clock, boundMs, stepOver.signal);
      if (stepOver.signal.aborted) return "done";
      this.#logger.error("a shutdown step hangs; going on without it", { step: step.name, boundMs });
      timeUp.abort(new Error(`shutdown step ${step.name} is out of time`));
      return "hung";
    };
    const end = await Promise.race([run(), bound()]);
    stepOver.abort();
    return end;
  }
}
