import { keyOf } from "../../kube/objects.ts";
import type { ResourceCache } from "../../kube/resource-cache.ts";
import type { MarkedSecret, SecretAddress } from "../../publish/secret-publisher.ts";
import type { CredentialRecord, PublishedRecord } from "./managed-watches.ts";
import type { Known } from "./rest.ts";

/** What the watches know that every managed kind has; it may be behind. */
export abstract class ManagedCaches<R extends CredentialRecord = CredentialRecord> implements Known {
  protected readonly resources: ResourceCache<R>;
  protected readonly published: ResourceCache<PublishedRecord>;

  constructor(caches: {
    readonly resources: ResourceCache<R>;
    readonly published: ResourceCache<PublishedRecord>;
  }) {
    this.resources = caches.resources;
    this.published = caches.published;
  }

  abstract inputs(key: string): string;

  resource(key: string): string | undefined {
    return this.resources.entry(key)?.resourceVersion;
  }

  secret(address: SecretAddress): string | undefined {
    return this.published.entry(keyOf(address))?.resourceVersion;
  }

  secretPosition(): string {
    return this.published.position;
  }

  publishedOf(ownerUid: string): readonly MarkedSecret[] {
    return this.published.find("owner", ownerUid).map(({ key, uid, resourceVersion, record: { keyId } }) => {
      return { address: addressOf(key), uid, resourceVersion, keyId };
    });
  }

  readonly credentialViews = (): Iterable<R & { readonly key: string }> =>
    Array.from(this.resources.entries(), ({ key, record }) => ({ ...record, key }));
}

/** Of what a key with a namespace means. */
export function addressOf(key: string): SecretAddress {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
