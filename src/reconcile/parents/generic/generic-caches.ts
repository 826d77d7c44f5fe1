import { rotationClass } from "../../../api/keyturn/rotation-class.ts";
import type { ResourceCache } from "../../../kube/resource-cache.ts";
import type { Watch } from "../../../runtime/controller.ts";
import type { ManagedKind } from "../../managed/managed-kind.ts";
import { type CredentialRecord, credentialRecord, isWish } from "../../managed/managed-watches.ts";
import type { Known } from "../../managed/rest.ts";
import { type RotationClassRules, readClass } from "./rotation-class-rules.ts";

/** The watches of RotatingResources: they themselves, and their classes. No child, no Secret. */
export const resourceWatch = (kind: ManagedKind): Watch<CredentialRecord> => ({
  source: {
    type: kind.type,
    record: (object) => credentialRecord(kind, object),
    // What is said to be the provider's configuration is the class.
    indexes: { class: ({ providerConfig: name }) => [name] },
  },
  keysOf: ({ key }) => [key],
  isWish,
});

export const classWatch = (usersOf: (name: string) => readonly string[]): Watch<RotationClassRules> => ({
  source: { type: rotationClass, record: readClass },
  keysOf: ({ key }) => usersOf(key),
});

/** What these watches know; it may be behind, by as much as the server takes to tell. */
export class GenericCaches implements Known {
  readonly #resources: ResourceCache<CredentialRecord>;
  readonly #classes: ResourceCache<RotationClassRules>;
  readonly seesSecrets = false;

  constructor(caches: {
    readonly resources: ResourceCache<CredentialRecord>;
    readonly classes: ResourceCache<RotationClassRules>;
  }) {
    this.#resources = caches.resources;
    this.#classes = caches.classes;
  }

  resource(key: string): string | undefined {
    return this.#resources.entry(key)?.resourceVersion;
  }

  secret(): undefined {
    return undefined;
  }

  secretPosition(): string {
    return "0";
  }

  publishedOf(): readonly never[] {
    return [];
  }

  inputs(key: string): string {
    const name = this.#resources.get(key)?.providerConfig ?? "";
    return this.#classes.entry(name)?.resourceVersion ?? "";
  }

  classOf(name: string): RotationClassRules | undefined {
    return this.#classes.get(name);
  }

  usersOf(name: string): readonly string[] {
    return this.#resources.find("class", name).map(({ key }) => key);
  }

  readonly credentialViews = (): Iterable<CredentialRecord & { readonly key: string }> =>
    Array.from(this.#resources.entries(), ({ key, record }) => ({ ...record, key }));
}
