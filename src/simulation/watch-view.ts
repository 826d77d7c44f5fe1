import type { EmbeddedServer } from "../embedded/embedded-server.ts";
import { type KubeObject, keyOf, type ResourceType } from "../kube/objects.ts";
import {
  type MarkedSecret,
  markedSecret,
  ownerUidOf,
  type SecretAddress,
  secretType,
} from "../publish/secret-publisher.ts";
import type { Known } from "../reconcile/managed/rest.ts";

type Store = EmbeddedServer["store"];

/** All that the watches of a process have told it: by kind, then by key. */
interface Told {
  readonly position: string;
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;
}

/** Under which name the store keeps a kind. */
export const storedAs = ({ plural, group }: ResourceType): string => (group === "" ? plural : `${plural}.${group}`);

/**
 * What one process knows from its watches: what is stored, or what was stored when its watches came to a standstill. Must
 * not: be a reason to write anything; whether it is one is what the simulation finds out.
 */
export class WatchView {
  readonly #store: Store;
  readonly #types: readonly ResourceType[];
  #told: Told | undefined;
  /** The world's step at which they came to a standstill; Infinity while they run. */
  standsSince = Infinity;

  /** Secrets are watched in any case. */
  constructor(store: Store, types: readonly ResourceType[]) {
    this.#store = store;
    this.#types = [secretType, ...types];
  }

  /** Up to which version they have told everything. */
  get position(): string {
    return this.#told?.position ?? String(this.#store.revision);
  }

  get isBehind(): boolean {
    return this.#told !== undefined;
  }

  standStill(step: number): void {
    this.standsSince = step;
    const objects = this.#types.map((type): readonly [string, ReadonlyMap<string, KubeObject>] => {
      const all = this.#store.list(storedAs(type));
      return [storedAs(type), new Map(all.map((object) => [keyOf(object.metadata), object]))];
    });
    this.#told = { position: String(this.#store.revision), objects: new Map(objects) };
  }

  catchUp(): void {
    this.#told = undefined;
    this.standsSince = Infinity;
  }

  find(type: ResourceType, key: string): KubeObject | undefined {
    const kind = storedAs(type);
    return this.#told ? this.#told.objects.get(kind)?.get(key) : this.#store.get(kind, key);
  }

  list(type: ResourceType): readonly KubeObject[] {
    const kind = storedAs(type);
    return this.#told ? [...(this.#told.objects.get(kind)?.values() ?? [])] : this.#store.list(kind);
  }

  /** What they have told since, one after the other; undefined where that is not known any more. */
  changesAfter(type: ResourceType, position: string): ReturnType<Store["changesAfter"]> | undefined {
    try {
      const changes = this.#store.changesAfter(storedAs(type), Number(position));
      return changes.filter(({ revision }) => revision <= Number(this.position));
    } catch {
      return undefined;
    }
  }

  /** The version of a Secret, if it is a published one. */
  publishedVersion(address: SecretAddress): string | undefined {
    const secret = this.find(secretType, keyOf(address));
    return secret && ownerUidOf(secret.metadata) !== undefined ? secret.metadata.resourceVersion : undefined;
  }

  publishedOf(ownerUid: string): readonly MarkedSecret[] {
    return this.list(secretType)
      .filter(({ metadata }) => ownerUidOf(metadata) === ownerUid)
      .map(({ metadata }) => markedSecret(metadata));
  }

  /** As the controller of this kind asks for it. */
  knownOf(type: ResourceType, inputs: (key: string) => string): Known {
    return {
      resource: (key) => this.find(type, key)?.metadata.resourceVersion,
      secret: (address) => this.publishedVersion(address),
      secretPosition: () => this.position,
      inputs,
    };
  }
}
