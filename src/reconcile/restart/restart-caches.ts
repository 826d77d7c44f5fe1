import { type KubeObject, keyOf, type ObjectMeta } from "../../kube/objects.ts";
import type { Entry, ResourceCache } from "../../kube/resource-cache.ts";
import type { SourceId } from "../../restart/model.ts";
import type { SourceMarks } from "../../restart/opt-in.ts";
import { secretSource } from "../../restart/restart-mark.ts";
import { partsOf } from "../../restart/source-id.ts";
import { kindOf, podType, replicaSetType, type WorkloadKind } from "../../restart/workload-kinds.ts";
import type { OptedIn, RestartView } from "./restart-knowledge.ts";
import { type BareRecord, EVERYWHERE, type NamespaceRecord, type PodStatusRecord } from "./restart-sources.ts";
import { readWorkloadKey, workloadKey } from "./workload-key.ts";
import { sourcesOf, type WorkloadReader, type WorkloadRecord } from "./workload-record.ts";

export interface RestartCachesOptions {
  readonly workloads: ReadonlyMap<string, ResourceCache<WorkloadRecord>>;
  readonly replicaSets: ResourceCache<BareRecord>;
  readonly pods: ResourceCache<BareRecord>;
  readonly secrets: ResourceCache<SourceMarks>;
  readonly configMaps: ResourceCache<SourceMarks>;
  readonly podStatuses: ResourceCache<PodStatusRecord>;
  readonly namespaces: ResourceCache<NamespaceRecord>;
  readonly reader: WorkloadReader;
  readonly isFresh: () => boolean;
}

/** A workload as it was taken in hand, at one version. */
export interface Workload {
  readonly key: string;
  /** Undefined for a pod. */
  readonly kind: WorkloadKind | undefined;
  /** Name, namespace, UID and version. */
  readonly metadata: ObjectMeta;
  readonly record: WorkloadRecord;
}

/**
 * What the watches know, seen from both ends: which workloads a source concerns, and what is known of a workload. Must
 * not: ask the server for anything.
 */
export class RestartCaches implements RestartView {
  readonly #caches: RestartCachesOptions;
  /** Bare ReplicaSets and pods that take part: what they use is known once they were read. */
  readonly #bare = new Map<string, WorkloadRecord>();

  constructor(caches: RestartCachesOptions) {
    this.#caches = caches;
  }

  isFresh(): boolean {
    return this.#caches.isFresh();
  }

  optedIn(kind: string, namespace: string, name: string): OptedIn | undefined {
    const key = workloadKey(kind, namespace, name);
    const record = this.record(key) ?? this.#unread(key);
    return record?.optIn.isIn ? record : undefined;
  }

