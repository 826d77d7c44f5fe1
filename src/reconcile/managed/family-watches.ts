import { createHash } from "node:crypto";
import { rotationInstant } from "../../engine/dates.ts";
import { type KubeObject, keyOf, type ObjectMeta } from "../../kube/objects.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import {
  type MarkedSecret,
  markedSecret,
  ownerUidOf,
  PUBLISHED_SELECTOR,
  type SecretAddress,
  secretType,
} from "../../publish/secret-publisher.ts";
import type { Watch } from "../../runtime/controller.ts";
import { CREDENTIALS_LABEL } from "./config-keeper.ts";
import type { ManagedFamily } from "./family.ts";
import type { ManagedKind } from "./managed-kind.ts";
import { fieldsOf, itemsOf, textOf } from "./read-fields.ts";

/** What is kept of a managed resource: whom it depends on, and what metrics tell. */
export interface ManagedRecord {
  readonly providerConfig: string;
  /** The object of its service instance, by name; `*` when it selects one by labels. */
  readonly instance: string | undefined;
  readonly activeSince: number | undefined;
  readonly rotationAt: number;
  readonly retired: number;
  readonly isHealthy: boolean;
  /** Differs when somebody asks for something else. */
  readonly wish: string;
}

export interface PublishedRecord extends MarkedSecret {
  readonly ownerUid: string;
  /** The resource of that UID; undefined when it is of another kind. */
  readonly owner: string | undefined;
}

export interface ConfigRecord {
  /** Each once, in the order in which it is named. */
  readonly secrets: readonly SecretAddress[];
}

/** Keys of the queue that mean a ProviderConfig. No object's name has a colon. */
const CONFIG_PREFIX = "ProviderConfig:";
export const configKey = (name: string): string => `${CONFIG_PREFIX}${name}`;
export const configOf = (key: string): string | undefined =>
  key.startsWith(CONFIG_PREFIX) ? key.slice(CONFIG_PREFIX.length) : undefined;

/** The name under which a selection by labels is filed: any instance may become the one. */
export const ANY_INSTANCE = "*";

export function managedWatch(family: ManagedFamily): Watch<ManagedRecord> {
  return {
    type: family.kind.type,
    record: (object) => managedRecord(family, object),
    indexes: {
      config: ({ providerConfig: name }) => [name],
      instance: ({ instance }) => (instance === undefined ? [] : [instance]),
    },
    // A configuration hears of those who come and go: it stays as long as somebody needs it.
    keysOf: (delta) => {
      const names = new Set(recordsOf(delta).map(({ providerConfig: name }) => name));
      const isConcerned = delta.type !== "updated" || names.size > 1;
      return [delta.key, ...(isConcerned ? [...names].map(configKey) : [])];
    },
    isWish: (delta) => delta.type !== "updated" || delta.old.record.wish !== delta.entry.record.wish,
  };
}

export function publishedWatch({ kind }: ManagedFamily): Watch<PublishedRecord> {
  return {
    type: secretType,
    selection: { labelSelector: PUBLISHED_SELECTOR },
    metadataOnly: true,
    record: ({ metadata }) => publishedRecord(kind, metadata),
    indexes: { owner: ({ ownerUid }) => [ownerUid] },
    keysOf: (delta) => recordsOf(delta).flatMap(({ owner }) => (owner === undefined ? [] : [owner])),
  };
}

/** Whoever uses a configuration looks again when it changes; `usersOf` finds them. */
export const configWatch = (
  family: ManagedFamily,
  usersOf: (name: string) => readonly string[],
): Watch<ConfigRecord> => ({
  type: family.configType,
  record: (config) => ({ secrets: secretsOf(family, config) }),
  indexes: { secret: ({ secrets }) => secrets.map(keyOf) },
  keysOf: ({ key }) => [configKey(key), ...usersOf(key)],
});

export const credentialsWatch = (
  family: ManagedFamily,
  usersOf: (secret: string) => readonly string[],
): Watch<undefined> => ({
  type: secretType,
  selection: { labelSelector: `${CREDENTIALS_LABEL}=${family.name}` },
  metadataOnly: true,
  record: () => undefined,
  keysOf: ({ key }) => usersOf(key),
});

export const instanceWatch = (
  family: ManagedFamily,
  usersOf: (name: string) => readonly string[],
): Watch<undefined> => ({
  type: family.instances.type,
  record: () => undefined,
  keysOf: ({ key }) => usersOf(key),
});

function recordsOf<R>(delta: Delta<R>): readonly R[] {
  if (delta.type === "added") return [delta.entry.record];
  return delta.type === "deleted" ? [delta.old.record] : [delta.old.record, delta.entry.record];
}

function managedRecord({ kind, instances }: ManagedFamily, object: KubeObject): ManagedRecord {
  const forProvider = fieldsOf(fieldsOf(object.spec).forProvider);
  const { active, retired, postponedUntil } = kind.readState(object);
  const selects = forProvider[instances.selector] !== undefined;
  const instance = textOf(fieldsOf(forProvider[instances.ref]).name) ?? (selects ? ANY_INSTANCE : undefined);
  const policy = policyOf(kind, object);
  return {
    providerConfig: kind.readDeparture(object).providerConfig,
    instance: forProvider[instances.id] === undefined ? instance : undefined,
    activeSince: active?.createdAt,
    rotationAt: active && policy ? rotationInstant(policy, active, postponedUntil) : Infinity,
    retired: retired.length,
    isHealthy: ["Ready", "Synced"].every((type) => isTrue(object, type)),
    wish: wishOf(object.metadata),
  };
}

/** Of the spec and the annotations: by the status alone nobody asks for anything, and mostly it is us who wrote it. */
function wishOf({ generation, deletionTimestamp = "", annotations = {} }: ObjectMeta): string {
  const sorted = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHash("sha256").update(JSON.stringify(sorted)).digest("base64url").slice(0, 12);
  return `${generation} ${deletionTimestamp} ${digest}`;
}

function policyOf(kind: ManagedKind, object: KubeObject): Parameters<typeof rotationInstant>[0] | undefined {
  try {
    return kind.readSpec(object).policy;
  } catch {
    return undefined;
  }
}

const isTrue = (object: KubeObject, type: string): boolean =>
  itemsOf(fieldsOf(object.status).conditions).some(
    (condition) => condition.type === type && condition.status === "True",
  );

function publishedRecord(kind: ManagedKind, metadata: ObjectMeta): PublishedRecord {
  const { ownerReferences = [] } = metadata;
  const owner = ownerReferences.find((one) => one.kind === kind.type.kind);
  return { ...markedSecret(metadata), ownerUid: ownerUidOf(metadata) ?? "", owner: owner?.name };
}

/** The Secrets that a configuration names, each once. */
export function secretsOf(family: ManagedFamily, config: KubeObject): readonly SecretAddress[] {
  const addresses = new Map<string, SecretAddress>();
  for (const { reference } of family.secretsOf(config)) {
    const [namespace, name] = [textOf(reference.namespace), textOf(reference.name)];
    if (namespace !== undefined && name !== undefined) addresses.set(`${namespace}/${name}`, { namespace, name });
  }
  return [...addresses.values()];
}
