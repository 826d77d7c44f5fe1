import { ifFound } from "../../src/kube/if-found.ts";
import type { ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";

const TICK_MS = 100;

/**
 * Plays what runs the pods of the operator: one process while its Deployment wants any, and a request to end when it does
 * not. Must not: know why.
 */
export class PlayedDeployment {
  readonly #kube: Kube;
  readonly #ref: ObjectRef;
  readonly #start: () => Promise<KeyturnOperator>;
  #operator: KeyturnOperator | undefined;
  #ending: Promise<unknown> = Promise.resolve();
  #ticks: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(kube: Kube, ref: ObjectRef, start: () => Promise<KeyturnOperator>) {
    this.#kube = kube;
    this.#ref = ref;
    this.#start = start;
    this.#ticks = setInterval(() => void this.#look(), TICK_MS);
  }

  get operator(): KeyturnOperator | undefined {
    return this.#operator;
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticks);
    this.#ticks = undefined;
    this.#end();
    await this.#ending;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const deployment = await ifFound(this.#kube.get(deploymentType, this.#ref)).catch(() => "unknown" as const);
      if (deployment === "unknown" || this.#ticks === undefined) return;
      const wanted = (deployment?.spec as { readonly replicas?: number } | undefined)?.replicas ?? 0;
      if (wanted === 0) this.#end();
      else if (!this.#operator || this.#operator.hasEnded) {
        await this.#ending;
        this.#operator = await this.#start();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #end(): void {
    const operator = this.#operator;
    if (!operator) return;
    this.#operator = undefined;
    this.#ending = operator.hasEnded ? Promise.resolve() : operator.stop("SIGTERM");
  }
}
