import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { bindResources } from "../../src/api/bind/bind-resources.ts";
import { definitionOf } from "../../src/api/custom-resource.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { podLabels } from "../../src/bind/instance-objects.ts";
import { type RingKey, ringFromJson } from "../../src/bind/key-ring.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { Transport } from "../../src/kube/transport.ts";
import type { SendCommand } from "../../src/providers/bind/ports.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { createRndcKeyController } from "../../src/reconcile/bind/rndc-key-controller.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import { type RndcKey, secretText } from "../../src/rndc/key.ts";
import { parseRndcKey } from "../../src/rndc/key-file.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { memorySend } from "../../src/sandbox/named/memory-send.fixture.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { NamedKubelet } from "./named-kubelet.ts";
import { NOTHING_OUTSIDE, type OperatedWorld, WorldOperator } from "./world-operator.ts";

type Fields = Readonly<Record<string, unknown>>;

export const NAMESPACE = "default";
export const NAME = "web-rndc";
const KEY_FILE = "rndc.key";

export interface KeyStatus {
  readonly atProvider?: { readonly id: string; readonly name: string; readonly createdAt: string };
  readonly pending?: { readonly name: string; readonly id?: string };
  readonly retiredKeys?: readonly { readonly id: string; readonly cause: string }[];
  readonly sequence?: number;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message?: string;
  }[];
}

/** A key that is replaced every two hours, and lives half an hour beside the next one. */
export const keyOfInstance = (spec: Fields = {}): KubeObject => ({
  apiVersion: apiVersionOf(rndcKey),
  kind: rndcKey.kind,
  metadata: { name: NAME, namespace: NAMESPACE },
  spec: {
    secret: { name: NAME },
    keyName: "bindy-operator",
    strategy: "Overlap",
    instances: ["web"],
    rotation: { frequency: "2h", ttl: "150m" },
    ...spec,
  },
});

/**
 * An embedded API with pods of one instance, a kubelet that runs a stand-in for named in each of them, and the wired
 * operator. Whenever a Secret is written, and whenever time has passed, what is published must be accepted by all.
 */
export class RndcKeyWorld implements OperatedWorld {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly random = this.#cluster.random;
  readonly kube = this.#cluster.kube;
  readonly sandbox = NOTHING_OUTSIDE;
  readonly kubelet = new NamedKubelet({
    kube: this.kube,
    around: this.#cluster,
    namespace: NAMESPACE,
    secrets: [NAME, `${NAME}-ring`],
  });
  readonly transport: Transport = {
    send: async (request) => {
      const response = await this.#cluster.transport.send(request);
      if (request.method !== "GET" && request.path.includes("/secrets")) this.#check(request.method);
      return response;
    },
    close: () => this.#cluster.transport.close(),
  };
  /** When a named did not accept what was published. */
  readonly lockouts: string[] = [];
  commands: string[] = [];
  operator = new WorldOperator(this);

  static async begin<W extends RndcKeyWorld>(this: new () => W, pods = 2): Promise<W> {
    const world = new this();
    world.#cluster.server.start();
    for (const resource of bindResources) {
      const definition = JSON.parse(JSON.stringify(definitionOf(resource))) as KubeObject;
      await world.kube.create<KubeObject>(customResourceDefinitions, definition);
    }
    for (let index = 0; index < pods; index++) await world.addPod(`web-${index}`);
    await world.pass(2_000);
    return world;
  }

  createControllers(settings: ControllerSettings): readonly Controller[] {
    const send = memorySend((host) => this.kubelet.listenerAt(host));
    const isSilenced = (): boolean => this.operator.isDead;
    const sendUnlessDead: SendCommand = (options) => {
      if (isSilenced()) return new Promise(() => {});
      this.commands.push(options.command);
      return send(options);
    };
    return [createRndcKeyController(settings, { send: sendUnlessDead })];
  }

  /** Another process: nothing of the former one's memory is left. */
  begunAnew(): WorldOperator {
    this.operator = new WorldOperator(this);
    return this.operator;
  }

  async addPod(name: string, instance = "web"): Promise<void> {
    const containers = [{ name: "named", image: "bind9" }];
    const pod = { metadata: { name, namespace: NAMESPACE, labels: podLabels(instance) }, spec: { containers } };
    await this.kube.create<KubeObject>(podType, { apiVersion: "v1", kind: "Pod", ...pod });
  }

