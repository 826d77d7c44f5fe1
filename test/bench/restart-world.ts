import type { Kube } from "../../src/kube/port.ts";
import { connect } from "../support/connect.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import { BenchOperator } from "./bench-operator.ts";

/** As many as there is work for: nothing waits for its turn, for quiet, or because it was too often. */
const CAPS_LIFTED = [
  ...["--controllers", "restart"],
  ...["--restart-quiet-period", "0s"],
  ...["--restart-max-rollouts", "0"],
  ...["--restart-max-rollouts-per-namespace", "0"],
  ...["--restart-max-per-hour", "0"],
];

/** What restarts are measured on: an API server that somebody else started, and an operator that does nothing else. */
export class RestartWorld {
  readonly kube: Kube;
  readonly kubeconfig: string;
  readonly operator: BenchOperator;

  static async open(kubeconfig: string, main: string): Promise<RestartWorld> {
    return new RestartWorld(await connect(kubeconfig, "bench"), kubeconfig, main);
  }

  private constructor(kube: Kube, kubeconfig: string, main: string) {
    this.kube = kube;
    this.kubeconfig = kubeconfig;
    this.operator = new BenchOperator(main);
  }

  /** Ends the operator that is there, if any, and starts another one; resolves when it is ready. */
  startOperator(kubeconfig = this.kubeconfig): Promise<KeyturnOperator> {
    return this.operator.start(kubeconfig, CAPS_LIFTED);
  }

  async close(): Promise<void> {
    await this.operator.stop();
    await this.kube.close();
  }
}
