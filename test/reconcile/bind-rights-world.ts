import { bindResources } from "../../src/api/bind/bind-resources.ts";
import { definitionOf } from "../../src/api/custom-resource.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import { apiVersionOf } from "../../src/kube/objects.ts";
import { bindControllers } from "../../src/reconcile/bind/bind-controllers.ts";
import { createRndcKeyController, RNDC_KEYS } from "../../src/reconcile/bind/rndc-key-controller.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { createRestartController } from "../../src/reconcile/restart/restart-controller.ts";
import { RestartKnowledge } from "../../src/reconcile/restart/restart-knowledge.ts";
import { RESTART } from "../../src/reconcile/restart/restart-name.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { memorySend } from "../../src/sandbox/named/memory-send.fixture.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { rightsUsedIn } from "./used-rights.ts";
import { NOTHING_OUTSIDE, WorldOperator } from "./world-operator.ts";

export const NAMESPACE = "net";
const OPERATOR_NAMESPACE = "keyturn-system";

type Make = (settings: ControllerSettings) => Controller;

/** Each controller in an operator of its own, so that everybody's calls can be told apart. */
export class BindRightsWorld {
  readonly #cluster = embeddedCluster();
  readonly kube = this.#cluster.kube;
  readonly operators = new Map<string, WorldOperator>();
  /** The workloads that a restart controller in the same process would know to bear a mark. */
  marked: readonly string[] = [];

  static async begin(): Promise<BindRightsWorld> {
    const world = new BindRightsWorld();
    world.#cluster.server.start();
    for (const resource of bindResources) {
      const definition = JSON.parse(JSON.stringify(definitionOf(resource))) as KubeObject;
      await world.kube.create<KubeObject>(customResourceDefinitions, definition);
    }
    for (const name of [NAMESPACE, OPERATOR_NAMESPACE]) await world.make(namespaceType, name, {});
    for (const [name, make] of world.#makers()) world.operators.set(name, world.#operatorOf(make));
    await world.pass(5_000);
    return world;
  }

  #makers(): readonly (readonly [name: string, make: Make])[] {
    const send = memorySend(() => undefined);
    const knowledge = new RestartKnowledge({ prefixes: ["keyturn.dev"], reloader: false });
    knowledge.fill({ isFresh: () => true, optedIn: () => undefined, markedFor: () => this.marked });
    return [
      ...bindControllers.map(({ name, create }): readonly [string, Make] => [
        name,
        (settings) => create({ ...settings, send }),
      ]),
      [RNDC_KEYS, (settings) => createRndcKeyController({ ...settings, knowledge }, { send })],
      [RESTART, createRestartController],
    ];
  }

  #operatorOf(make: Make): WorldOperator {
    const { clock, random, transport } = this.#cluster;
    const world = { clock, random, transport, sandbox: NOTHING_OUTSIDE };
    const createControllers = (settings: ControllerSettings): readonly Controller[] => [make(settings)];
    return new WorldOperator({ ...world, createControllers }, { namespace: OPERATOR_NAMESPACE });
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) await this.#cluster.clock.advance(1_000);
  }

  /** And what comes of it. */
  async make(type: ResourceType, name: string, fields: object): Promise<void> {
    const metadata = { name, ...(type.namespaced && { namespace: NAMESPACE }) };
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...fields };
    await this.kube.create<KubeObject>(type, object as KubeObject);
    await this.pass(20_000);
  }

  async change(type: ResourceType, name: string, body: object): Promise<void> {
    const ref = { name, ...(type.namespaced && { namespace: NAMESPACE }) };
    await this.kube.patch(type, ref, { type: "merge", body }, { fieldManager: "kubectl" });
    await this.pass(20_000);
  }

  rightsUsedBy(name: string): ReadonlySet<string> {
    return rightsUsedIn(this.operators.get(name)?.requests ?? []);
  }

  async stop(): Promise<void> {
    for (const operator of this.operators.values()) await operator.stop();
    await this.#cluster.server.stop();
  }
}
