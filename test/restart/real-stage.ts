import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Kube } from "../../src/kube/port.ts";
import { DEFAULT_RESTART_SETTINGS, type RestartSettings } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { inNamespace } from "./in-namespace.ts";
import { installPodStatuses } from "./pod-status-objects.ts";
import type { RestartStage } from "./restart-stage.ts";
import { TestOperator } from "./test-operator.ts";

/** Dates on the server are whole seconds, cut off: quiet for one second may be over at once. */
const QUIET_MS = 1000;
const CALM_MS = 5000;
const PATIENCE_MS = 120_000;

/**
 * A real control plane, where time passes by itself: the operator is in the test's process and sees one namespace, so that
 * other stories can be told at the same time; the rest is Kubernetes.
 */
export class RealStage implements RestartStage {
  static #stages = 0;
  readonly kube: Kube;
  readonly namespace: string;
  readonly #settings: RestartSettings;
  #operator: TestOperator | undefined;

  private constructor(kube: Kube, namespace: string, settings: RestartSettings) {
    this.kube = kube;
    this.namespace = namespace;
    this.#settings = settings;
  }

  static async set(kubeconfig: string, settings: Partial<RestartSettings> = {}): Promise<RealStage> {
    const kube = await connect(kubeconfig);
    const name = `restart-${process.pid}-${RealStage.#stages++}`;
    const { defaults } = DEFAULT_RESTART_SETTINGS;
    const quick = { ...defaults, pace: { ...defaults.pace, quietMs: QUIET_MS } };
    const stage = new RealStage(kube, name, { ...DEFAULT_RESTART_SETTINGS, defaults: quick, ...settings });
    await kube.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await installPodStatuses(kube);
    await stage.startOperator();
    return stage;
  }

  async startOperator(): Promise<void> {
    const kube = inNamespace(this.kube, this.namespace);
    this.#operator = new TestOperator({ kube, clock: systemClock, random: systemRandom, settings: this.#settings });
    await this.#operator.synced();
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.stop();
    this.#operator = undefined;
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
    await this.kube.close();
  }
}
