import { type Clock, systemClock } from "../../src/base/clock.ts";
import { parseDuration } from "../../src/base/duration.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createListWatch } from "../../src/kube/list-watch.ts";
import { type KubeObject, keyOf, type ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { ResourceCache } from "../../src/kube/resource-cache.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { readConnectionSecret } from "../rotation/connection-secret.ts";
import { Mirror } from "../rotation/mirror.ts";
import { DerivedLog } from "./derived-log.ts";
import type { Repair, SeenRotation } from "./judge.ts";
import { type Population, SOAK, type TrackedKind, trackedKinds } from "./resources.ts";
import { RotationLog } from "./rotation-log.ts";

/** What was known last of a resource that has keys. */
export interface LastSeen {
  readonly activeId: string | undefined;
  readonly sequence: number;
  readonly keyIds: readonly string[];
  readonly pendingName: string | undefined;
  /** Ready and Synced are True. */
  readonly isHealthy: boolean;
  readonly object: Pick<KubeObject, "metadata">;
}

const DERIVED_FROM = "keyturn.dev/derived-from";

/**
 * Follows everything with a policy, and the Secrets, by watches of its own that no fault touches: when rotations were due,
 * begun and done, when what is derived followed, and when a Secret that was harmed was whole again.
 */
export class SoakWatch {
  readonly log = new RotationLog();
  readonly derived: DerivedLog;
  readonly secrets: Mirror;
  readonly repairs: Repair[] = [];
  readonly lastSeen = new Map<string, LastSeen>();
  readonly #clock: Clock;
  readonly #derivedNames: ReadonlySet<string>;
  readonly #harmed = new Map<string, { readonly secret: KubeObject; readonly harmedAt: number }>();
  readonly #listeners = new Map<string, (secret: KubeObject) => void>();
  readonly #stopping = new AbortController();
  readonly #running: readonly Promise<void>[];
  readonly #synced: readonly Promise<void>[];

  constructor(kube: Kube, population: Pick<Population, "bound">, clock: Clock = systemClock) {
    this.#clock = clock;
    const derived = Map.groupBy(population.bound, ({ source }) => source.name);
    this.derived = new DerivedLog(new Map([...derived].map(([source, all]) => [source, all.map(({ name }) => name)])));
    this.#derivedNames = new Set(population.bound.map(({ name }) => name));
    this.secrets = new Mirror(kube, secretType, (secret) => this.#seeSecret(secret));
    const watches = trackedKinds.map((kind) => this.#follow(kube, kind));
    this.#running = watches.map(({ running }) => running);
    this.#synced = watches.map(({ synced }) => synced);
  }

  async synced(): Promise<void> {
    await Promise.all([this.secrets.synced(), ...this.#synced]);
  }

  /** Tells of every state that this Secret is in from now on. */
  onSecret(ref: ObjectRef, listener: (secret: KubeObject) => void): void {
    const key = keyOf(ref);
    const before = this.#listeners.get(key);
    this.#listeners.set(key, (secret) => {
      before?.(secret);
      listener(secret);
    });
  }

  /** Somebody harms this Secret now, which was like this before; false where that is so already. */
  harmed(secret: KubeObject): boolean {
    const { name } = secret.metadata;
    if (this.#harmed.has(name)) return false;
    this.#harmed.set(name, { secret, harmedAt: this.#clock.now() });
    return true;
  }

  /** Those that were harmed and are not whole yet, as if that never came. */
  unrepaired(): readonly Repair[] {
    return [...this.#harmed].map(([secret, { harmedAt }]) => ({ secret, harmedAt, wholeAt: Number.POSITIVE_INFINITY }));
  }

  /** All rotations that were due from then on, those that are not done included. */
  rotationsSince(fromAt: number): readonly SeenRotation[] {
    const nowAt = this.#clock.now();
    const all = [this.log, this.derived].flatMap((log) => [...log.rotations, ...log.unfinished(nowAt)]);
    return all.filter(({ dueAt }) => dueAt >= fromAt);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.secrets.stop(), ...this.#running]);
  }

  #follow(kube: Kube, kind: TrackedKind): { readonly running: Promise<void>; readonly synced: Promise<void> } {
    const synced = Promise.withResolvers<void>();
    const listWatch = createListWatch<true>({
      kube,
      type: kind.type,
      clock: this.#clock,
      random: systemRandom,
      logger: silentLogger,
      cache: new ResourceCache<true>(),
      transform: (object) => this.#see(kind, object),
      onDelta: (delta) => {
        if (delta.type === "deleted") this.#forget(`${kind.type.kind}/${delta.key.split("/").at(-1)}`);
      },
      onSynced: () => synced.resolve(),
    });
    return { running: listWatch.run(this.#stopping.signal), synced: synced.promise };
  }

  #see({ type, readStatus, readRotation }: TrackedKind, object: KubeObject): true {
    const resource = `${type.kind}/${object.metadata.name}`;
    const { activeId, sequence, isPending, createdAt, retired, condition } = readStatus(object);
    const { metadata } = object;
    const { uid, name, namespace, ownerReferences } = metadata;
    this.lastSeen.set(resource, {
      activeId,
      sequence,
      keyIds: [...(activeId === undefined ? [] : [activeId]), ...retired.map(({ id }) => id)],
      isHealthy: ["Ready", "Synced"].every((type) => condition(type).startsWith("True")),
      pendingName: (object.status as { readonly pending?: { readonly name?: string } } | undefined)?.pending?.name,
      object: { metadata: { uid, name, namespace, ownerReferences } as KubeObject["metadata"] },
    });
    const rotation = readRotation(object);
    if (!rotation || metadata.deletionTimestamp !== undefined) return true;
    const delayMs = parseDuration((object.spec as { readonly delay?: string }).delay ?? "0s");
    const dueAt = createdAt + parseDuration(rotation.frequency) + delayMs;
    this.log.see({ resource, at: this.#clock.now(), dueAt, sequence, isPending });
    return true;
  }

  #forget(resource: string): void {
    this.lastSeen.delete(resource);
    this.log.forget(resource);
  }

  #seeSecret(secret: KubeObject): void {
    const { namespace, name, annotations = {} } = secret.metadata;
    if (namespace !== SOAK) return;
    const at = this.#clock.now();
    const { keyId, credentials } = readConnectionSecret(secret);
    if (keyId !== undefined && credentials !== undefined) {
      this.derived.published(name, keyId, at);
      this.#whole(secret, at);
    }
    const derivedFrom = annotations[DERIVED_FROM];
    if (derivedFrom !== undefined && this.#derivedNames.has(name)) this.derived.derived(name, derivedFrom, at);
    this.#listeners.get(keyOf(secret.metadata))?.(secret);
  }

  /** What it was before it was harmed may be told of late; it is no repair. */
  #whole({ metadata: { name, resourceVersion } }: KubeObject, at: number): void {
    const harm = this.#harmed.get(name);
    if (!harm || harm.secret.metadata.resourceVersion === resourceVersion) return;
    this.#harmed.delete(name);
    this.repairs.push({ secret: name, harmedAt: harm.harmedAt, wholeAt: at });
  }
}
