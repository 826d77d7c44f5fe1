import type { Stage } from "../rotation/stage.ts";
import { eventually } from "../support/eventually.ts";
import { LEASE } from "../support/operator-access.ts";
import { Replica } from "./replica.ts";

const FLAGS = [
  ...["--log-level", "debug", "--min-frequency", "1s", "--drift-check", "5s", "--settle-time", "3s"],
  ...["--sweep-every", "3s", "--restart-quiet-period", "1s", "--restart-max-wait", "3s", "--restart-max-per-hour", "0"],
];
const LOST = "no longer leading";
const PATIENCE_MS = 120_000;

export interface Roles {
  readonly leader: Replica;
  readonly standby: Replica;
}

/** The two that stand for election. */
export class Pair {
  /** How often one could not renew its Lease in time, and left: on a machine that is too busy for one of a few seconds. */
  lost = 0;
  readonly replicas: readonly Replica[];
  readonly #stage: Stage;

  static async start(options: {
    readonly stage: Stage;
    readonly leaseSeconds: number;
    readonly main: string | undefined;
  }): Promise<Pair> {
    const { stage, leaseSeconds, main } = options;
    const { access } = stage;
    const replica = (): Promise<Replica> =>
      Replica.start({
        kubeconfig: access.kubeconfig,
        lease: { namespace: access.namespace ?? "default", name: LEASE },
        flags: ["--lease-duration", `${leaseSeconds}s`, ...FLAGS],
        main,
        onStart: (operator) => void stage.operators.push(operator),
      });
    const pair = new Pair([await replica(), await replica()], stage);
    await pair.inPlace();
    return pair;
  }

  private constructor(replicas: readonly Replica[], stage: Stage) {
    this.replicas = replicas;
    this.#stage = stage;
  }

  /** Until one leads and the other one knows the world. */
  inPlace(): Promise<Roles> {
    return eventually(
      "one of two to lead, and the other to be ready",
      async () => {
        for (const replica of this.replicas) await this.reviveLost(replica);
        const areReady = await Promise.all(this.replicas.map(({ operator }) => operator.isReady()));
        return areReady.every(Boolean) ? this.roles() : undefined;
      },
      PATIENCE_MS,
    );
  }

  /** Who leads now; undefined where that cannot be told, or one of them is not there. */
  roles(): Roles | undefined {
    const [leader, standby] = [...this.replicas].sort((a, b) => b.leaseWrittenAt - a.leaseWrittenAt);
    const areThere = this.replicas.every(({ operator }) => !operator.hasEnded);
    return leader && standby && areThere && Number.isFinite(leader.leaseWrittenAt) ? { leader, standby } : undefined;
  }

  /** Where one has lost its Lease, a cluster would start it again. One that ends for any other reason is none of ours to excuse. */
  async reviveLost(replica: Replica): Promise<void> {
    const { operator } = replica;
    if (!operator.hasEnded) return;
    const code = await operator.ended();
    if (code !== 1 || !operator.text.includes(LOST)) {
      throw new Error(`an operator had ended by itself, with ${code}:\n${operator.text.slice(-4_000)}`);
    }
    const { leaks, operators } = this.#stage;
    leaks.look("the log", operator.text);
    operators.splice(operators.indexOf(operator), 1);
    this.lost++;
    replica.revive();
  }

  /** In peace, both of them. */
  async leave(problems: string[]): Promise<void> {
    await this.inPlace();
    for (const replica of this.replicas) {
      await this.#stage.leaks.lookAt(replica.operator);
      const code = await replica.leave();
      if (code !== 0) problems.push(`an operator left with ${code}`);
    }
  }

  async close(): Promise<void> {
    for (const replica of this.replicas) await replica.close();
  }
}
