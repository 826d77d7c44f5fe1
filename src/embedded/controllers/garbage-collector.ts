import { type KubeObject, keyOf, type OwnerReference } from "../../kube/objects.ts";
import type { ResourceDefinition } from "../registry.ts";
import { type ClusterView, refOf, refOfKey } from "./cluster-view.ts";
import type { Controller, ObservedEvent } from "./controller-loop.ts";
import { idOf, type Located, locatedOf, type OwnerIndex } from "./owner-index.ts";

const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

/**
 * Deletes what has lost its owners, and holds deleted owners until their dependents are gone (foreground) or let go of
 * (orphan). An owner of a kind that is not served is unknown, not absent: nothing is deleted on its account. Must not:
 * know any kind.
 */
export class GarbageCollector implements Controller {
  readonly name = "garbage-collector";
  readonly #cluster: ClusterView;
  readonly #index: OwnerIndex;

  constructor(cluster: ClusterView, index: OwnerIndex) {
    this.#cluster = cluster;
    this.#index = index;
  }

  keysFor({ type, definition, object, previous }: ObservedEvent): readonly string[] {
    const { metadata } = object;
    const own = idOf({ storageKey: definition.storageKey, key: keyOf(metadata) });
    const isEnding = type === "DELETED" || metadata.deletionTimestamp !== undefined;
    const dependents = isEnding ? this.#index.dependentsOf(metadata.uid).map(idOf) : [];
    // An owner that waits for its dependents also hears of one that is no longer its own.
    const isLetGo = previous !== undefined && previous.metadata.ownerReferences !== metadata.ownerReferences;
    const owners = isEnding ? this.#ownersOf(object) : isLetGo ? this.#ownersOf(previous) : [];
    const isConcerned = type !== "DELETED" && (metadata.ownerReferences !== undefined || isWaiting(object));
    return [...(isConcerned ? [own] : []), ...dependents, ...owners];
  }

  reconcile(id: string): undefined {
    const { storageKey, key } = locatedOf(id);
    const definition = this.#cluster.kinds().find((kind) => kind.storageKey === storageKey);
    const object = definition && this.#cluster.get(definition, refOfKey(key, definition.namespaced));
    if (!definition || !object) return;
    if (object.metadata.deletionTimestamp !== undefined) {
      if (hasFinalizer(object, ORPHAN)) return this.#releaseDependents(definition, object);
      if (hasFinalizer(object, FOREGROUND)) return this.#awaitDependents(definition, object);
      return;
    }
    this.#deleteIfAbandoned(definition, object);
  }

  /** Owners that wait for this object to go. */
  #ownersOf(object: KubeObject): readonly string[] {
    return (object.metadata.ownerReferences ?? []).flatMap((reference) => {
      const owner = this.#find(reference, object);
      return owner && isWaiting(owner.object) ? [idOf(owner)] : [];
    });
  }

  #deleteIfAbandoned(definition: ResourceDefinition, object: KubeObject): void {
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) return;
    const fates = references.map((reference) => ({ reference, fate: this.#fateOf(reference, object) }));
    const kept = fates.filter(({ fate }) => fate === "solid");
    if (kept.length === references.length) return;
    if (kept.length > 0) {
      const ownerReferences = kept.map(({ reference }) => reference);
      this.#cluster.update(definition, { ...object, metadata: { ...object.metadata, ownerReferences } });
      return;
    }
    const isAwaited = fates.some(({ fate }) => fate === "waiting");
    const hasDependents = this.#index.dependentsOf(object.metadata.uid).length > 0;
    const propagationPolicy = isAwaited && hasDependents ? "Foreground" : policyOf(object);
    this.#cluster.delete(definition, object, { propagationPolicy });
  }

  #fateOf(reference: OwnerReference, dependent: KubeObject): "solid" | "absent" | "waiting" {
    const kind = this.#cluster.registry.findKind(reference.apiVersion, reference.kind);
    if (!kind) return "solid";
    // A cluster-scoped object cannot have an owner that lives in a namespace: the reference says nothing.
    if (kind.namespaced && dependent.metadata.namespace === undefined) return "solid";
    const owner = this.#find(reference, dependent);
    if (!owner) return "absent";
    const { deletionTimestamp } = owner.object.metadata;
    return deletionTimestamp !== undefined && hasFinalizer(owner.object, FOREGROUND) ? "waiting" : "solid";
  }

  #find(reference: OwnerReference, dependent: KubeObject): (Located & { readonly object: KubeObject }) | undefined {
    const kind = this.#cluster.registry.findKind(reference.apiVersion, reference.kind);
    if (!kind) return undefined;
    const { namespace } = dependent.metadata;
    if (kind.namespaced && namespace === undefined) return undefined;
    const ref = { name: reference.name, ...(kind.namespaced && namespace !== undefined && { namespace }) };
    const object = this.#cluster.get(kind, ref);
    if (!object || object.metadata.uid !== reference.uid) return undefined;
    return { storageKey: kind.storageKey, key: keyOf(ref), object };
  }

  #awaitDependents(definition: ResourceDefinition, owner: KubeObject): undefined {
    const blocking = this.#dependents(owner).filter(({ object }) =>
      object.metadata.ownerReferences?.some(
        ({ uid, blockOwnerDeletion }) => uid === owner.metadata.uid && blockOwnerDeletion === true,
      ),
    );
    if (blocking.length === 0) return this.#removeFinalizer(definition, owner, FOREGROUND);
    for (const { kind, object } of blocking) {
      if (object.metadata.deletionTimestamp === undefined) this.#deleteIfAbandoned(kind, object);
    }
  }

  #releaseDependents(definition: ResourceDefinition, owner: KubeObject): undefined {
    for (const { kind, object } of this.#dependents(owner)) {
      const { ownerReferences: all = [], ...metadata } = object.metadata;
      const others = all.filter(({ uid }) => uid !== owner.metadata.uid);
      const kept = { ...metadata, ...(others.length > 0 && { ownerReferences: others }) };
      this.#cluster.update(kind, { ...object, metadata: kept });
    }
    this.#removeFinalizer(definition, owner, ORPHAN);
  }

  #dependents(owner: KubeObject): readonly { readonly kind: ResourceDefinition; readonly object: KubeObject }[] {
    const kinds = new Map(this.#cluster.kinds().map((kind) => [kind.storageKey, kind]));
    return this.#index.dependentsOf(owner.metadata.uid).flatMap(({ storageKey, key }) => {
      const kind = kinds.get(storageKey);
      const object = kind && this.#cluster.get(kind, refOfKey(key, kind.namespaced));
      return kind && object ? [{ kind, object }] : [];
    });
  }

  #removeFinalizer(definition: ResourceDefinition, object: KubeObject, name: string): undefined {
    const live = this.#cluster.get(definition, refOf(object));
    if (!live) return;
    const finalizers = (live.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name);
    this.#cluster.update(definition, { ...live, metadata: { ...live.metadata, finalizers } });
  }
}

const hasFinalizer = ({ metadata }: KubeObject, name: string): boolean => metadata.finalizers?.includes(name) ?? false;

const isWaiting = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && (hasFinalizer(object, FOREGROUND) || hasFinalizer(object, ORPHAN));

function policyOf(object: KubeObject): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(object, ORPHAN)) return "Orphan";
  return hasFinalizer(object, FOREGROUND) ? "Foreground" : "Background";
}
