import { setTimeout as sleep } from "node:timers/promises";
import { OPERATOR_ENVIRONMENT } from "../../src/install/deployment.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";

type Metrics = ReadonlyMap<string, number>;

const LOOK_EVERY_MS = 500;

/** The operator that is measured: a process of its own, one at a time. Must not: help it in any way. */
export class BenchOperator {
  readonly #main: string;
  #running: KeyturnOperator | undefined;

  constructor(main: string) {
    this.#main = main;
  }

  get running(): KeyturnOperator {
    if (this.#running === undefined) throw new Error("no operator is running");
    return this.#running;
  }

  /** Ends the operator that is there, if any, and starts another one; resolves when it is ready. */
  async start(kubeconfig: string, flags: readonly string[]): Promise<KeyturnOperator> {
    await this.stop();
    // As `keyturn manifests` has it run.
    const environment = OPERATOR_ENVIRONMENT;
    const after = (): void => {};
    const operator = startKeyturnOperator({ kubeconfig, flags, main: this.#main, environment, after });
    this.#running = operator;
    await operator.ready();
    return operator;
  }

  async stop(): Promise<void> {
    const operator = this.#running;
    this.#running = undefined;
    if (operator && !operator.hasEnded) await operator.stop("SIGTERM");
  }

  /** Waits until nothing is left to do now. */
  async untilIdle(patienceMs: number): Promise<void> {
    await this.untilMetrics("the operator to be idle", patienceMs, isIdle);
  }

  /** Looks seldom: to tell of thousands of credentials takes the operator a while, too. */
  async untilMetrics(
    what: string,
    patienceMs: number,
    isSo: (metrics: Metrics) => boolean,
    lookEveryMs = LOOK_EVERY_MS,
  ): Promise<void> {
    const probe = async () => {
      if (isSo(await this.running.metrics())) return true;
      await sleep(lookEveryMs);
      return undefined;
    };
    await eventually(what, probe, patienceMs);
  }
}

/** Nothing is left to do now. */
export function isIdle(metrics: Metrics): boolean {
  const isBusy = /^keyturn_queue_depth\{.*state="(?:person|drift|running)"/;
  const depths = [...metrics].filter(([name]) => isBusy.test(name));
  return depths.length > 0 && depths.every(([, depth]) => depth === 0);
}
