import { keyOf } from "../../kube/objects.ts";
import type { ResourceCache } from "../../kube/resource-cache.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { ConfigIndex } from "./config-keeper.ts";
import { versionOf } from "./family-source.ts";
import { ANY_INSTANCE, type ConfigRecord, type ManagedRecord } from "./family-watches.ts";
import { addressOf, ManagedCaches } from "./managed-caches.ts";
import type { PublishedRecord } from "./managed-watches.ts";

/** What the watches of a family's controller know, as its parts ask for it; it may be behind. */
export class FamilyCaches extends ManagedCaches<ManagedRecord> implements ConfigIndex {
  readonly #configs: ResourceCache<ConfigRecord>;
  readonly #credentials: ResourceCache<null>;
  readonly #instances: ResourceCache<null>;

  constructor(caches: {
    readonly resources: ResourceCache<ManagedRecord>;
    readonly published: ResourceCache<PublishedRecord>;
    readonly configs: ResourceCache<ConfigRecord>;
    readonly credentials: ResourceCache<null>;
    readonly instances: ResourceCache<null>;
  }) {
    super(caches);
    this.#configs = caches.configs;
    this.#credentials = caches.credentials;
    this.#instances = caches.instances;
  }

  inputs(key: string): string {
    const record = this.resources.get(key);
    if (!record) return "";
    const instance =
      record.instance === ANY_INSTANCE
        ? this.#instances.position
        : record.instance && this.#instances.entry(record.instance)?.resourceVersion;
    return `${this.versionOf(record.providerConfig)} ${instance}`;
  }

  /** As `FamilySource` writes it down; undefined when something of it is not there, or not held yet. */
  versionOf(name: string): string | undefined {
    const config = this.#configs.entry(name);
    if (!config || config.record.secrets.length === 0) return undefined;
    const versions: string[] = [];
    for (const address of config.record.secrets) {
      const secret = this.#credentials.entry(keyOf(address));
      if (!secret) return undefined;
      versions.push(secret.resourceVersion);
    }
    return versionOf(config.resourceVersion, versions);
  }

  /** The ProviderConfig that a resource uses; undefined when the resource was not seen. */
  configOf(key: string): string | undefined {
    return this.resources.get(key)?.providerConfig;
  }

  users(name: string): number {
    return this.resources.find("config", name).length;
  }

  heldSecrets(): readonly SecretAddress[] {
    return Array.from(this.#credentials.entries(), ({ key }) => addressOf(key));
  }

  neededSecrets(): readonly SecretAddress[] {
    const needed = Array.from(this.#configs.entries()).filter(({ key }) => this.users(key) > 0);
    return needed.flatMap(({ record }) => record.secrets);
  }

  usersOf(name: string): readonly string[] {
    return this.resources.find("config", name).map(({ key }) => key);
  }

  usersOfSecret(secret: string): readonly string[] {
    return this.#configs.find("secret", secret).flatMap(({ key }) => this.usersOf(key));
  }

  usersOfInstance(name: string): readonly string[] {
    return [name, ANY_INSTANCE].flatMap((one) => this.resources.find("instance", one)).map(({ key }) => key);
  }
}
