import { Counter, Gauge, type Registry } from "prom-client";

/** Why a restart that is called for has not begun. */
export type RestartWait = (typeof WAITS)[number];

const WAITS = ["QuietPeriod", "LeastInterval", "WindowClosed", "NoSlot", "OtherOperator", "OtherRollout"] as const;

/** How things stand with restarts: asked when somebody looks. */
export interface RestartProbe {
  /** Workloads that the breaker, or a person, has stopped. */
  stopped(): number;
  waiting(reason: RestartWait): number;
  rolloutsUnderWay(): number;
}

/** What is counted about restarts. Labels come from small fixed sets. Must not: influence what it observes. */
export class RestartMetrics {
  readonly #restarts: Counter<"kind">;
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#restarts = new Counter({
      name: "keyturn_restarts_total",
      help: "Workloads that were restarted because what they use has changed.",
      labelNames: ["kind"],
      registers: [registry],
    });
  }

  restarted(kind: string): void {
    this.#restarts.inc({ kind });
  }

  /** Once: what has not happened yet is a zero, not a gap. */
  addProbe(probe: RestartProbe, kinds: readonly string[]): void {
    for (const kind of kinds) this.#restarts.inc({ kind }, 0);
    const registers = [this.#registry];
    new Gauge({
      name: "keyturn_restart_stopped",
      help: "Workloads whose restarts are stopped, by the breaker or by somebody.",
      registers,
      collect() {
        this.set(probe.stopped());
      },
    });
    new Gauge({
      name: "keyturn_restart_waiting",
      help: "Workloads that are to be restarted and wait, by what for; OtherOperator: that are left to another operator.",
      labelNames: ["reason"],
      registers,
      collect() {
        for (const reason of WAITS) this.set({ reason }, probe.waiting(reason));
      },
    });
    new Gauge({
      name: "keyturn_restart_rollouts_under_way",
      help: "Rollouts that were begun by a restart and are not over.",
      registers,
      collect() {
        this.set(probe.rolloutsUnderWay());
      },
    });
  }
}
