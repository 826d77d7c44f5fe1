import { secretType } from "../../src/publish/secret-publisher.ts";
import { allFamilies } from "../families/families.ts";
import type { Family } from "../families/family.ts";
import type { InstanceWishes } from "../families/stand-in.ts";
import { Gateway, type Passage } from "../support/gateway.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import type { Target } from "../support/target.ts";
import { brisk, Stage } from "./stage.ts";
import { StoryBinding } from "./story-binding.ts";
import { type KillPoint, WriteGate } from "./write-gate.ts";

/**
 * How long a kill may hold up a story. The rounds that come on top kill the same operator every few seconds, which on a busy
 * machine leaves it no time to get anything done: a story ends once all of them are over.
 */
const PATIENCE_MS = 900_000;

/** A stage on which the operator is killed, and a new one takes over, at a chosen write of a chosen binding of a family. */
export class KillStage {
  readonly stage: Stage;
  readonly #family: Family;
  readonly problems: string[] = [];
  readonly #gateways: readonly Gateway[];
  readonly #gate: WriteGate;
  #operator: KeyturnOperator;

  static async set(target: Target, family: Family): Promise<KillStage> {
    const opened: Gateway[] = [];
    const kubeconfigFor = async ({ kubeconfig }: { readonly kubeconfig: string }): Promise<string> => {
      const gateway = await Gateway.start(kubeconfig);
      opened.push(gateway);
      return gateway.kubeconfig;
    };
    const stage = await Stage.set({ target, name: "kill", families: allFamilies, kubeconfigFor });
    opened.push(await Gateway.before(stage.standInOf(family).url));
    return new KillStage(stage, family, opened);
  }

  private constructor(stage: Stage, family: Family, gateways: readonly Gateway[]) {
    this.stage = stage;
    this.#family = family;
    this.#gateways = gateways;
    this.#gate = new WriteGate(gateways);
    this.#operator = this.#startOperator();
  }

  get hasStruck(): boolean {
    return this.#gate.hasStruck;
  }

  get writes(): readonly string[] {
    return this.#gate.writes;
  }

  /** A binding with a ProviderConfig and credentials of its own, all of which the gate can tell by the name. */
  async binding(name: string, instance?: InstanceWishes): Promise<StoryBinding> {
    const family = this.#family;
    const binding = new StoryBinding(this.stage, { family, name, instance, patienceMs: PATIENCE_MS });
    const way = this.#gateways.at(-1)?.url ?? "";
    await this.stage.putProviderConfig(family, name, binding.standIn.login(way));
    return binding;
  }

  /** From now on the writes of this binding count; resolves when the operator was killed at the point and replaced. */
  lieInWait(binding: StoryBinding, point?: KillPoint): Promise<void> {
    return new Promise((resolve) => {
      this.#gate.lieInWait({
        names: [binding.name, this.stage.namespace],
        isOurs: (write) => this.#isOf(binding, write),
        ...(point && { point }),
        strike: async () => {
          if (this.#operator.hasEnded) this.problems.push(`an operator had ended by itself:\n${this.#operator.text}`);
          await this.#operator.stop("SIGKILL");
          this.#operator = this.#startOperator();
          resolve();
        },
      });
    });
  }

  /** Everything of a binding is deleted in one go, as `kubectl delete -f` does, and must go. */
  async remove(binding: StoryBinding): Promise<void> {
    const { stage, family, name } = binding;
    const credentials = stage.credentialsOf(family, name);
    await stage.kube.delete(secretType, credentials);
    await stage.kube.delete(family.configType, { name });
    await binding.delete();
    await binding.gone();
    await binding.until("the credentials to go", () => stage.secrets.get(credentials) === undefined);
    await binding.untilAsync("the ProviderConfig to go", async () => !(await stage.hasProviderConfig(family, name)));
  }

  async strike(): Promise<void> {
    try {
      await this.stage.strike();
    } finally {
      for (const gateway of this.#gateways) await gateway.close();
    }
  }

  #startOperator(): KeyturnOperator {
    return this.stage.startOperator(brisk({ sweepEvery: "2s" }));
  }

  /** By its name, which everything in the cluster bears; keys outside are addressed by id. */
  #isOf(binding: StoryBinding, { path, body }: Passage): boolean {
    if (path.includes(binding.name) || body.includes(binding.name)) return true;
    return binding.keysAtService().some(({ id }) => path.includes(id));
  }
}
