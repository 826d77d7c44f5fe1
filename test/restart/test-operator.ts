import type { Clock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import type { Random } from "../../src/base/random.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { createRestartController } from "../../src/reconcile/restart/restart-controller.ts";
import type { RestartSettings } from "../../src/reconcile/restart/restart-settings.ts";
import { RestartMetrics } from "../../src/report/restart-metrics.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { Operator } from "../../src/runtime/operator.ts";
import { Shutdown } from "../../src/runtime/shutdown.ts";

export interface TestOperatorOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: RestartSettings;
  /** Where it keeps the key of its digests. */
  readonly namespace?: string;
}

const NEVER_MS = 365 * 86_400_000;

/** An operator with nothing but the restart controller, in the test's own process. */
export class TestOperator {
  readonly #metrics = new Metrics({ processMetrics: false });
  readonly #shutdown: Shutdown;
  readonly #operator: Operator;

  constructor({ kube, clock, random, settings: restart, namespace = "default" }: TestOperatorOptions) {
    const settings: ControllerSettings = {
      namespace,
      instance: "test",
      http: { send: () => Promise.reject(new Error("nothing is outside")) },
      isSkewed: () => false,
      minFrequencyMs: NEVER_MS,
      minRotateAfterMs: NEVER_MS,
      driftCheckMs: NEVER_MS,
      sweepMs: NEVER_MS,
      settleMs: NEVER_MS,
      childCheckMs: NEVER_MS,
      overdueStartsPerSecond: 1,
      restart,
      restartMetrics: new RestartMetrics(this.#metrics.registry),
    };
    this.#operator = new Operator({
      kube,
      controllers: [createRestartController(settings)],
      clock,
      random,
      logger: silentLogger,
      metrics: this.#metrics,
      onLost: (reason) => {
        throw new Error(reason);
      },
    });
    this.#shutdown = new Shutdown({ clock, logger: silentLogger, exit: () => {} });
    this.#operator.addShutdownSteps(this.#shutdown);
    this.#operator.start();
  }

  /** Its watches know the state of the world. */
  synced(): Promise<void> {
    return this.#operator.synced();
  }

  async metric(series: string): Promise<string | undefined> {
    const lines = (await this.#metrics.render()).split("\n");
    return lines.find((line) => line.startsWith(`${series} `))?.slice(series.length + 1);
  }

  stop(): Promise<void> {
    return this.#shutdown.leave("test", 0);
  }
}
