import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { BINDING_GUID_LABEL, BINDING_KIND, SERVICES_OF } from "../../api/korifi/names.ts";
import { ownSecretNames } from "../../korifi/instance-plan.ts";
import { isRefused, readBinding, readInstance } from "../../korifi/read-objects.ts";
import { directoryOf, isDirectory, projectedInto } from "../../korifi/service-binding-object.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../kube/objects.ts";
import { recordsIn } from "../../kube/record.ts";
import type { Source } from "../../runtime/controller.ts";
import { slim } from "../objects/slim-object.ts";
import { watchedSecrets } from "../objects/watched-secrets.ts";

/**
 * What the controllers of service credentials look at. Instances and bindings are kept whole, so that a look at them costs
 * no request; Secrets by their metadata alone. Made once, so that the controllers share the watches.
 */
export interface ServiceRecord {
  readonly object: KubeObject;
  /** Who else writes its status; undefined: nobody. */
  readonly stranger: string | undefined;
}

/** Who writes what is written for these kinds. */
export const FIELD_MANAGER = "keyturn-korifi";
const OURS = /^keyturn(-|$)/;
/** A person, who writes once and is gone: no controller to keep away from. */
const PERSON = /^kubectl(-|$)/;

function serviceRecord(object: KubeObject): ServiceRecord {
  return { object: slim(object), stranger: strangerIn(object) };
}

function strangerIn({ metadata }: KubeObject): string | undefined {
  const entries = recordsIn(metadata.managedFields).filter(({ subresource }) => subresource === "status");
  return entries.map(({ manager }) => String(manager)).find((manager) => !OURS.test(manager) && !PERSON.test(manager));
}

/** Those whose status somebody else writes, by namespace: who may write there can make it look so, and nowhere else. */
const strange = ({ object, stranger }: ServiceRecord): readonly string[] =>
  stranger === undefined ? [] : [object.metadata.namespace ?? ""];

const within = (
  { metadata: { namespace = "" } }: KubeObject,
  names: readonly (string | undefined)[],
): readonly string[] => [...new Set(names)].flatMap((name) => (name === undefined ? [] : [keyOf({ namespace, name })]));

const instances: Source<ServiceRecord> = {
  type: cfServiceInstance,
  record: serviceRecord,
  indexes: {
    strange,
    /** Those that its Secret is made from, and may be kept in. */
    secret: ({ object }) => {
      const instance = readInstance(object);
      if (isRefused(instance) || instance.source.kind === "managed") return [];
      const { source, credentialsName } = instance;
      return within(object, [source.secretName, credentialsName, ...ownSecretNames(instance)]);
    },
    credentials: ({ object }) => {
      const instance = readInstance(object);
      return isRefused(instance) ? [] : within(object, [instance.credentialsName]);
    },
  },
};

const bindings: Source<ServiceRecord> = {
  type: cfServiceBinding,
  record: serviceRecord,
  indexes: {
    strange,
    instance: ({ object }) => {
      const binding = readBinding(object);
      return isRefused(binding) ? [] : within(object, [binding.instanceName]);
    },
    app: ({ object }) => {
      const binding = readBinding(object);
      return isRefused(binding) ? [] : within(object, [binding.appName]);
    },
    secret: ({ object }) => {
      const binding = readBinding(object);
      return isRefused(binding) ? [] : within(object, [binding.name, binding.mountName, binding.envName]);
    },
    /** What the application is to call its directory. */
    directory: ({ object }) => {
      const binding = readBinding(object);
      return isRefused(binding) ? [] : directoryIn(object, binding.appName, binding.displayName);
    },
  },
};

/** A directory of an application, as one text. */
export const directoryKey = (namespace: string, appName: string, directory: string): string =>
  `${keyOf({ namespace, name: appName })} ${directory}`;

const directoryIn = (
  { metadata: { namespace = "" } }: KubeObject,
  appName: string | undefined,
  directory: string | undefined,
): readonly string[] =>
  appName !== undefined && isDirectory(directory) ? [directoryKey(namespace, appName, directory)] : [];

export interface SecretRecord {
  /** UIDs of those that it goes with. */
  readonly owners: readonly string[];
  /** The names of the bindings among them. */
  readonly bindings: readonly string[];
  /** The application whose services are in it. */
  readonly app: string | undefined;
}

/** Most Secrets are nobody's here. */
const NOBODYS: SecretRecord = { owners: [], bindings: [], app: undefined };

function secretRecord({ metadata: { ownerReferences = [], annotations } }: KubeObject): SecretRecord {
  const app = annotations?.[SERVICES_OF];
  if (ownerReferences.length === 0 && app === undefined) return NOBODYS;
  const ofBindings = ownerReferences.filter(({ kind }) => kind === BINDING_KIND);
  return { owners: ownerReferences.map(({ uid }) => uid), bindings: ofBindings.map(({ name }) => name), app };
}

/** Somebody else's kind, where a runtime for it is installed. */
export const serviceBindingType: ResourceType = {
  group: "servicebinding.io",
  version: "v1",
  plural: "servicebindings",
  kind: "ServiceBinding",
  namespaced: true,
};

/** Where there is no service for applications, nothing else is looked at. */
const sakes: readonly Source[] = [instances, bindings];

export const korifiSources = {
  instances,
  bindings,
  secrets: {
    ...watchedSecrets,
    record: secretRecord,
    indexes: { owner: ({ owners }) => owners },
    sakes,
  } satisfies Source<SecretRecord>,
  projections: {
    type: serviceBindingType,
    selection: { labelSelector: BINDING_GUID_LABEL },
    record: slim,
    indexes: { directory: (object) => directoryIn(object, projectedInto(object), directoryOf(object)) },
    sakes: [bindings],
  } satisfies Source<KubeObject>,
} as const;
