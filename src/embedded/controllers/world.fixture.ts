import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Json } from "../json.ts";
import { builtInDefinitions } from "../kinds/built-in-definitions.ts";
import { asNumber, asObject } from "../kinds/json-fields.ts";
import { Operations } from "../operations.ts";
import { Registry, type ResourceDefinition } from "../registry.ts";
import { StatusError } from "../status-error.ts";
import { Store } from "../store.ts";
import type { ControllerLoop } from "./controller-loop.ts";
import { simulatedCluster } from "./simulated-cluster.ts";

const context = { fieldManager: "test" };

interface WorldOptions {
  readonly seed?: number;
  readonly historyLimit?: number;
  readonly namespace?: string;
}

/** A whole embedded cluster for tests: real operations and controllers, time that moves by hand. */
export class World {
  readonly clock = new ManualClock();
  readonly store: Store;
  readonly namespace: string;
  readonly registry = new Registry(builtInDefinitions());
  readonly objects: Operations;
  readonly loop: ControllerLoop;

  constructor(options: WorldOptions = {}) {
    this.namespace = options.namespace ?? "default";
    this.store = new Store(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit });
    const random = seededRandom(options.seed ?? 1);
    this.objects = new Operations({ store: this.store, clock: this.clock, random });
    const { objects, registry, clock } = this;
    this.loop = simulatedCluster({ objects, registry, clock, rootCertificate: "PEM" });
  }

  /** Started, with its namespace. */
  static async running(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    world.create("/v1/namespaces", { metadata: { name: world.namespace } });
    world.loop.start();
    await world.settle();
    return world;
  }

  kind(path: string): ResourceDefinition {
    const [group = "", version = "", plural = ""] = path.split("/");
    const definition = this.registry.find(group, version, plural);
    if (!definition) throw new Error(`no kind at ${path}`);
    return definition;
  }

  create(path: string, body: object, namespace = this.namespace): KubeObject {
    const definition = this.kind(path);
    return this.objects.create(definition, definition.namespaced ? namespace : undefined, body as Json, context).object;
  }

  get(path: string, name: string, namespace = this.namespace): KubeObject {
    const definition = this.kind(path);
    return this.objects.get(definition, definition.namespaced ? { namespace, name } : { name });
  }

  find(path: string, name: string, namespace = this.namespace): KubeObject | undefined {
    try {
      return this.get(path, name, namespace);
    } catch (error) {
      if (error instanceof StatusError && error.status === 404) return undefined;
      throw error;
    }
  }

  list(path: string, namespace = this.namespace): readonly KubeObject[] {
    return this.objects.list(this.kind(path), { namespace }).items;
  }

  names(path: string, namespace = this.namespace): readonly string[] {
    return this.list(path, namespace).map(({ metadata }) => metadata.name);
  }

  patch(path: string, name: string, body: object, type: "merge" | "strategic" = "merge"): KubeObject {
    const definition = this.kind(path);
    const ref = definition.namespaced ? { namespace: this.namespace, name } : { name };
    return this.objects.patch(definition, ref, { type, body: body as Json }, context).object;
  }

  delete(path: string, name: string, request: Parameters<Operations["delete"]>[2] = {}): void {
    const definition = this.kind(path);
    this.objects.delete(definition, definition.namespaced ? { namespace: this.namespace, name } : { name }, request);
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    await this.clock.advance(0);
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }
}

export const statusNumber = (object: KubeObject, field: string): number => asNumber(asObject(object.status)[field]);

export const POD_TEMPLATE = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "main", image: "web:1" }] },
};

export const deployment = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { replicas: 3, selector: { matchLabels: { app: "web" } }, template: POD_TEMPLATE, ...spec },
});
