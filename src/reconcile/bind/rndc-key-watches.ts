import { ringNameOf } from "../../bind/key-plan.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { ResourceCache } from "../../kube/resource-cache.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { podType } from "../../restart/workload-kinds.ts";
import type { Source, Watch } from "../../runtime/controller.ts";
import { addressOf, ManagedCaches } from "../managed/managed-caches.ts";
import type { ManagedKind } from "../managed/managed-kind.ts";
import {
  type CredentialRecord,
  credentialRecord,
  isWish,
  type PublishedRecord,
  recordsOf,
} from "../managed/managed-watches.ts";
import { fieldsOf, itemsOf, textOf } from "../managed/read-fields.ts";
import { RING_LABEL } from "./rndc-key-ring-store.ts";
import { INSTANCE_LABEL, SERVERS_SELECTOR } from "./rndc-key-servers.ts";
import type { RndcKeyTroubles } from "./rndc-key-troubles.ts";

export interface RndcKeyRecord extends CredentialRecord {
  /** Keys of the instances that use it. */
  readonly instances: readonly string[];
  /** The Secret that it is published in. */
  readonly secret: string;
}

/** Keys of the RndcKeys that own a ring. */
type RingRecord = readonly string[];

export interface ServerRecord {
  /** The key of its instance. */
  readonly instance: string;
  /** Differs when the server may have come to accept something else, or nothing any more. */
  readonly state: string;
}

export const rndcKeyWatch = (kind: ManagedKind): Watch<RndcKeyRecord> => ({
  source: {
    type: kind.type,
    record: (object) => ({ ...credentialRecord(kind, object), ...usesOf(object) }),
    indexes: { instance: ({ instances }) => instances },
  },
  keysOf: ({ key }) => [key],
  isWish,
});

function usesOf({ metadata, spec }: KubeObject): Pick<RndcKeyRecord, "instances" | "secret"> {
  const { namespace = "" } = metadata;
  const { instances, secret } = fieldsOf(spec);
  const names = Array.isArray(instances) ? instances.map(String) : [];
  return {
    instances: names.map((name) => keyOf({ namespace, name })),
    secret: textOf(fieldsOf(secret).name) ?? "",
  };
}

/** `keys` are those for whose sake rings and servers are looked at. */
export const ringWatch = ({ type }: ManagedKind, keys: Source): Watch<RingRecord> => ({
  source: {
    sakes: [keys],
    type: secretType,
    selection: { labelSelector: RING_LABEL },
    metadataOnly: true,
    record: ({ metadata: { namespace = "", ownerReferences = [] } }) =>
      ownerReferences.filter(({ kind }) => kind === type.kind).map(({ name }) => keyOf({ namespace, name })),
  },
  keysOf: (delta) => [...new Set(recordsOf(delta).flat())],
});

export const serverWatch = (keys: Source, usersOf: (instance: string) => readonly string[]): Watch<ServerRecord> => ({
  source: {
    sakes: [keys],
    type: podType,
    selection: { labelSelector: SERVERS_SELECTOR },
    record: ({ metadata, status }) => {
      const { namespace = "", labels = {}, deletionTimestamp = "", uid } = metadata;
      const { podIP, phase, conditions } = fieldsOf(status);
      const ready = itemsOf(conditions).find(({ type }) => type === "Ready")?.status;
      return {
        instance: keyOf({ namespace, name: labels[INSTANCE_LABEL] ?? "" }),
        state: [uid, podIP, phase, ready, deletionTimestamp].join(" "),
      };
    },
    indexes: { instance: ({ instance }) => [instance] },
  },
  keysOf: (delta) => [...new Set(recordsOf(delta).flatMap(({ instance }) => usersOf(instance)))],
});

/** What the watches of RndcKeys know; it may be behind. */
export class RndcKeyCaches extends ManagedCaches<RndcKeyRecord> {
  readonly #rings: ResourceCache<RingRecord>;
  readonly #servers: ResourceCache<ServerRecord>;
  readonly #troubles: RndcKeyTroubles;

  constructor(caches: {
    readonly resources: ResourceCache<RndcKeyRecord>;
    readonly published: ResourceCache<PublishedRecord>;
    readonly rings: ResourceCache<RingRecord>;
    readonly servers: ResourceCache<ServerRecord>;
    readonly troubles: RndcKeyTroubles;
  }) {
    super(caches);
    this.#rings = caches.rings;
    this.#servers = caches.servers;
    this.#troubles = caches.troubles;
  }

  inputs(key: string): string {
    const record = this.resources.get(key);
    if (!record) return "";
    const ring = keyOf({ namespace: addressOf(key).namespace, name: ringNameOf(record.secret) });
    const servers = record.instances.flatMap((instance) => this.#servers.find("instance", instance));
    const states = servers.map(({ record: { state } }) => state).sort();
    return [this.#rings.entry(ring)?.resourceVersion, ...states, this.#troubles.version(key)].join();
  }

  readonly secretOf = (key: string): string | undefined => this.resources.get(key)?.secret;

  usersOf(instance: string): readonly string[] {
    return this.resources.find("instance", instance).map(({ key }) => key);
  }
}
