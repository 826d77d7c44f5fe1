import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { ownName } from "../../base/own-names.ts";
import { NotFound } from "../../kube/errors.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import { jitter } from "../../runtime/due-times.ts";
import type { Outcome } from "../../runtime/workers.ts";
import type { ManagedKind } from "./managed-kind.ts";
import type { SweepResult } from "./sweep.ts";

/** On a ProviderConfig and its Secret while resources need them to get rid of their keys. */
export const IN_USE = ownName("in-use");
/** On the Secret, so that it can be watched. Its value names the kind of configuration. */
export const CREDENTIALS_LABEL = ownName("credentials-of");

/** What the watches know of configurations; it may be behind. */
export interface ConfigIndex {
  /** How many resources refer to a configuration. */
  users(name: string): number;
  /** The Secrets that carry our label. */
  heldSecrets(): readonly SecretAddress[];
  /** The Secrets that configurations with users refer to. */
  neededSecrets(): readonly SecretAddress[];
}

export interface ConfigKeeperOptions {
  readonly kind: ManagedKind;
  readonly configType: ResourceType;
  /** The Secrets that a configuration refers to. */
  readonly secretsOf: (config: KubeObject) => readonly SecretAddress[];
  readonly kube: Kube;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly index: ConfigIndex;
  readonly sweepMs: number;
  readonly sweep: (config: KubeObject, signal: AbortSignal) => Promise<SweepResult>;
}

/**
 * Looks after provider configurations: they and their Secrets stay as long as resources refer to them, so that nobody can
 * lock the door with keys inside, and from time to time keys whose resource is gone are swept. Must not: touch the keys of
 * a resource that exists.
 */
export class ConfigKeeper {
  readonly #options: ConfigKeeperOptions;
  readonly #startedTick: number;
  readonly #sweptTick = new Map<string, number>();

  constructor(options: ConfigKeeperOptions) {
    this.#options = options;
    this.#startedTick = options.clock.monotonic();
  }

  async reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    const { kube, configType, index } = this.#options;
    let config: KubeObject;
    try {
      config = await kube.get(configType, { name }, { signal });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#sweptTick.delete(name);
      await this.#releaseSecrets(signal);
      return { kind: "settled", isOver: true };
    }
    const isUnused = index.users(name) === 0 && isHeld(config) && !(await this.#hasUsers(name, signal));
    await this.#releaseSecrets(signal, isUnused ? name : undefined);
    if (isUnused) config = await this.#letGo(configType, config, signal);
    if (config.metadata.deletionTimestamp !== undefined) return { kind: "settled" };
    return this.#sweepWhenDue(config, signal);
  }

  async #sweepWhenDue(config: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { clock, sweepMs, sweep, logger } = this.#options;
    const { name, uid = "" } = config.metadata;
    const sweptTick = this.#sweptTick.get(name) ?? this.#startedTick - sweepMs + jitter(uid, sweepMs);
    const inMs = sweptTick + sweepMs - clock.monotonic();
    if (inMs > 0) return { kind: "recheck", at: clock.now() + inMs };
    const { removed, problems } = await sweep(config, signal);
    this.#sweptTick.set(name, clock.monotonic());
    if (removed > 0) logger.info("removed keys whose resource is gone", { providerConfig: name, keys: removed });
    if (problems.length > 0) throw problems[0];
    return { kind: "recheck", at: clock.now() + sweepMs };
  }

  /** The watch may be behind: before anything is let go, the server is asked. */
  async #hasUsers(name: string, signal: AbortSignal): Promise<boolean> {
    const { kube, kind } = this.#options;
    let next: string | undefined;
    do {
      const page = await kube.list(kind.type, { limit: 500, ...(next !== undefined && { continue: next }), signal });
      if (page.items.some((object) => kind.readDeparture(object).providerConfig === name)) return true;
      next = page.continue;
    } while (next !== undefined);
    return false;
  }

  /**
   * Lets go of the Secrets that no configuration in use refers to (any more). A configuration is held before its Secret
   * is, so the server knows of those that the watches have not heard of.
   */
  async #releaseSecrets(signal: AbortSignal, unused?: string): Promise<void> {
    const { index, kube, configType, secretsOf, logger } = this.#options;
    const needed = new Set(index.neededSecrets().map(keyOf));
    const spare = index.heldSecrets().filter((address) => !needed.has(keyOf(address)));
    if (spare.length === 0) return;
    const { items } = await kube.list(configType, { signal });
    const used = items.filter((config) => isHeld(config) && config.metadata.name !== unused);
    for (const secret of used.flatMap(secretsOf)) needed.add(keyOf(secret));
    for (const address of spare) {
      if (needed.has(keyOf(address))) continue;
      try {
        await this.#letGo(secretType, await kube.get(secretType, address, { signal }), signal);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
      }
      logger.info("a Secret with credentials is not needed any more", { secretName: keyOf(address) });
    }
  }

  async #letGo(type: ResourceType, { metadata }: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { resourceVersion, finalizers = [], name, namespace } = metadata;
    const body = {
      metadata: {
        resourceVersion,
        finalizers: finalizers.filter((finalizer) => finalizer !== IN_USE),
        labels: { [CREDENTIALS_LABEL]: null },
      },
    };
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    return this.#options.kube.patch(type, ref, { type: "merge", body }, { signal });
  }
}

const isHeld = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(IN_USE) ?? false;

/** Puts the finalizer on an object that is needed, unless it is there or the object is on its way out already. */
export async function holdFast(
  kube: Kube,
  type: ResourceType,
  object: KubeObject,
  options: { readonly labels?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<KubeObject> {
  const { metadata } = object;
  const { resourceVersion, finalizers = [], name, namespace } = metadata;
  const { labels = {}, signal } = options;
  const isLabelled = Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
  if ((isHeld(object) && isLabelled) || metadata.deletionTimestamp !== undefined) return object;
  const held = isHeld(object) ? finalizers : [...finalizers, IN_USE];
  const body = { metadata: { resourceVersion, finalizers: held, labels } };
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  return kube.patch(type, ref, { type: "merge", body }, { signal });
}
