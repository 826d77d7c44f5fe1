import { type InstanceWorkload, workloads } from "../../api/bind/bind-fields.ts";
import type { Problem } from "../../bind/problems.ts";
import { isMadeBy } from "../../bind/provider-objects.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Entry, ResourceCache } from "../../kube/resource-cache.ts";
import type { ControllerContext, Watch } from "../../runtime/controller.ts";
import {
  clusterKeyOf,
  controllerOf,
  type SecretRecord,
  type WorkloadRecord,
  type WorkloadRef,
  workloadIndexOf,
  workloadRefOf,
} from "./bind-sources.ts";

/** The watches of one controller; what they lead to differs, what they look at does not. */
export interface BindWatches {
  readonly providers: Watch<KubeObject>;
  readonly clusters: Watch<KubeObject>;
  readonly instances: Watch<KubeObject>;
  readonly rndcKeys: Watch<KubeObject>;
  readonly configMaps: Watch<KubeObject>;
  readonly services: Watch<KubeObject>;
  readonly deployments: Watch<WorkloadRecord>;
  readonly statefulSets: Watch<WorkloadRecord>;
  readonly secrets: Watch<SecretRecord>;
}

type Caches = { readonly [K in keyof BindWatches]: BindWatches[K] extends Watch<infer R> ? ResourceCache<R> : never };

/** Whose settings count for a cluster or an instance. */
export type Holders =
  | { readonly kind: "found"; readonly cluster: KubeObject; readonly provider: KubeObject | undefined }
  /** Who is meant is not there, or not the one: nothing is decided without it. */
  | { readonly kind: "missing"; readonly problem: Problem };

/** What the watches know. Must not: ask the server for anything. */
export class BindCaches {
  readonly #caches: Caches;
  readonly #operatorNamespace: string;

