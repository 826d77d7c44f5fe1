import { bindResources } from "../../src/api/bind/bind-resources.ts";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { clusterBind9Provider } from "../../src/api/bind/cluster-bind9-provider.ts";
import { definitionOf } from "../../src/api/custom-resource.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { LONG_SECRET } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { AlreadyExists, Conflict, NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { bindControllers } from "../../src/reconcile/bind/bind-controllers.ts";
import { bindSources, serviceType } from "../../src/reconcile/bind/bind-sources.ts";
import { createRndcKeyController } from "../../src/reconcile/bind/rndc-key-controller.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { configMapType, deploymentType } from "../../src/restart/workload-kinds.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { memorySend } from "../../src/sandbox/named/memory-send.fixture.ts";
import { NamedKubelet } from "./named-kubelet.ts";
import { type OperatedWorld, WorldOperator } from "./world-operator.ts";

export const NAMESPACE = "net";
export const OPERATOR_NAMESPACE = "keyturn-system";

const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const eventType: ResourceType = {
  ...definitions,
  group: "events.k8s.io",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

export const kinds = {
  ClusterBind9Provider: clusterBind9Provider,
  Bind9Cluster: bind9Cluster,
  Bind9Instance: bind9Instance,
  RndcKey: rndcKey,
  Secret: secretType,
  ConfigMap: configMapType,
  Service: serviceType,
  Deployment: deploymentType,
  StatefulSet: bindSources.statefulSets.type,
} as const satisfies Readonly<Record<string, ResourceType>>;
export type Kind = keyof typeof kinds;

interface SaidCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
}

const STEP_MS = 1_000;

export interface BindWorldOptions {
  /** What the pods of the one instance mount, the ring last: a named runs in each of them then. */
  readonly secrets?: readonly string[];
  /** RndcKeys are seen to by their own controller. */
  readonly hasKeyController?: boolean;
}

/**
 * The three controllers on the embedded API, whose Deployments, pods and garbage are looked after, and somebody who
 * publishes the keys of RndcKeys in the way of their own controller.
 */
export class BindWorld implements OperatedWorld {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly random = this.#cluster.random;
  readonly transport = this.#cluster.transport;
  readonly kube = this.#cluster.kube;
  readonly sandbox = {
    handle: () => Promise.reject(new Error("nothing is outside")),
    authenticate: () => false,
    requestLog: () => [],
    clearRequestLog: () => {},
  };
  readonly #options: BindWorldOptions;
  /** Runs the pods of the one instance whose ring it is told. */
  readonly kubelet: NamedKubelet | undefined;
  operator: WorldOperator;
  /** Whether RndcKeys are seen to. */
  keepsKeys: boolean;

