import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Kube } from "../../src/kube/port.ts";
import { DEFAULT_RESTART_SETTINGS, type RestartSettings } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type OperatorAccess, operatorAccess, SYSTEM } from "../support/operator-access.ts";
import { inNamespace } from "./in-namespace.ts";
import { lateKube } from "./late-kube.ts";
import { installPodStatuses } from "./pod-status-objects.ts";
import type { RestartStage } from "./restart-stage.ts";
import { TestOperator } from "./test-operator.ts";

/** Dates on the server are whole seconds, cut off: quiet for one second may be over at once. */
const QUIET_MS = 1000;
const CALM_MS = 5000;
const PATIENCE_MS = 120_000;

export interface RealStageOptions {
  readonly settings?: Partial<RestartSettings> | undefined;
  /** The operator sees all of the cluster: nothing else may be told at the same time. */
  readonly isWide?: boolean | undefined;
}

/**
 * A real control plane, where time passes by itself: the operator is in the test's process and sees one namespace, so that
 * other stories can be told at the same time; the rest is Kubernetes.
 */
export class RealStage implements RestartStage {
  static #stages = 0;
  /** The same for all of them. */
  static #access: Promise<OperatorAccess> | undefined;
  readonly kube: Kube;
  /** As the operator. */
  readonly #own: Kube;
  readonly namespace: string;
  readonly #settings: RestartSettings;
  readonly #isWide: boolean;
  readonly #operators: TestOperator[] = [];

  private constructor(parts: {
    readonly kube: Kube;
    readonly own: Kube;
    readonly namespace: string;
    readonly settings: RestartSettings;
    readonly isWide: boolean;
  }) {
    this.kube = parts.kube;
    this.#own = parts.own;
    this.namespace = parts.namespace;
    this.#settings = parts.settings;
    this.#isWide = parts.isWide;
  }

  static async set(kubeconfig: string, { settings, isWide = false }: RealStageOptions = {}): Promise<RealStage> {
    const kube = await connect(kubeconfig);
    RealStage.#access ??= operatorAccess({ name: "real", kubeconfig }, { controllers: ["restart"] });
    const own = await connect((await RealStage.#access).kubeconfig, "keyturn/test");
    const name = `restart-${process.pid}-${RealStage.#stages++}`;
    const { defaults } = DEFAULT_RESTART_SETTINGS;
    const quick = { ...defaults, pace: { ...defaults.pace, quietMs: QUIET_MS } };
    const all = { ...DEFAULT_RESTART_SETTINGS, defaults: quick, ...settings };
    const stage = new RealStage({ kube, own, namespace: name, settings: all, isWide });
    await kube.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await installPodStatuses(kube);
    await stage.startOperator();
    return stage;
  }

  async startOperator(): Promise<void> {
    await this.addOperator();
  }

  async addOperator(lateMs?: readonly number[]): Promise<void> {
    const own = this.#isWide ? this.#own : inNamespace(this.#own, this.namespace);
    const kube = lateMs ? lateKube(own, systemClock, lateMs) : own;
    const common = { kube, clock: systemClock, random: systemRandom, settings: this.#settings };
    const operator = new TestOperator({ ...common, namespace: SYSTEM });
    this.#operators.push(operator);
    await operator.synced();
  }

  async stopOperator(): Promise<void> {
    for (const operator of this.#operators.splice(0)) await operator.stop();
  }

  async restartOperator(): Promise<void> {
    await this.stopOperator();
    await this.startOperator();
  }

  async until(what: string, check: () => Promise<boolean>): Promise<void> {
    await eventually(what, async () => ((await check()) ? true : undefined), PATIENCE_MS);
  }

  async pause(ms: number): Promise<void> {
    await sleep(ms);
  }

  async calm(): Promise<void> {
    await sleep(CALM_MS);
  }

  async strike(): Promise<void> {
    await this.stopOperator();
    await this.kube.delete(namespaceType, { name: this.namespace });
    await this.#own.close();
    await this.kube.close();
  }
}
