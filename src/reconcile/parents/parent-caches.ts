import { keyOf, type ObjectRef } from "../../kube/objects.ts";
import type { Entry, ResourceCache } from "../../kube/resource-cache.ts";
import { ManagedCaches } from "../managed/managed-caches.ts";
import type { CredentialRecord, PublishedRecord } from "../managed/managed-watches.ts";
import type { ChildRecord } from "./parent-watches.ts";

/** What the watches of a parent's controller know; it may be behind. */
export class ParentCaches extends ManagedCaches {
  readonly #children: ResourceCache<ChildRecord>;

  constructor(caches: {
    readonly resources: ResourceCache<CredentialRecord>;
    readonly published: ResourceCache<PublishedRecord>;
    readonly children: ResourceCache<ChildRecord>;
  }) {
    super(caches);
    this.#children = caches.children;
  }

  /** Differs when a child of the parent, or the Secret of one, has changed. */
  inputs(key: string): string {
    const versions = this.#children.find("parent", key).map((child) => {
      const { uid, resourceVersion } = child;
      return `${uid} ${resourceVersion} ${this.#secretVersion(child) ?? ""}`;
    });
    return versions.sort().join();
  }

  /** The parents of the children that have their Secret there. */
  usersOfSecret(secret: string): readonly string[] {
    return this.#children.find("secret", secret).flatMap(({ record }) => record.parents);
  }

  /** Of the Secret of a child. */
  secretVersion(child: ObjectRef): string | undefined {
    const entry = this.#children.entry(keyOf(child));
    return entry && this.#secretVersion(entry);
  }

  #secretVersion({ record }: Entry<ChildRecord>): string | undefined {
    return record.secret && this.secret(record.secret);
  }
}