  private constructor(options: BindWorldOptions) {
    const { secrets } = options;
    this.#options = options;
    this.keepsKeys = options.hasKeyController !== true;
    this.kubelet =
      secrets && new NamedKubelet({ kube: this.kube, around: this.#cluster, namespace: NAMESPACE, secrets });
    this.#cluster.server.start();
    this.operator = new WorldOperator(this, { namespace: OPERATOR_NAMESPACE });
  }

  static async begin(options: BindWorldOptions = {}): Promise<BindWorld> {
    const world = new BindWorld(options);
    for (const resource of bindResources) {
      await world.kube.create(definitions, JSON.parse(JSON.stringify(definitionOf(resource))) as KubeObject);
    }
    for (const name of [NAMESPACE, OPERATOR_NAMESPACE]) await world.addNamespace(name);
    await world.pass(2_000);
    return world;
  }

  createControllers(settings: ControllerSettings): readonly Controller[] {
    const { namespace, instance } = settings;
    const send = memorySend((host) => this.kubelet?.listenerAt(host));
    return [
      ...bindControllers.map(({ create }) => create({ namespace, instance, send })),
      ...(this.#options.hasKeyController ? [createRndcKeyController(settings, { send })] : []),
    ];
  }

  async addNamespace(name: string): Promise<void> {
    await this.kube.create<KubeObject>(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }

  /** Time passes, and whoever looks after RndcKeys does so. */
  async pass(ms: number, stepMs: number = STEP_MS): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(stepMs);
      if (this.keepsKeys) await this.#keepKeys();
      await this.kubelet?.work();
    }
  }

  /** A process that died is followed by another one. */
  begunAnew(): void {
    this.operator = new WorldOperator(this, { namespace: OPERATOR_NAMESPACE });
  }

  async stop(): Promise<void> {
    await this.operator.stop();
    await this.#cluster.server.stop();
  }

  create(kind: Kind, name: string, fields: object, namespace: string | undefined = NAMESPACE): Promise<KubeObject> {
    const type = kinds[kind];
    const metadata = { name, ...(type.namespaced && { namespace }) };
    return this.kube.create<KubeObject>(type, {
      apiVersion: apiVersionOf(type),
      kind,
      metadata,
      ...fields,
    } as KubeObject);
  }

  async apply(manifest: KubeObject): Promise<KubeObject> {
    return this.kube.create<KubeObject>(kinds[manifest.kind as Kind], manifest, { fieldManager: "kubectl" });
  }

  async get(kind: Kind, name: string, namespace: string = NAMESPACE): Promise<KubeObject | undefined> {
    const type = kinds[kind];
    try {
      return await this.kube.get(type, { name, ...(type.namespaced && { namespace }) });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  patch(kind: Kind, name: string, body: object, namespace: string = NAMESPACE): Promise<KubeObject> {
    const type = kinds[kind];
    const ref = { name, ...(type.namespaced && { namespace }) };
    return this.kube.patch(type, ref, { type: "merge", body }, { fieldManager: "kubectl" });
  }

  async remove(kind: Kind, name: string, namespace: string = NAMESPACE): Promise<void> {
    const type = kinds[kind];
    await this.kube.delete(type, { name, ...(type.namespaced && { namespace }) });
  }

  async names(kind: Kind, namespace: string = NAMESPACE): Promise<readonly string[]> {
    const { items } = await this.kube.list(kinds[kind], { namespace });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  async condition(kind: Kind, name: string, type: string, namespace: string = NAMESPACE): Promise<string | undefined> {
    const conditions = fieldAt(await this.get(kind, name, namespace), ["status", "conditions"]);
    const found = (Array.isArray(conditions) ? (conditions as SaidCondition[]) : []).find((one) => one.type === type);
    return found && [found.status, found.reason, found.message].filter((word) => word !== undefined).join(" ");
  }

  async choice(instance: string, namespace: string = NAMESPACE): Promise<Readonly<Record<string, unknown>>> {
    return (fieldAt(await this.get("Bind9Instance", instance, namespace), ["status", "rndcKey"]) ?? {}) as Record<
      string,
      unknown
    >;
  }

  async events(reason: string): Promise<readonly string[]> {
    const { items } = await this.kube.list(eventType, {});
    return items.filter((event) => event.reason === reason).map((event) => String(event.note));
  }

  /** The controller of an object, as `Kind/name`. */
  async ownerOf(kind: Kind, name: string): Promise<string | undefined> {
    const owner = (await this.get(kind, name))?.metadata.ownerReferences?.find(({ controller }) => controller);
    return owner && `${owner.kind}/${owner.name}`;
  }

  async #keepKeys(): Promise<void> {
    for (const key of (await this.kube.list(rndcKey, {})).items) {
      if (key.metadata.deletionTimestamp !== undefined) continue;
      const name = String(fieldAt(key, ["spec", "secret", "name"]));
      const secrets = fieldAt(key, ["spec", "strategy"]) === "Overlap" ? [name, `${name}-ring`] : [name];
      for (const secret of secrets) await this.#publish(key, secret);
      await this.#tellSchedule(key);
    }
  }

  async #publish(key: KubeObject, name: string): Promise<void> {
    const { uid = "", namespace = "" } = key.metadata;
    const owner = { apiVersion: key.apiVersion, kind: key.kind, name: key.metadata.name, uid, controller: true };
    const metadata = { name, namespace, ownerReferences: [owner] };
    const data = { secret: Buffer.from(LONG_SECRET).toString("base64") };
    try {
      await this.kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, data });
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }

  async #tellSchedule(key: KubeObject): Promise<void> {
    const isRotated = fieldAt(key, ["spec", "rotation"]) !== undefined;
    const message = isRotated ? "Next rotation 2026-01-04T13:14:28Z." : "";
    if (fieldAt(key, ["status", "conditions", "0", "message"]) === message) return;
    const stored = fieldAt(key, ["status", "conditions"]);
    if (Array.isArray(stored) && (stored[0] as SaidCondition).message === message) return;
    const lastTransitionTime = formatInstant(this.clock.now());
    const condition = { type: "RotationStatus", status: "True", reason: "Enabled", message, lastTransitionTime };
    try {
      await this.kube.replace<KubeObject>(
        rndcKey,
        { ...key, status: { conditions: [condition] } },
        { subresource: "status" },
      );
    } catch (error) {
      if (!(error instanceof Conflict) && !(error instanceof NotFound)) throw error;
    }
  }
}
