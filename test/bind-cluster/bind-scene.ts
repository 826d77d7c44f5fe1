import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { CREATED_AT } from "../../src/api/bind/names.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { type RingKey, ringFromJson } from "../../src/bind/key-ring.ts";
import { NotServed } from "../../src/kube/errors.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { type Kind, kinds } from "../reconcile/bind-world.ts";
import type { KeyStatus } from "../reconcile/rndc-key-world.ts";
import { eventually } from "../support/eventually.ts";
import type { BindStage } from "./bind-stage.ts";
import { keyIn } from "./key-guard.ts";
import type { NamedPod } from "./named-pod.ts";

/** Machines that run tests are busy, and kills come on top. */
const PATIENCE_MS = 90_000;
const LONG_AGO_MS = 2 * 3_600_000;

/** A namespace in which a story is told: what a person does there, and what has come of it. */
export class BindScene {
  readonly stage: BindStage;
  readonly namespace: string;

  constructor(stage: BindStage, namespace: string) {
    this.stage = stage;
    this.namespace = namespace;
  }

  async create(kind: Kind, name: string, fields: object): Promise<KubeObject> {
    const type = kinds[kind];
    const metadata = { name, ...this.#where(kind) };
    const object = { apiVersion: apiVersionOf(type), kind, metadata, ...fields } as KubeObject;
    return this.apply(object);
  }

  /** As `kubectl create` does; a kind may be new to the server. */
  apply(manifest: KubeObject): Promise<KubeObject> {
    return eventually(`${manifest.kind} to be served`, () =>
      this.stage.kube.create<KubeObject>(kinds[manifest.kind as Kind], manifest).catch((error: unknown) => {
        if (error instanceof NotServed) return undefined;
        throw error;
      }),
    );
  }

  patch(kind: Kind, name: string, body: object): Promise<KubeObject> {
    return this.stage.kube.patch(
      kinds[kind],
      { name, ...this.#where(kind) },
      { type: "merge", body },
      { fieldManager: "kubectl" },
    );
  }

  get(kind: Kind, name: string): Promise<KubeObject | undefined> {
    return ifFound(this.stage.kube.get(kinds[kind], { name, ...this.#where(kind) }));
  }

  /** Status, reason and message of a condition. */
  async condition(kind: Kind, name: string, type: string): Promise<string> {
    const { conditions = [] } = ((await this.get(kind, name))?.status ?? {}) as KeyStatus;
    const found = conditions.find((one) => one.type === type);
    return found ? [found.status, found.reason, found.message ?? ""].join(" ").trim() : "";
  }

  async choice(instance: string): Promise<Readonly<Record<string, unknown>>> {
    const choice = fieldAt(await this.get("Bind9Instance", instance), ["status", "rndcKey"]);
    return (choice ?? {}) as Readonly<Record<string, unknown>>;
  }

  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    try {
      await eventually(`${this.namespace}: ${what}`, async () => (await isSo()) || undefined, PATIENCE_MS);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${message}\n${await this.#describe()}\n${this.stage.logOf(this.namespace)}`, { cause: error });
    }
  }

  async status(key: string): Promise<KeyStatus> {
    return ((await this.get("RndcKey", key))?.status ?? {}) as KeyStatus;
  }

  async sequenceOf(key: string): Promise<number> {
    return (await this.status(key)).sequence ?? 0;
  }

  /** Waits for a later key than the one of this number. */
  async pastSequence(key: string, sequence: number): Promise<void> {
    await this.until(`${key} past number ${sequence}`, async () => (await this.sequenceOf(key)) > sequence);
  }

  /** A rotation from one rest to the next, at the end of which every server refuses the old key. */
  async rotate(key: string, servers: number): Promise<void> {
    const sequence = await this.sequenceOf(key);
    const old = await this.published(key);
    await this.age(key);
    await this.pastSequence(key, sequence);
    await this.atRest(key, servers);
    await this.refusedEverywhere(key, old);
  }

  async published(secret: string): Promise<RndcKey> {
    const found = await this.get("Secret", secret);
    return (found && keyIn(found)) ?? assert.fail(`there is no key in ${secret}`);
  }

  async ring(secret: string): Promise<readonly RingKey[]> {
    const { data = {} } = ((await this.get("Secret", `${secret}-ring`)) ?? {}) as {
      readonly data?: Readonly<Record<string, string>>;
    };
    const text = Buffer.from(data["ring.json"] ?? "", "base64").toString();
    return text === "" ? [] : ringFromJson(new Redacted(text)).keys;
  }

  /** The pods that mount a Secret. */
  pods(secret: string): readonly NamedPod[] {
    return this.stage.kubelet.using({ namespace: this.namespace, name: secret });
  }

  /** One key: known to the resource, published, alone in the ring, and accepted by so many servers. */
  async isAtRest(key: string, servers: number): Promise<boolean> {
    const { atProvider, pending, retiredKeys } = await this.status(key);
    if (!atProvider || pending || retiredKeys) return false;
    const ring = await this.ring(key);
    const isAlone = ring.length === 1 && ring[0]?.id === atProvider.id && ring[0].phase === "accepted";
    return isAlone && (await this.letIn(key)) === servers;
  }

  /** How many servers accept what is published; none where one of them does not. */
  async letIn(secret: string): Promise<number> {
    const pods = this.pods(secret);
    if (pods.some(({ isReady }) => !isReady)) return 0;
    const key = await this.published(secret);
    const answers = await Promise.all(pods.map((pod) => pod.accepts(key)));
    return answers.every((answer) => answer === true) ? pods.length : 0;
  }

  async atRest(key: string, servers: number): Promise<void> {
    await this.until(`${key} to be at rest on ${servers} servers`, () => this.isAtRest(key, servers));
  }

  /** Every server says no. */
  async refusedEverywhere(secret: string, key: RndcKey): Promise<void> {
    const pods = this.pods(secret);
    const answers = await Promise.all(pods.map((pod) => pod.accepts(key)));
    assert.deepEqual(new Set(answers), new Set([false]), `${key.name} is refused by ${pods.length} servers`);
  }

  /** The document's way to ask for a rotation: the key is said to be older than it may get. */
  async age(secret: string): Promise<void> {
    const annotations = { [CREATED_AT]: formatInstant(Date.now() - LONG_AGO_MS) };
    await this.patch("Secret", secret, { metadata: { annotations } });
  }

  #where(kind: Kind): { readonly namespace?: string } {
    return kinds[kind].namespaced ? { namespace: this.namespace } : {};
  }

  /** For a failure: what there is, without a key. */
  async #describe(): Promise<string> {
    const { namespace, stage } = this;
    const told = ["Bind9Cluster", "Bind9Instance", "RndcKey", "Deployment", "StatefulSet"] as const;
    const lists = await Promise.all(told.map((kind) => stage.kube.list(kinds[kind], { namespace })));
    const objects = lists.flatMap(({ items }) =>
      items.map(({ kind, metadata, status }) => [kind, metadata.name, status]),
    );
    const pods = stage.kubelet.ready.filter(({ secretRef }) => secretRef.namespace === namespace);
    return JSON.stringify({ objects, ready: pods.map(({ name, address }) => `${name} ${address}`) });
  }
}
