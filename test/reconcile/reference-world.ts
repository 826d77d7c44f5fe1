import { definitionOf } from "../../src/api/custom-resource.ts";
import { customResources } from "../../src/api/custom-resources.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { BadRequest, Invalid } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { bindControllers } from "../../src/reconcile/bind/bind-controllers.ts";
import { createRndcKeyController } from "../../src/reconcile/bind/rndc-key-controller.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { korifiControllers } from "../../src/reconcile/korifi/korifi-controllers.ts";
import { serviceBindingType } from "../../src/reconcile/korifi/korifi-sources.ts";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import { createRotatingResourceController } from "../../src/reconcile/parents/generic/rotating-resource-controller.ts";
import { createRestartController } from "../../src/reconcile/restart/restart-controller.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { memorySend } from "../../src/sandbox/named/memory-send.fixture.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { ForeignControllers, installForeignKinds } from "./foreign-kinds.ts";
import { appType } from "./korifi-world.ts";
import { classOf } from "./rotating-resource-world.ts";
import { NOTHING_OUTSIDE, type OperatedWorld, WorldOperator } from "./world-operator.ts";

/** Annotations stand beside what is no metadata. */
type Fields = Readonly<Record<string, unknown>>;

export const OWN = "own";
export const OTHER = "other";
const OPERATOR_NAMESPACE = "keyturn-system";

/** What only the Secrets of the other namespace hold. */
const CANARY = Buffer.from("canary-of-the-other-namespace").toString("base64");
const FORMS = [CANARY, Buffer.from(CANARY, "base64").toString(), Buffer.from(CANARY).toString("base64").slice(0, 36)];

/**
 * Every controller of kinds that have a namespace, on kinds without a schema: whatever a schema would have refused gets to
 * those who read it. Beside the namespace in which people write there is another one, with everything under the same names.
 */
export class ReferenceWorld implements OperatedWorld {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly random = this.#cluster.random;
  readonly transport = this.#cluster.transport;
  readonly kube = this.#cluster.kube;
  readonly sandbox = NOTHING_OUTSIDE;
  readonly #others = new ForeignControllers(this.kube, this.clock);
  readonly #operator: WorldOperator;
  #seen = 0;

  private constructor() {
    this.#cluster.server.start();
    this.#operator = new WorldOperator(this, { namespace: OPERATOR_NAMESPACE, korifi: "on" });
  }

  static async begin(): Promise<ReferenceWorld> {
    const world = new ReferenceWorld();
    for (const resource of customResources) {
      await world.kube.create<KubeObject>(customResourceDefinitions, withoutSchema(definitionOf(resource)));
    }
    await installForeignKinds(world.kube);
    for (const type of [appType, serviceBindingType]) await installForeignKind(world.kube, type);
    for (const name of [OWN, OTHER, OPERATOR_NAMESPACE]) {
      await world.kube.create<KubeObject>(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    const rotationClass = customResources.find(({ kind }) => kind === "RotationClass");
    if (rotationClass) await world.kube.create<KubeObject>(rotationClass, classOf());
    await world.pass(3_000);
    return world;
  }

  createControllers(settings: ControllerSettings): readonly Controller[] {
    const { namespace, instance } = settings;
    const send = memorySend(() => undefined);
    return [
      createRotatingResourceController(settings),
      ...bindControllers.map(({ create }) => create({ namespace, instance, send })),
      createRndcKeyController(settings, { send }),
      ...korifiControllers.map(({ create }) => create(settings)),
      createRestartController(settings),
    ];
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await this.clock.advance(1_000);
      // They trip over what people have written.
      await this.#others.work(OWN).catch(() => {});
    }
  }

  /** In the own namespace. */
  put(type: ResourceType, name: string, { annotations, ...fields }: Fields): Promise<KubeObject> {
    return this.#put(type, { namespace: OWN, name, ...(annotations !== undefined && { annotations }) }, fields);
  }

  /** False where the server itself does not take it. */
  async tryToPut(type: ResourceType, name: string, fields: Fields): Promise<boolean> {
    try {
      await this.put(type, name, fields);
      return true;
    } catch (error) {
      if (error instanceof Invalid || error instanceof BadRequest) return false;
      throw error;
    }
  }

  #put(type: ResourceType, metadata: object, fields: Fields): Promise<KubeObject> {
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...fields };
    return this.kube.create<KubeObject>(type, object as KubeObject);
  }

  /** A Secret of this name in both namespaces; only that of the other one has the canary. */
  async putSecrets(name: string, values: Readonly<Record<string, string>>): Promise<void> {
    for (const namespace of [OWN, OTHER]) {
      const texts = namespace === OWN ? values : { ...values, canary: CANARY };
      const data = Object.entries(texts).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
      await this.#put(secretType, { namespace, name }, { data: Object.fromEntries(data) });
    }
  }

  /** The paths that the operator has asked for since it was last asked, segment by segment, as a server reads them. */
  asked(): readonly (readonly string[])[] {
    const requests = this.#operator.requests.slice(this.#seen);
    this.#seen = this.#operator.requests.length;
    return requests.map(({ path }) => (path.split("?")[0] ?? "").split("/").map(decodeURIComponent));
  }

  /** What of the own namespace has something of the other one in it. */
  async tainted(types: readonly ResourceType[]): Promise<readonly string[]> {
    const lists = await Promise.all(types.map((type) => this.kube.list(type, { namespace: OWN })));
    const objects = lists.flatMap(({ items }) => items);
    const isTainted = (object: KubeObject): boolean => FORMS.some((form) => JSON.stringify(object).includes(form));
    return objects.filter(isTainted).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  }

  async stop(): Promise<void> {
    await this.#operator.stop();
    await this.#cluster.server.stop();
  }
}

type Definition = ReturnType<typeof definitionOf>;

function withoutSchema(definition: Definition): KubeObject {
  const copy = JSON.parse(JSON.stringify(definition)) as { spec: { versions: Record<string, unknown>[] } };
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  for (const version of copy.spec.versions) version.schema = { openAPIV3Schema };
  // JSON tells no types: it is what came in, but for its schemas.
  return copy as unknown as KubeObject;
}