  async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed));
      await this.kubelet.work();
      this.#check("time");
    }
  }

  /** Whoever takes the key from the Secret now must be let in everywhere. */
  #check(when: string): void {
    const secret = this.#cluster.server.store.get("secrets", `${NAMESPACE}/${NAME}`);
    const key = secret && KEY_FILE in (secret.data as object) ? keyIn(secret) : undefined;
    for (const { name, accepted } of key ? this.kubelet.running : []) {
      if (!accepted.some((one) => isSame(one, key as RndcKey))) {
        this.lockouts.push(`${new Date(this.clock.now()).toISOString()} ${when}: ${name}`);
      }
    }
  }

  create(spec: Fields = {}): Promise<KubeObject> {
    return this.kube.create<KubeObject>(rndcKey, keyOfInstance(spec));
  }

  patch(body: Fields): Promise<KubeObject> {
    return this.kube.patch(rndcKey, { namespace: NAMESPACE, name: NAME }, { type: "merge", body });
  }

  annotate(annotations: Fields): Promise<KubeObject> {
    return this.patch({ metadata: { annotations } });
  }

  patchSecret(body: Fields, name: string = NAME): Promise<KubeObject> {
    return this.kube.patch(secretType, { namespace: NAMESPACE, name }, { type: "merge", body });
  }

  async status(): Promise<KeyStatus> {
    return ((await this.kube.get(rndcKey, { namespace: NAMESPACE, name: NAME })).status ?? {}) as KeyStatus;
  }

  async activeId(): Promise<string> {
    const { atProvider } = await this.status();
    assert.ok(atProvider, "there is no active key");
    return atProvider.id;
  }

  /** Status, reason and message of Synced. */
  async problem(): Promise<string> {
    const synced = (await this.status()).conditions?.find(({ type }) => type === "Synced");
    return `${synced?.status} ${synced?.reason}: ${synced?.message ?? ""}`;
  }

  async secret(name: string = NAME): Promise<KubeObject | undefined> {
    try {
      return await this.kube.get(secretType, { namespace: NAMESPACE, name });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async publishedKey(): Promise<RndcKey> {
    const secret = await this.secret();
    assert.ok(secret, "nothing is published");
    return keyIn(secret);
  }

  async ring(): Promise<readonly RingKey[]> {
    const { data = {} } = ((await this.secret(`${NAME}-ring`)) ?? {}) as {
      readonly data?: Readonly<Record<string, string>>;
    };
    const text = Buffer.from(data["ring.json"] ?? "", "base64").toString();
    return text === "" ? [] : ringFromJson(new Redacted(text)).keys;
  }

  async ringData(): Promise<Readonly<Record<string, string>>> {
    return ((await this.secret(`${NAME}-ring`))?.data ?? {}) as Readonly<Record<string, string>>;
  }

  async events(reason: string): Promise<readonly string[]> {
    const events = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true };
    const { items } = await this.kube.list(events, { namespace: NAMESPACE });
    return items.filter((event) => event.reason === reason).map((event) => String(event.note));
  }

  /** One key, published, in the ring and in use everywhere, and no other anywhere. */
  async assertAtRest(what = ""): Promise<void> {
    const status = await this.status();
    assert.equal(status.pending, undefined, `${what}: nothing is pending`);
    assert.equal(status.retiredKeys, undefined, `${what}: nothing is retired`);
    assert.deepEqual(
      (await this.ring()).map(({ id, phase }) => [id, phase]),
      [[await this.activeId(), "accepted"]],
      what,
    );
    const published = await this.publishedKey();
    for (const { name, accepted } of this.kubelet.running) {
      assert.equal(accepted.length, 1, `${what}: ${name} accepts one key`);
      assert.ok(accepted[0] && isSame(accepted[0], published), `${what}: ${name} accepts the published key`);
    }
    assert.deepEqual(this.lockouts, [], `${what}: nobody was locked out`);
    assert.match(await this.problem(), /^True/, what);
  }

  async stop(): Promise<void> {
    if (!this.operator.isDead) await this.operator.stop();
    await this.#cluster.server.stop();
  }
}

function keyIn({ data }: KubeObject): RndcKey {
  const { [KEY_FILE]: file = "" } = data as Readonly<Record<string, string>>;
  return parseRndcKey(new Redacted(Buffer.from(file, "base64").toString())).key;
}

/** Under the same name too: updates are signed with it. */
export const isSame = (a: RndcKey, b: RndcKey): boolean =>
  a.name === b.name && a.algorithm === b.algorithm && secretText(a).reveal() === secretText(b).reveal();
