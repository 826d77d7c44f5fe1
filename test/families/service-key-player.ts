import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Conflict, NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { listAll } from "../bench/many-bindings.ts";
import { Mirror } from "../rotation/mirror.ts";
import type { CloudFoundryClient, MadeKey } from "../support/cloud-foundry-client.ts";
import { serviceKeys } from "./service-keys.ts";

const { type } = serviceKeys;
const FINALIZER = "keys.example.org/service-key";
const LEAVE_MS = 20_000;

export interface ServiceKeyPlayerOptions {
  readonly kube: Kube;
  /** Those in others are somebody else's. */
  readonly namespace: string;
  /** At the sandbox where the keys are. */
  readonly client: CloudFoundryClient;
}

/**
 * Plays the controller of ServiceKeys: makes a key for each of them at a sandbox Cloud Foundry, writes its Secret, says that
 * it is ready, and deletes the key when the object goes. Must not: know of anybody who makes ServiceKeys.
 */
export class ServiceKeyPlayer {
  readonly #options: ServiceKeyPlayerOptions;
  readonly #mirror: Mirror;
  /** By UID: what becomes of an object, one thing after the other. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #made = new Map<string, Promise<MadeKey>>();
  readonly #problems: string[] = [];

  constructor(options: ServiceKeyPlayerOptions) {
    this.#options = options;
    this.#mirror = new Mirror(options.kube, type, (object) => this.#see(object));
  }

  /** Lets all of them go first, since nobody else takes the finalizers off. */
  async stop(): Promise<void> {
    const { kube, namespace } = this.#options;
    const left = await listAll(kube, type, namespace);
    for (const { metadata } of left) await kube.delete(type, refOf(metadata)).catch(ignoreGone);
    for (let waitedMs = 0; this.#own().length > 0 && waitedMs < LEAVE_MS; waitedMs += 50) await sleep(50);
    await this.#mirror.stop();
    await Promise.all(this.#underWay.values());
    assert.deepEqual(this.#problems, []);
  }

  #own(): readonly KubeObject[] {
    return this.#mirror.list().filter((object) => this.#isOwn(object));
  }

  #isOwn({ metadata }: KubeObject): boolean {
    return metadata.namespace === this.#options.namespace;
  }

  #see(object: KubeObject): void {
    if (!this.#isOwn(object)) return;
    const { uid = "", name } = object.metadata;
    const before = this.#underWay.get(uid) ?? Promise.resolve();
    const work = before
      .then(() => this.#work(object))
      .catch(ignoreGone)
      .catch((error: unknown) => void this.#problems.push(`the ServiceKey ${name}: ${error}`));
    this.#underWay.set(uid, work);
  }

  async #work(object: KubeObject): Promise<void> {
    const { finalizers = [], deletionTimestamp } = object.metadata;
    const isHeld = finalizers.includes(FINALIZER);
    if (deletionTimestamp !== undefined) return isHeld ? this.#end(object) : undefined;
    if (!isHeld) return this.#hold(object, [...finalizers, FINALIZER]);
    if (!Number.isNaN(serviceKeys.readStatus(object).createdAt)) return;
    await this.#publish(object, await this.#keyOf(object));
  }

  /** One key for each object, however often it is seen. */
  #keyOf({ metadata, spec }: KubeObject): Promise<MadeKey> {
    const { uid = "", name } = metadata;
    const { serviceInstance } = spec as { readonly serviceInstance: string };
    const making = this.#made.get(uid) ?? this.#options.client.createKey(name, serviceInstance);
    this.#made.set(uid, making);
    return making;
  }

  async #publish(object: KubeObject, { guid, credentials }: MadeKey): Promise<void> {
    const { name, namespace = "", uid = "", generation, creationTimestamp } = object.metadata;
    const owner = { apiVersion: apiVersionOf(type), kind: type.kind, name, uid };
    const metadata = { name, namespace, ownerReferences: [owner] };
    const stringData = Object.fromEntries(Object.entries(credentials).map(([key, value]) => [key, String(value)]));
    await this.#options.kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, stringData });
    const said = { reason: "Available", lastTransitionTime: creationTimestamp, observedGeneration: generation };
    const conditions = ["Ready", "Synced"].map((each) => ({ type: each, status: "True", ...said }));
    const body = { status: { atProvider: { guid, createdAt: creationTimestamp }, conditions } };
    await this.#options.kube.patch(type, refOf(metadata), { type: "merge", body }, { subresource: "status" });
  }

  async #end(object: KubeObject): Promise<void> {
    const { uid = "", finalizers = [] } = object.metadata;
    const made = await this.#made.get(uid);
    if (made) await this.#options.client.deleteKey(made.guid);
    this.#made.delete(uid);
    await this.#hold(
      object,
      finalizers.filter((each) => each !== FINALIZER),
    );
  }

  async #hold({ metadata }: KubeObject, finalizers: readonly string[]): Promise<void> {
    const { resourceVersion } = metadata;
    const body = { metadata: { resourceVersion, finalizers } };
    await this.#options.kube.patch(type, refOf(metadata), { type: "merge", body });
  }
}

const refOf = ({ name, namespace }: ObjectRef): ObjectRef => ({ name, ...(namespace !== undefined && { namespace }) });

/** What has changed since, or gone, is seen again. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof NotFound || error instanceof Conflict)) throw error;
}
