import type { EmbeddedServer } from "../embedded/embedded-server.ts";
import { type KubeObject, keyOf } from "../kube/objects.ts";
import { type MarkedSecret, markedSecret, ownerUidOf, type SecretAddress } from "../publish/secret-publisher.ts";
import { versionOf } from "../reconcile/managed/family-source.ts";
import type { Known } from "../reconcile/managed/rest.ts";

type Store = EmbeddedServer["store"];

/** All that the watches of a process have told it. */
interface Told {
  readonly position: string;
  readonly resources: ReadonlyMap<string, KubeObject>;
  readonly secrets: ReadonlyMap<string, KubeObject>;
  readonly configs: ReadonlyMap<string, KubeObject>;
}

const CREDENTIALS = "default/service-manager";

/**
 * What one process knows from its watches: what is stored, or what was stored when its watches came to a standstill. Must
 * not: be a reason to write anything; whether it is one is what the simulation finds out.
 */
export class WatchView implements Known {
  readonly #store: Store;
  #told: Told | undefined;
  /** The world's step at which they came to a standstill; Infinity while they run. */
  standsSince = Infinity;

  constructor(store: Store) {
    this.#store = store;
  }

  get isBehind(): boolean {
    return this.#told !== undefined;
  }

  standStill(step: number): void {
    this.standsSince = step;
    this.#told = {
      position: String(this.#store.revision),
      resources: this.#all("servicebindings.account.btp.sap.crossplane.io"),
      secrets: this.#all("secrets"),
      configs: this.#all("providerconfigs.account.btp.sap.crossplane.io"),
    };
  }

  catchUp(): void {
    this.#told = undefined;
    this.standsSince = Infinity;
  }

  resource(key: string): string | undefined {
    return this.#find("resources", "servicebindings.account.btp.sap.crossplane.io", key)?.metadata.resourceVersion;
  }

  secret(address: SecretAddress): string | undefined {
    const secret = this.#find("secrets", "secrets", keyOf(address));
    return secret && ownerUidOf(secret.metadata) !== undefined ? secret.metadata.resourceVersion : undefined;
  }

  secretPosition(): string {
    return this.#told?.position ?? String(this.#store.revision);
  }

  inputs(): string {
    return this.versionOf("default") ?? "";
  }

  /** Of a ProviderConfig and its credentials. */
  versionOf(name: string): string | undefined {
    const config = this.#find("configs", "providerconfigs.account.btp.sap.crossplane.io", name);
    const secret = this.#find("secrets", "secrets", CREDENTIALS);
    const [configVersion, secretVersion] = [config?.metadata.resourceVersion, secret?.metadata.resourceVersion];
    if (configVersion === undefined || secretVersion === undefined) return undefined;
    return versionOf(configVersion, [secretVersion]);
  }

  publishedOf(ownerUid: string): readonly MarkedSecret[] {
    const secrets = this.#told ? [...this.#told.secrets.values()] : this.#store.list("secrets");
    return secrets
      .filter(({ metadata }) => ownerUidOf(metadata) === ownerUid)
      .map(({ metadata }) => markedSecret(metadata));
  }

  #find(told: "resources" | "secrets" | "configs", kind: string, key: string): KubeObject | undefined {
    return this.#told ? this.#told[told].get(key) : this.#store.get(kind, key);
  }

  #all(kind: string): ReadonlyMap<string, KubeObject> {
    return new Map(this.#store.list(kind).map((object) => [keyOf(object.metadata), object]));
  }
}
