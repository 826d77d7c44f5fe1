import assert from "node:assert/strict";
import { formatInstant } from "../../src/base/instant.ts";
import { podLabels } from "../../src/bind/instance-objects.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { bindControllers } from "../../src/reconcile/bind/bind-controllers.ts";
import { createRndcKeyController } from "../../src/reconcile/bind/rndc-key-controller.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { createRestartController } from "../../src/reconcile/restart/restart-controller.ts";
import { RestartKnowledge } from "../../src/reconcile/restart/restart-knowledge.ts";
import { RndcKeyMetrics } from "../../src/report/rndc-key-metrics.ts";
import {
  KEY_ROTATED_AT_ANNOTATION,
  RESTART_FOR_ANNOTATION,
  STATE_ANNOTATION,
  STATE_MANAGER,
} from "../../src/restart/annotations.ts";
import { deploymentType, kindOf, replicaSetType } from "../../src/restart/workload-kinds.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { memorySend } from "../../src/sandbox/named/memory-send.fixture.ts";
import { FileKubelet } from "./file-kubelet.ts";
import { isSame, NAME, NAMESPACE, RndcKeyWorld } from "./rndc-key-world.ts";

type Fields = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

export interface WorkloadWish {
  readonly kind?: "Deployment" | "StatefulSet";
  readonly annotations?: Texts;
  readonly replicas?: number;
  readonly spec?: Fields;
}

/** Keys with strategy Restart, workloads that mount them, whoever runs those, and the controllers of both. */
export class RestartKeyWorld extends RndcKeyWorld {
  readonly files = new FileKubelet({
    kube: this.kube,
    around: this,
    namespace: NAMESPACE,
    secretName: NAME,
    keyName: "bindy-operator",
  });
  /** Of the operator of now. Without an initial value: controllers are made while the base class still is. */
  declare registry: Metrics["registry"];
  /** Whether the next operator has no restart controller. */
  isOff = false;
  /** When a named last did not accept what is published. */
  refusedAt: number | undefined;

  override createControllers(settings: ControllerSettings): readonly Controller[] {
    const send = memorySend((host) => this.files.listenerAt(host));
    this.registry = new Metrics({ processMetrics: false }).registry;
    const rndcKeyMetrics = new RndcKeyMetrics({ registry: this.registry, clock: this.clock });
    const knowledge = this.isOff ? undefined : new RestartKnowledge(settings.restart);
    const told = { ...settings, rndcKeyMetrics, ...(knowledge && { knowledge }) };
    return [
      ...(knowledge ? [createRestartController(told)] : []),
      createRndcKeyController(told, { send }),
      ...bindControllers.map(({ create }) => create({ ...settings, send })),
    ];
  }

  override create(spec: Fields = {}): Promise<KubeObject> {
    return super.create({ strategy: "Restart", rotation: { frequency: "2h", ttl: "2h" }, ...spec });
  }

  override async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed));
      await this.files.work();
      if (!(await this.isEverywhere())) this.refusedAt = this.clock.now();
    }
  }

  /** Whether every named accepts what is published, as far as anything is. */
  async isEverywhere(): Promise<boolean> {
    if (!(await this.secret())) return true;
    const key = await this.publishedKey();
    return this.files.running.every(({ accepted }) => accepted.some((one) => isSame(one, key)));
  }

  /** A workload whose pods are servers of the instance `web`, and mount the key. */
  async run(name: string, wish: WorkloadWish = {}): Promise<KubeObject> {
    const { kind = "Deployment", annotations = {}, replicas = 2, spec = {} } = wish;
    const type = typeOf(kind);
    const labels = { ...podLabels("web"), run: name };
    const volumes = [{ name: "key", secret: { secretName: NAME } }];
    const template = { metadata: { labels }, spec: { containers: [{ name: "named", image: "bind9" }], volumes } };
    const body = {
      apiVersion: apiVersionOf(type),
      kind,
      metadata: { name, namespace: NAMESPACE, annotations },
      spec: { replicas, selector: { matchLabels: { run: name } }, template, ...spec },
    };
    return this.kube.create<KubeObject>(type, body as KubeObject);
  }

  async workload(name: string, kind = "Deployment"): Promise<KubeObject> {
    return this.kube.get(typeOf(kind), { namespace: NAMESPACE, name });
  }

  patchWorkload(name: string, body: Fields): Promise<KubeObject> {
    return this.kube.patch(deploymentType, { namespace: NAMESPACE, name }, { type: "merge", body });
  }

  /** As if it had been restarted just now for something else, by an operator that has gone since. */
  async spendRestart(name: string): Promise<void> {
    const { annotations = {} } = (await this.workload(name)).metadata;
    const known = JSON.parse(annotations[STATE_ANNOTATION] ?? "{}") as Fields;
    const text = JSON.stringify({ ...known, restarts: [formatInstant(this.clock.now())] });
    const metadata = { name, namespace: NAMESPACE, annotations: { [STATE_ANNOTATION]: text } };
    const body = { apiVersion: apiVersionOf(deploymentType), kind: deploymentType.kind, metadata };
    const options = { fieldManager: STATE_MANAGER };
    await this.kube.patch(deploymentType, metadata, { type: "apply", body, force: true }, options);
  }

  async markOf(name: string): Promise<string | undefined> {
    return (await this.workload(name)).metadata.annotations?.[RESTART_FOR_ANNOTATION];
  }

  /** `rndc-key-rotated-at` of the pod template. */
  async rotatedAt(name: string, kind = "Deployment"): Promise<string | undefined> {
    const workloadKind = kindOf(kind) ?? assert.fail(kind);
    return workloadKind.templateOf(await this.workload(name, kind)).annotations[KEY_ROTATED_AT_ANNOTATION];
  }

  /** How often a Deployment was rolled out, by whomever. */
  async rollouts(name: string): Promise<number> {
    const { items } = await this.kube.list(replicaSetType, { namespace: NAMESPACE });
    const isIts = ({ metadata }: KubeObject): boolean => metadata.ownerReferences?.[0]?.name === name;
    return items.filter(isIts).length - 1;
  }

  /** The message of RotationStatus. */
  async said(): Promise<string> {
    return (await this.status()).conditions?.find(({ type }) => type === "RotationStatus")?.message ?? "";
  }

  /** How often a restart did not come to its end, as it is counted. */
  async stuck(): Promise<number> {
    const line = (await this.registry.metrics()).split("\n").find((one) => one.includes('"RestartStuck"'));
    return Number(line?.split(" ").at(-1) ?? 0);
  }

  async assertMoved(what = ""): Promise<void> {
    assert.ok(this.files.running.length > 0, `${what}: something runs`);
    assert.ok(await this.isEverywhere(), `${what}: all run on what is published`);
    assert.deepEqual((await this.ring()).length, 1, `${what}: one key is left`);
    await this.assertAtRest(what);
  }
}

const typeOf = (kind: string): ResourceType => kindOf(kind)?.type ?? assert.fail(kind);
