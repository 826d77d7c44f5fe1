/** The shapes that every Kubernetes object shares. Nothing here knows a particular kind. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly unknown[];
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** What is served under one path of the API. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Where one object lives. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

export const apiVersionOf = (type: Pick<ResourceType, "group" | "version">): string =>
  type.group === "" ? type.version : `${type.group}/${type.version}`;

/**
 * `namespace/name`, or `name` for cluster-scoped kinds: how people write it, and the key of caches and queues. Joined, since
 * a template would keep its parts alive beside the whole, for each of thousands of objects.
 */
export const keyOf = (ref: ObjectRef): string => (ref.namespace ? [ref.namespace, ref.name].join("/") : ref.name);

/** `kind.group`, as in messages: `Secret`, `ServiceBinding.account.btp.sap.crossplane.io`. */
export const describeType = (type: ResourceType): string =>
  type.group === "" ? type.kind : `${type.kind}.${type.group}`;