  /** A bare ReplicaSet or pod that nobody has read yet, by what its metadata says. */
  #unread(key: string): WorkloadRecord | undefined {
    const { kind: name } = readWorkloadKey(key);
    const metadata = this.bareMetadata(key);
    if (!metadata) return undefined;
    const kind = kindOf(name);
    const object: KubeObject = { apiVersion: "", kind: name, metadata };
    return kind ? this.#caches.reader.workload(kind, object) : this.#caches.reader.pod(object);
  }

  record(key: string): WorkloadRecord | undefined {
    return this.#entry(key)?.record ?? this.#bare.get(key);
  }

  /** Of the kinds that are watched whole. */
  workload(key: string): Workload | undefined {
    const { kind: kindName, namespace, name } = readWorkloadKey(key);
    const entry = this.#entry(key);
    const kind = kindOf(kindName);
    if (!entry || !kind) return undefined;
    const { uid, resourceVersion, record } = entry;
    return { key, kind, metadata: { namespace, name, uid, resourceVersion }, record };
  }

  bareMetadata(key: string): ObjectMeta | undefined {
    const { kind, namespace, name } = readWorkloadKey(key);
    const caches = new Map([
      [podType.kind, this.#caches.pods],
      [replicaSetType.kind, this.#caches.replicaSets],
    ]);
    return caches.get(kind)?.get(keyOf({ namespace, name }))?.metadata;
  }

  /** What was read of a bare ReplicaSet or pod; undefined: it takes no part. */
  noteBare(key: string, record: WorkloadRecord | undefined): void {
    if (record) this.#bare.set(key, record);
    else this.#bare.delete(key);
  }

  /** The keys of the workloads that a change of the source may concern. */
  usersOf(namespace: string, source: SourceId): readonly string[] {
    const { kind, name } = partsOf(source);
    const isNamed = ({ optIn }: WorkloadRecord): boolean =>
      optIn.namedSources.some((pattern) => pattern.kind === kind && pattern.matches(name));
    const users: string[] = [];
    for (const [kindName, cache] of this.#caches.workloads) {
      const found = cache.find("source", `${namespace}/${source}`);
      const searching = cache.find("source", `${namespace}/${kind}/*`).filter(({ record }) => isNamed(record));
      for (const { key } of new Set([...found, ...searching])) users.push(`${kindName}/${key}`);
    }
    for (const [key, record] of this.#bare) {
      if (record.namespace === namespace && (sourcesOf(record).includes(source) || isNamed(record))) users.push(key);
    }
    return users;
  }

  markedFor(namespace: string, secret: string): readonly string[] {
    const users = this.usersOf(namespace, secretSource(secret));
    return users.filter((key) => this.record(key)?.optIn.markedFor?.includes(secret));
  }

  /** What is known of a Secret or ConfigMap; undefined: it is not there. */
  source(namespace: string, source: SourceId): Entry<SourceMarks> | undefined {
    const { cache, name } = this.#sourceCache(source);
    return cache?.entry(`${namespace}/${name}`);
  }

  /** The Secrets or ConfigMaps of a namespace that a pattern stands for. */
  matching(namespace: string, kind: "secret" | "configmap", matches: (name: string) => boolean): readonly SourceId[] {
    const found: SourceId[] = [];
    const start = `${namespace}/`;
    for (const { key } of (kind === "secret" ? this.#caches.secrets : this.#caches.configMaps).entries()) {
      if (key.startsWith(start) && matches(key.slice(start.length))) found.push(`${kind}/${key.slice(start.length)}`);
    }
    return found;
  }

  /** What is mounted of a class in the pods of a namespace, whoever's they are. */
  podStatusesOf(namespace: string, className: string): readonly PodStatusRecord[] {
    return this.#caches.podStatuses.find("class", `${namespace}/${className}`).map(({ record }) => record);
  }

  podStatus(namespace: string, name: string): PodStatusRecord | undefined {
    return this.#caches.podStatuses.get(`${namespace}/${name}`);
  }

  /** Workloads with a rollout of ours that goes on. */
  *rolling(): Generator<readonly [key: string, record: WorkloadRecord]> {
    for (const [kind, cache] of this.#caches.workloads)
      for (const { key, record } of cache.find("rolling", EVERYWHERE)) yield [`${kind}/${key}`, record];
  }

  stopped(): number {
    let count = 0;
    for (const cache of this.#caches.workloads.values()) count += cache.find("stopped", EVERYWHERE).length;
    for (const { stopped } of this.#bare.values()) count += stopped === undefined ? 0 : 1;
    return count;
  }

  /** The namespace's own cap on rollouts. */
  capOf(namespace: string): number | undefined {
    return this.#caches.namespaces.get(namespace)?.cap;
  }

  /** A Namespace that says something of restarts. */
  namespace(name: string): Entry<NamespaceRecord> | undefined {
    return this.#caches.namespaces.entry(name);
  }

  noteWrite(key: string, { metadata }: KubeObject): void {
    this.#cacheOf(key)?.noteWrite(cacheKeyOf(key), metadata.resourceVersion ?? "");
  }

  /** False while the cache may be older than our own last write. */
  isCurrent(key: string): boolean {
    return this.#cacheOf(key)?.isCurrent(cacheKeyOf(key)) ?? true;
  }

  #entry(key: string): Entry<WorkloadRecord> | undefined {
    return this.#caches.workloads.get(readWorkloadKey(key).kind)?.entry(cacheKeyOf(key));
  }

  #cacheOf(key: string): Pick<ResourceCache<unknown>, "noteWrite" | "isCurrent"> | undefined {
    const { kind } = readWorkloadKey(key);
    if (kind === "Pod") return this.#caches.pods;
    return kind === "ReplicaSet" ? this.#caches.replicaSets : this.#caches.workloads.get(kind);
  }

  #sourceCache(source: SourceId): { readonly cache: ResourceCache<SourceMarks> | undefined; readonly name: string } {
    const { kind, name } = partsOf(source);
    const caches = { secret: this.#caches.secrets, configmap: this.#caches.configMaps, class: undefined };
    return { cache: caches[kind], name };
  }
}

const cacheKeyOf = (key: string): string => key.slice(key.indexOf("/") + 1);
