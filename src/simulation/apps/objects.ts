import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { podType } from "../../restart/workload-kinds.ts";
import { encoded, TAKEN_KEYS, type Texts } from "./credentials.ts";

/** What there is in the world of applications: services, bindings, Secrets. Must not: ask production code. */
export const NAMESPACE = "default";
/** The service that people lay hands on, and one that they leave alone. */
export const SERVICE = "db";
export const NEIGHBOUR = "mail";
export const APP = "shop";
/** The binding that people lay hands on. */
export const BINDING = "db-shop";
/** One that comes later. */
export const LATE_BINDING = "db-late";
/** A Secret of somebody else's that a service may follow. */
export const ROTATED = "db-rotated";
export const VCAP = `${APP}-vcap-services`;
const KEY_ID = "keyturn.dev/key-id";

/** Where the credentials of the service come from: a Secret of its own, another one, or one of former times. */
export type Origin = "own" | "followed" | "legacy";

export const refOf = (name: string): ObjectRef => ({ namespace: NAMESPACE, name });

const draft = (type: ResourceType, name: string, spec: object): KubeObject => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  metadata: refOf(name),
  spec,
});

export const draftInstance = (name: string, spec: object = {}): KubeObject =>
  draft(cfServiceInstance, name, { type: "user-provided", displayName: `the ${name}`, tags: [name], ...spec });

export const specOf = (origin: Origin): object =>
  origin === "followed" ? { credentialsFrom: { secretName: ROTATED, keys: TAKEN_KEYS } } : { secretName: SERVICE };

interface BindingWish {
  readonly name: string;
  readonly service: string;
  readonly isKey?: true;
}

/** Two for the application, and a key for somebody else. */
export const BINDINGS: readonly BindingWish[] = [
  { name: BINDING, service: SERVICE },
  { name: "mail-shop", service: NEIGHBOUR },
  { name: "db-key", service: SERVICE, isKey: true },
];

export const draftBinding = ({ name, service, isKey }: BindingWish): KubeObject =>
  draft(cfServiceBinding, name, {
    service: { name: service },
    ...(isKey ? { type: "key" } : { type: "app", appRef: { name: APP } }),
  });

export interface SecretWish {
  readonly name: string;
  readonly texts: Texts;
  readonly type?: string;
  readonly keyId?: string | undefined;
  readonly owner?: KubeObject | undefined;
}

export const draftSecret = ({ name, texts, type = "Opaque", keyId, owner }: SecretWish): KubeObject => ({
  apiVersion: "v1",
  kind: secretType.kind,
  metadata: {
    ...refOf(name),
    ...(keyId !== undefined && { annotations: { [KEY_ID]: keyId } }),
    ...(owner && { ownerReferences: [ownerOf(owner)] }),
  },
  type,
  data: encoded(texts),
});

const ownerOf = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
});

/** A pod of the application, which has a Secret projected. */
export const draftPod = (secretName: string): KubeObject => ({
  apiVersion: "v1",
  kind: podType.kind,
  metadata: POD,
  spec: {
    containers: [{ name: "main", image: "shop" }],
    volumes: [{ name: "binding", secret: { secretName } }],
  },
});

export const POD: ObjectRef = refOf(`${APP}-0`);

export const isUser = ({ spec }: KubeObject, secretName: string): boolean => {
  const { volumes } = spec as { readonly volumes: readonly { readonly secret?: { readonly secretName: string } }[] };
  return volumes.some(({ secret }) => secret?.secretName === secretName);
};

interface Reference {
  readonly name?: string;
}

interface InstanceSpec {
  readonly secretName?: string;
  readonly credentialsFrom?: { readonly secretName: string };
  readonly displayName?: string;
  readonly tags?: readonly string[];
}

/** A CFServiceInstance, as far as the judge looks at it. */
export interface Service {
  readonly name: string;
  readonly uid: string;
  readonly displayName: string;
  readonly tags: readonly string[];
  /** The Secret that its credentials come from. */
  readonly sourceName: string;
  readonly isFollowing: boolean;
  /** The Secret that its status names. */
  readonly credentials: string | undefined;
}

export function serviceOf({ metadata, spec, status }: KubeObject): Service {
  const { name, uid = "" } = metadata;
  const { secretName = name, credentialsFrom, displayName = name, tags = [] } = spec as InstanceSpec;
  const { credentials } = (status ?? {}) as { readonly credentials?: Reference };
  return {
    name,
    uid,
    displayName,
    tags,
    sourceName: credentialsFrom?.secretName ?? secretName,
    isFollowing: credentialsFrom !== undefined,
    credentials: credentials?.name,
  };
}

/** A CFServiceBinding, as far as the judge looks at it: each reference under both of its names. */
export interface Bound {
  readonly name: string;
  readonly uid: string;
  readonly service: string;
  readonly isKey: boolean;
  readonly mounts: readonly [former: string | undefined, later: string | undefined];
  readonly envs: readonly [former: string | undefined, later: string | undefined];
}

export function boundOf({ metadata, spec, status }: KubeObject): Bound {
  const { name, uid = "" } = metadata;
  const { service, type } = spec as { readonly service: { readonly name: string }; readonly type: string };
  const { binding, mountSecretRef, credentials, envSecretRef } = (status ?? {}) as Readonly<
    Record<"binding" | "mountSecretRef" | "credentials" | "envSecretRef", Reference | undefined>
  >;
  return {
    name,
    uid,
    service: service.name,
    isKey: type === "key",
    mounts: [binding?.name, mountSecretRef?.name],
    envs: [credentials?.name, envSecretRef?.name],
  };
}

/** What VCAP_SERVICES says of a binding: all of it. */
export const vcapEntry = ({ name }: Bound, service: Service, text: string): string =>
  [
    `{"label":"user-provided","name":${JSON.stringify(service.displayName)},"tags":${JSON.stringify(service.tags)}`,
    `"instance_guid":"${service.name}","instance_name":${JSON.stringify(service.displayName)}`,
    `${vcapCredentials(name, text)},"volume_mounts":[]}`,
  ].join(",");

/** The part of it that tells which version of the credentials it has. */
export const vcapCredentials = (bindingName: string, text: string): string =>
  `"binding_guid":"${bindingName}","binding_name":null,"credentials":${text},"syslog_drain_url":null`;

/** The bindings that a VCAP_SERVICES speaks of; undefined where it cannot be read. */
export function bindingsIn(vcap: string): readonly string[] | undefined {
  try {
    const lists = Object.values(JSON.parse(vcap) as Readonly<Record<string, readonly { binding_guid: string }[]>>);
    return lists.flat().map((entry) => entry.binding_guid);
  } catch {
    return undefined;
  }
}

/** Of a Secret that was made from others: their names, and which key of each, where it says so. */
export function derivedFrom({ metadata }: KubeObject): ReadonlyMap<string, string | undefined> {
  const text = metadata.annotations?.["keyturn.dev/derived-from"] ?? "";
  const entries = text.split(",").filter((entry) => entry !== "");
  return new Map(
    entries.map((entry): readonly [string, string | undefined] => {
      const [name = "", keyId] = entry.split("@");
      return [name, keyId === undefined ? undefined : decodeURIComponent(keyId)];
    }),
  );
}
