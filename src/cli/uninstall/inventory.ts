import type { CustomResource } from "../../api/custom-resource.ts";
import { DERIVED_LABEL } from "../../api/korifi/names.ts";
import type { Unseen } from "../../insight/resources/list-all.ts";
import { describeType, type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../kube/objects.ts";
import { IN_USE } from "../../reconcile/managed/config-keeper.ts";
import { FINALIZER } from "../../reconcile/managed/managed-kind.ts";
import type { Lease } from "../../runtime/lease-record.ts";

/**
 * Everything of Keyturn's that a cluster has, as it was seen at one moment. Of Secrets and of what is made for resources there
 * is the metadata alone. Must not: hold anything of a key.
 */
export interface Inventory {
  /** Where the operator is installed. */
  readonly namespace: string;
  readonly home: KubeObject | undefined;
  /** By the local clock. */
  readonly now: number;
  readonly kinds: readonly KindFound[];
  /** Secrets that ProviderConfigs log in with. */
  readonly credentials: readonly KubeObject[];
  /** Secrets that were published, or bear something else of ours. */
  readonly secrets: readonly KubeObject[];
  /** What else was made for resources: name servers, projections. */
  readonly made: readonly Item[];
  /** Deployments of operators, wherever they are. */
  readonly operators: readonly KubeObject[];
  /** Of the operators in the namespace. */
  readonly pods: readonly KubeObject[];
  readonly leases: readonly Lease[];
  /** The rest of the installation in this namespace, in the order in which it is taken away. */
  readonly belongings: readonly Item[];
  /** The operator's own Secrets. */
  readonly ownSecrets: readonly KubeObject[];
  /** What may not be looked at, though finalizers may be on it, or operators among it. */
  readonly unseen: readonly Unseen[];
  /** What else may not be looked at: nothing is done to it. */
  readonly hidden: readonly Unseen[];
}

/** A kind that Keyturn brings along, and what there is of it. */
export interface KindFound {
  readonly resource: CustomResource;
  /** Undefined: it is not installed. */
  readonly definition: KubeObject | undefined;
  readonly objects: readonly KubeObject[];
}

export interface Item {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** Every finalizer that the operator puts on anything. */
export const OWN_FINALIZERS: readonly string[] = [FINALIZER, IN_USE];

/** Those of ours that an object bears. */
export const ownFinalizersOf = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.finalizers ?? []).filter((name) => OWN_FINALIZERS.includes(name));

export const isHeld = (object: KubeObject): boolean => ownFinalizersOf(object).length > 0;

export const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export const refOf = ({ metadata: { name, namespace } }: KubeObject): ObjectRef => ({
  name,
  ...(namespace !== undefined && { namespace }),
});

/** `ServiceBinding orders`, `Secret shop/orders`. */
export const titleOf = ({ type, object }: Item): string => `${type.kind} ${keyOf(object.metadata)}`;

/** Tells objects apart across kinds of the same name, and from others that had their name before. */
export const identityOf = ({ type, object }: Item): string =>
  `${describeType(type)} ${keyOf(object.metadata)} ${object.metadata.uid ?? ""}`;

export const objectsOf = ({ kinds }: Pick<Inventory, "kinds">): readonly Item[] =>
  kinds.flatMap(({ resource, objects }) => objects.map((object) => ({ type: resource, object })));

/** Helm has installed it, and takes it away. */
export const isHelms = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.["app.kubernetes.io/managed-by"] === "Helm";

/** Made from other Secrets, for somebody of whom there is no object here: it goes with nobody. */
export const isAlone = ({ metadata: { labels, ownerReferences = [] } }: KubeObject): boolean =>
  labels?.[DERIVED_LABEL] !== undefined && ownerReferences.length === 0;
