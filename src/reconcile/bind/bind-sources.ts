import type { InstanceWorkload } from "../../api/bind/bind-fields.ts";
import { bind9Cluster } from "../../api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../api/bind/bind9-instance.ts";
import { clusterBind9Provider } from "../../api/bind/cluster-bind9-provider.ts";
import { BINDY, MANAGED_BY } from "../../api/bind/names.ts";
import { rndcKey } from "../../api/keyturn/rndc-key.ts";
import { fieldAt } from "../../bind/fields.ts";
import { type KubeObject, keyOf, type ObjectMeta, type OwnerReference, type ResourceType } from "../../kube/objects.ts";
import { ownerUidOf } from "../../publish/secret-publisher.ts";
import { placedUsesOf } from "../../restart/pod-uses.ts";
import { rolloutOf } from "../../restart/rollout.ts";
import { partsOf } from "../../restart/source-id.ts";
import { configMapType, kindOf, type WorkloadKind } from "../../restart/workload-kinds.ts";
import type { Source } from "../../runtime/controller.ts";
import { slim } from "../objects/slim-object.ts";
import { watchedSecrets } from "../objects/watched-secrets.ts";

/**
 * What the controllers of the document's kinds look at. Their own kinds and what they make are kept whole, so that a look
 * at them costs no request; Secrets by their metadata alone. Made once, so that the controllers share the watches.
 */
export const serviceType: ResourceType = {
  group: "",
  version: "v1",
  plural: "services",
  kind: "Service",
  namespaced: true,
};

const MADE_BY_US = { labelSelector: `${MANAGED_BY}=${BINDY}` } as const;

const whole = (type: ResourceType, more: Partial<Source<KubeObject>> = {}): Source<KubeObject> => ({
  type,
  record: slim,
  ...more,
  indexes: { owner: ({ metadata }) => ownerUids(metadata), ...more.indexes },
});

const ownerUids = ({ ownerReferences = [] }: ObjectMeta): readonly string[] => ownerReferences.map(({ uid }) => uid);

export const controllerOf = ({ ownerReferences = [] }: ObjectMeta): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller === true);

/** `namespace/name` of the Bind9Cluster that an instance names. */
export function clusterKeyOf({ metadata, spec }: KubeObject): string {
  const name = fieldAt({ spec }, ["spec", "clusterRef"]);
  return keyOf({ namespace: metadata.namespace ?? "", name: typeof name === "string" ? name : "" });
}

/** `namespace/name` of the Secret that an RndcKey publishes in. */
function publishedKeyOf({ metadata, spec }: KubeObject): string {
  const name = fieldAt({ spec }, ["spec", "secret", "name"]);
  return keyOf({ namespace: metadata.namespace ?? "", name: typeof name === "string" ? name : "" });
}

/** What an instance uses instead of one of its own. */
export interface WorkloadRef {
  readonly kind: InstanceWorkload;
  /** `namespace/name`. */
  readonly key: string;
}

export function workloadRefOf({ metadata, spec }: KubeObject): WorkloadRef | undefined {
  const ref = fieldAt({ spec }, ["spec", "deploymentRef"]);
  const name = fieldAt(ref, ["name"]);
  if (typeof name !== "string") return undefined;
  const kind = fieldAt(ref, ["kind"]) === "StatefulSet" ? "StatefulSet" : "Deployment";
  return { kind, key: keyOf({ namespace: metadata.namespace ?? "", name }) };
}

/** As instances that use it instead of one of their own are found. */
export const workloadIndexOf = ({ kind, key }: WorkloadRef): string => `${kind} ${key}`;

export interface WorkloadRecord {
  /** Only of one that bears our label. */
  readonly object: KubeObject | undefined;
  /** UID of whoever made it. */
  readonly owner: string | undefined;
  /** The names of the Secrets that its pods use. */
  readonly secrets: readonly string[];
  readonly replicas: number;
  readonly readyReplicas: number;
  /** No pod of an older template is left. */
  readonly isRolledOut: boolean;
}

function workloadRecord(kind: WorkloadKind, object: KubeObject): WorkloadRecord {
  const uses = placedUsesOf(kind.templateOf(object).spec).filter(({ isPullOnly }) => !isPullOnly);
  const names = uses.map(({ source }) => partsOf(source)).filter((source) => source.kind === "secret");
  const isOurs = object.metadata.labels?.[MANAGED_BY] === BINDY;
  return {
    object: isOurs ? slim(object) : undefined,
    owner: controllerOf(object.metadata)?.uid,
    secrets: [...new Set(names.map(({ name }) => name))],
    replicas: countAt(object, ["spec", "replicas"]) ?? 1,
    readyReplicas: countAt(object, ["status", "readyReplicas"]) ?? 0,
    isRolledOut: rolloutOf(kind, object).isComplete,
  };
}

function countAt(object: KubeObject, path: readonly string[]): number | undefined {
  const value = fieldAt(object, path);
  return typeof value === "number" ? value : undefined;
}

export interface SecretRecord {
  /** UIDs of those whose it is, by its owners and by its label. */
  readonly owners: readonly string[];
  /** Which object made it, as `Kind/name`. */
  readonly maker: string | undefined;
}

/** Most Secrets are nobody's here. */
const NOBODYS: SecretRecord = { owners: [], maker: undefined };

function secretRecord({ metadata }: KubeObject): SecretRecord {
  const label = ownerUidOf(metadata);
  const owners = [...ownerUids(metadata), ...(label === undefined ? [] : [label])];
  const controller = controllerOf(metadata);
  if (owners.length === 0) return NOBODYS;
  return { owners, maker: controller && `${controller.kind}/${controller.name}` };
}

const providers = whole(clusterBind9Provider);
const clusters = whole(bind9Cluster, {
  indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ""] },
});
const instances = whole(bind9Instance, {
  indexes: {
    cluster: (instance) => [clusterKeyOf(instance)],
    workload: (instance) => {
      const ref = workloadRefOf(instance);
      return ref ? [workloadIndexOf(ref)] : [];
    },
  },
});
/** Where there is no BIND, nothing of it is looked at. */
const sakes: readonly Source[] = [providers, clusters, instances];

function workloadSource(name: InstanceWorkload): Source<WorkloadRecord> {
  const kind = kindOf(name);
  if (!kind) throw new TypeError(`${name} is no workload`);
  return { type: kind.type, record: (object) => workloadRecord(kind, object), sakes };
}

export const bindSources = {
  providers,
  clusters,
  instances,
  rndcKeys: whole(rndcKey, { indexes: { secret: (key) => [publishedKeyOf(key)] } }),
  configMaps: whole(configMapType, { selection: MADE_BY_US, sakes }),
  services: whole(serviceType, { selection: MADE_BY_US, sakes }),
  deployments: workloadSource("Deployment"),
  statefulSets: workloadSource("StatefulSet"),
  secrets: {
    ...watchedSecrets,
    record: secretRecord,
    indexes: { owner: ({ owners }) => owners },
    sakes,
  } satisfies Source<SecretRecord>,
} as const;
