import { Gateway, type Passage } from "../support/gateway.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { type AnsweredWrite, isLeaseWrite, isRotationWrite } from "./rotation-write.ts";

export interface ReplicaOptions {
  /** Of the server itself, as the operator. */
  readonly kubeconfig: string;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly flags: readonly string[];
  /** Which `keyturn`; that of the source where absent. */
  readonly main?: string | undefined;
  readonly onStart: (operator: KeyturnOperator) => void;
}

/**
 * One of several operators that stand for election, with a way to the server of its own, so that what it writes is known
 * as its own. It is killed and comes back as a new process. Must not: hold up or change anything on that way.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly #gateway: Gateway;
  #operator: KeyturnOperator;
  #leaseWrittenAt = Number.NEGATIVE_INFINITY;
  #onRotationWrite: (() => void) | undefined;

  static async start(options: ReplicaOptions): Promise<Replica> {
    return new Replica(options, await Gateway.start(options.kubeconfig));
  }

  private constructor(options: ReplicaOptions, gateway: Gateway) {
    this.#options = options;
    this.#gateway = gateway;
    gateway.carryBy((passage) => this.#carry(passage));
    this.#operator = this.#launch();
  }

  /** When it last took or renewed the Lease; the one with the latest leads, for as long as it lives. */
  get leaseWrittenAt(): number {
    return this.#leaseWrittenAt;
  }

  get operator(): KeyturnOperator {
    return this.#operator;
  }

  /** Resolves with the moment at which it has next written something of a rotation; to be asked before that can be. */
  nextRotationWrite(): Promise<number> {
    return new Promise((resolve) => {
      this.#onRotationWrite = () => {
        this.#onRotationWrite = undefined;
        resolve(performance.now());
      };
    });
  }

  async kill(): Promise<void> {
    this.#leaseWrittenAt = Number.NEGATIVE_INFINITY;
    await this.#operator.stop("SIGKILL");
  }

  /** As somebody else than it was. */
  revive(): void {
    this.#leaseWrittenAt = Number.NEGATIVE_INFINITY;
    this.#operator = this.#launch();
  }

  /** Ends it as a cluster would; its exit code. */
  async leave(): Promise<number | string> {
    return this.#operator.hasEnded ? this.#operator.ended() : (await this.#operator.stop("SIGTERM")).code;
  }

  async close(): Promise<void> {
    if (!this.#operator.hasEnded) await this.#operator.stop("SIGKILL");
    await this.#gateway.close();
  }

  #launch(): KeyturnOperator {
    const { lease, flags, main, onStart } = this.#options;
    const election = ["--leader-elect", "--lease-namespace", lease.namespace, "--lease-name", lease.name];
    const operator = startKeyturnOperator({
      kubeconfig: this.#gateway.kubeconfig,
      flags: [...election, ...flags],
      ...(main !== undefined && { main }),
      after: () => {},
    });
    onStart(operator);
    return operator;
  }

  async #carry(passage: Passage): ReturnType<Passage["handOn"]> {
    const answer = await passage.handOn();
    if (passage.method !== "GET") this.#see({ ...passage, status: answer.status });
    return answer;
  }

  #see(write: AnsweredWrite): void {
    if (isLeaseWrite(write, this.#options.lease.name)) this.#leaseWrittenAt = performance.now();
    else if (this.#onRotationWrite && isRotationWrite(write)) this.#onRotationWrite();
  }
}
