import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type KeyturnOperator, startKeyturnOperator } from "../../support/keyturn-operator.ts";
import type { PodProcess } from "./pod-process.ts";

/** A version of the operator, and how its pods run it. */
export interface Edition {
  readonly version: string;
  /** Which `keyturn`; that of the source where absent. */
  readonly main?: string;
  readonly process: PodProcess;
}

const REPLICAS = 2;

/**
 * The operator's processes, which stand in for the pods of its Deployment: as its ServiceAccount, with its flags and its
 * environment. They are replaced as a Deployment does it. Must not: give them anything that a pod would not have.
 */
export class Replicas {
  /** All that ever were. */
  readonly #all: KeyturnOperator[] = [];
  readonly #kubeconfig: string;
  readonly #onStart: (operator: KeyturnOperator) => void;
  #running: readonly KeyturnOperator[] = [];

  constructor(kubeconfig: string, onStart: (operator: KeyturnOperator) => void) {
    this.#kubeconfig = kubeconfig;
    this.#onStart = onStart;
  }

  async start(edition: Edition): Promise<void> {
    this.#running = await Promise.all(Array.from({ length: REPLICAS }, () => this.#startOne(edition)));
  }

  /** One after the other: the next is ready before one of before is asked to leave, the leader first, at such a moment. */
  async roll(edition: Edition, moment: () => Promise<void>): Promise<void> {
    const leaving = [...(await this.#leaderFirst())];
    const coming: KeyturnOperator[] = [];
    for (const before of leaving) {
      coming.push(await this.#startOne(edition));
      await moment();
      const { code } = await before.stop("SIGTERM");
      assert.equal(code, 0, before.text.slice(-4_000));
    }
    this.#running = coming;
  }

  /** For the end of a story that could not be told: with what was said meanwhile, where somebody wants to know. */
  async close({ logsTo }: { readonly logsTo: string | undefined }): Promise<void> {
    for (const [index, operator] of this.#all.entries()) {
      if (!operator.hasEnded) await operator.stop("SIGKILL");
      if (logsTo !== undefined) await writeFile(join(logsTo, `operator-${index}.log`), operator.text);
    }
  }

  /** None has ended by itself. */
  assertRunning(): void {
    for (const operator of this.#running) assert.ok(!operator.hasEnded, operator.text.slice(-4_000));
  }

  async #startOne({ version, main, process }: Edition): Promise<KeyturnOperator> {
    const { flags, environment } = process;
    const kubeconfig = this.#kubeconfig;
    const options = { kubeconfig, flags, environment, ...(main !== undefined && { main }) };
    const operator = startKeyturnOperator({ ...options, after: () => {} });
    this.#all.push(operator);
    this.#onStart(operator);
    await operator.ready();
    assert.equal(operator.lines("starting")[0]?.version, version);
    return operator;
  }

  async #leaderFirst(): Promise<readonly KeyturnOperator[]> {
    const found = this.#running.map(async (operator) => ({
      operator,
      isLeader: await operator.metric("keyturn_leader"),
    }));
    const told = await Promise.all(found);
    assert.equal(told.filter(({ isLeader }) => isLeader === 1).length, 1, "one of them leads");
    return told.toSorted((a, b) => (b.isLeader ?? 0) - (a.isLeader ?? 0)).map(({ operator }) => operator);
  }
}
