import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { type SecretAddress, secretType } from "../../publish/secret-publisher.ts";
import type { Watch } from "../../runtime/controller.ts";
import { CREDENTIALS_LABEL } from "./config-keeper.ts";
import type { ManagedFamily } from "./family.ts";
import { type CredentialRecord, credentialRecord, isWish, recordsOf } from "./managed-watches.ts";
import { fieldsOf, textOf } from "./read-fields.ts";

/** What is kept of a managed resource: whom it depends on, and what metrics tell. */
export interface ManagedRecord extends CredentialRecord {
  /** The object of its service instance, by name; `*` when it selects one by labels. */
  readonly instance: string | undefined;
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
    source: {
      type: family.kind.type,
      record: (object) => managedRecord(family, object),
      indexes: {
        config: ({ providerConfig: name }) => [name],
        instance: ({ instance }) => (instance === undefined ? [] : [instance]),
      },
    },
    // A configuration hears of those who come and go: it stays as long as somebody needs it.
    keysOf: (delta) => {
      const names = new Set(recordsOf(delta).map(({ providerConfig: name }) => name));
      const isConcerned = delta.type !== "updated" || names.size > 1;
      return [delta.key, ...(isConcerned ? [...names].map(configKey) : [])];
    },
    isWish,
  };
}

/** Whoever uses a configuration looks again when it changes; `usersOf` finds them. */
export const configWatch = (
  family: ManagedFamily,
  usersOf: (name: string) => readonly string[],
): Watch<ConfigRecord> => ({
  source: {
    type: family.configType,
    record: (config) => ({ secrets: secretsOf(family, config) }),
    indexes: { secret: ({ secrets }) => secrets.map(keyOf) },
  },
  keysOf: ({ key }) => [configKey(key), ...usersOf(key)],
});

export const credentialsWatch = (
  family: ManagedFamily,
  usersOf: (secret: string) => readonly string[],
): Watch<null> => ({
  source: {
    type: secretType,
    selection: { labelSelector: `${CREDENTIALS_LABEL}=${family.name}` },
    metadataOnly: true,
    record: () => null,
  },
  keysOf: ({ key }) => usersOf(key),
});

export const instanceWatch = (family: ManagedFamily, usersOf: (name: string) => readonly string[]): Watch<null> => ({
  source: { type: family.instances.type, record: () => null },
  keysOf: ({ key }) => usersOf(key),
});

function managedRecord({ kind, instances }: ManagedFamily, object: KubeObject): ManagedRecord {
  const forProvider = fieldsOf(fieldsOf(object.spec).forProvider);
  const selects = forProvider[instances.selector] !== undefined;
  const instance = textOf(fieldsOf(forProvider[instances.ref]).name) ?? (selects ? ANY_INSTANCE : undefined);
  return {
    ...credentialRecord(kind, object),
    instance: forProvider[instances.id] === undefined ? instance : undefined,
  };
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