  constructor(watches: BindWatches, { cacheOf }: Pick<ControllerContext, "cacheOf">, operatorNamespace: string) {
    this.#operatorNamespace = operatorNamespace;
    this.#caches = {
      providers: cacheOf(watches.providers),
      clusters: cacheOf(watches.clusters),
      instances: cacheOf(watches.instances),
      rndcKeys: cacheOf(watches.rndcKeys),
      configMaps: cacheOf(watches.configMaps),
      services: cacheOf(watches.services),
      deployments: cacheOf(watches.deployments),
      statefulSets: cacheOf(watches.statefulSets),
      secrets: cacheOf(watches.secrets),
    };
  }

  provider(name: string): KubeObject | undefined {
    return this.#caches.providers.get(name);
  }

  cluster(key: string): KubeObject | undefined {
    return this.#caches.clusters.get(key);
  }

  instance(key: string): KubeObject | undefined {
    return this.#caches.instances.get(key);
  }

  rndcKey(key: string): KubeObject | undefined {
    return this.#caches.rndcKeys.get(key);
  }

  /** The RndcKey that has published this Secret. */
  publisherOf(secretKey: string): KubeObject | undefined {
    const owners = this.secret(secretKey)?.record.owners ?? [];
    const keys = this.#caches.rndcKeys.find("secret", secretKey).map(({ record }) => record);
    return keys.find(({ metadata }) => owners.includes(metadata.uid ?? ""));
  }

  secret(key: string): Entry<SecretRecord> | undefined {
    return this.#caches.secrets.entry(key);
  }

  /** All that name the cluster, whoever has made them, but for those that go. */
  instancesOf(clusterKey: string): readonly KubeObject[] {
    return this.#caches.instances
      .find("cluster", clusterKey)
      .map(({ record }) => record)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  instancesUsing(ref: WorkloadRef): readonly KubeObject[] {
    return this.#caches.instances.find("workload", workloadIndexOf(ref)).map(({ record }) => record);
  }

  clustersIn(namespace: string): readonly KubeObject[] {
    return this.#caches.clusters.find("namespace", namespace).map(({ record }) => record);
  }

  /** Those with an owner reference to this provider, forged ones included. */
  clustersOf(provider: KubeObject): readonly KubeObject[] {
    return this.#ownedBy(this.#caches.clusters, provider);
  }

  rndcKeysOf(owner: KubeObject): readonly KubeObject[] {
    return this.#ownedBy(this.#caches.rndcKeys, owner);
  }

  /** Names and versions of the Secrets that the object owns. */
  secretsOf({ metadata }: KubeObject): readonly Entry<SecretRecord>[] {
    return this.#caches.secrets.find("owner", metadata.uid ?? "");
  }

  #ownedBy(cache: ResourceCache<KubeObject>, { metadata }: KubeObject): readonly KubeObject[] {
    return cache.find("owner", metadata.uid ?? "").map(({ record }) => record);
  }

  workload({ kind, key }: WorkloadRef): WorkloadRecord | undefined {
    return (kind === "Deployment" ? this.#caches.deployments : this.#caches.statefulSets).get(key);
  }

  /** The one of a kind that was made for the instance. */
  ownWorkload({ metadata }: KubeObject, kind: InstanceWorkload): WorkloadRecord | undefined {
    const found = this.workload({ kind, key: keyOf(metadata) });
    return found?.owner === metadata.uid ? found : undefined;
  }

  /** Whatever may run pods of the instance: what it uses instead of its own, or all of its name, whoever has made them. */
  workloadsOf(instance: KubeObject): readonly WorkloadRecord[] {
    const used = workloadRefOf(instance);
    const key = keyOf(instance.metadata);
    const refs = used ? [used] : workloads.map((kind) => ({ kind, key }));
    return refs.flatMap((ref) => this.workload(ref) ?? []);
  }

  /** What is kept of an object that we make; undefined of a Secret, and of what does not bear our label. */
  made({ kind, metadata }: KubeObject): KubeObject | undefined {
    const key = keyOf(metadata);
    if (kind === "Deployment" || kind === "StatefulSet") return this.workload({ kind, key })?.object;
    const cache = this.#cacheOf(kind);
    return kind === "Secret" ? undefined : (cache as ResourceCache<KubeObject>).get(key);
  }

  noteWrite({ kind, metadata }: KubeObject): void {
    this.#cacheOf(kind).noteWrite(keyOf(metadata), metadata.resourceVersion ?? "");
  }

  /** False while the cache may be older than our own last write. */
  isCurrent({ kind, metadata }: KubeObject): boolean {
    return this.#cacheOf(kind).isCurrent(keyOf(metadata));
  }

  #cacheOf(kind: string): ResourceCache<unknown> {
    const { providers, clusters, instances, rndcKeys, configMaps, services } = this.#caches;
    const { deployments, statefulSets, secrets } = this.#caches;
    const byKind: Readonly<Record<string, ResourceCache<unknown>>> = {
      ClusterBind9Provider: providers as ResourceCache<unknown>,
      Bind9Cluster: clusters as ResourceCache<unknown>,
      Bind9Instance: instances as ResourceCache<unknown>,
      RndcKey: rndcKeys as ResourceCache<unknown>,
      ConfigMap: configMaps as ResourceCache<unknown>,
      Service: services as ResourceCache<unknown>,
      Deployment: deployments as ResourceCache<unknown>,
      StatefulSet: statefulSets as ResourceCache<unknown>,
      Secret: secrets as ResourceCache<unknown>,
    };
    const cache = byKind[kind];
    if (!cache) throw new RangeError(`no watch of ${kind}`);
    return cache;
  }

  /**
   * The provider whose settings a cluster inherits. A cluster that names one as its owner and is not the one that it makes
   * inherits nothing and decides nothing: whoever has put that there, its servers are to stay what they are.
   */
  holdersOfCluster(cluster: KubeObject): Holders {
    const owner = controllerOf(cluster.metadata);
    if (owner?.kind !== "ClusterBind9Provider") return { kind: "found", cluster, provider: undefined };
    const provider = this.provider(owner.name);
    if (provider && isMadeBy(cluster, provider, this.#operatorNamespace)) return { kind: "found", cluster, provider };
    const message = provider
      ? `its owner, ClusterBind9Provider ${owner.name}, makes another one: delete it, or take that owner away`
      : `its owner, ClusterBind9Provider ${owner.name}, is not there`;
    return { kind: "missing", problem: { field: "metadata.ownerReferences", message } };
  }

  holdersOfInstance(instance: KubeObject): Holders {
    const key = clusterKeyOf(instance);
    const cluster = this.cluster(key);
    if (cluster && cluster.metadata.deletionTimestamp === undefined) return this.holdersOfCluster(cluster);
    const message = cluster ? `Bind9Cluster ${key} is being deleted` : `there is no Bind9Cluster ${key}`;
    return { kind: "missing", problem: { field: "spec.clusterRef", message } };
  }
}
