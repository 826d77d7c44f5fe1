import type { Clock } from "../base/clock.ts";
import type { KubeObject } from "../kube/objects.ts";
import { jsonEquals, jsonOf } from "./json.ts";
import { acceptNames, resourceDefinitionsFrom } from "./kinds/custom-resource-definition.ts";
import { CLEANUP_FINALIZER } from "./kinds/definition-of-definitions.ts";
import type { Operations } from "./operations.ts";
import type { Registry, ResourceDefinition } from "./registry.ts";
import type { Store } from "./store.ts";

/**
 * Keeps the registry in line with the CRDs in the store: their kinds are served as soon as their names are accepted, and
 * no longer when they are gone; a CRD that is deleted takes its objects with it. Must not: judge a CRD; what is in the
 * store has been validated.
 */
export interface CustomResourcesOptions {
  readonly store: Store;
  readonly registry: Registry;
  readonly objects: Operations;
  readonly clock: Clock;
  /** The CRDs' own definition. */
  readonly definition: ResourceDefinition;
  readonly onKindsChanged: () => void;
}

const CONTEXT = { fieldManager: "kube-apiserver", bypassesAdmission: true };

interface Served {
  readonly crd: KubeObject;
  readonly definitions: readonly ResourceDefinition[];
}

export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #served = new Map<string, Served>();
  readonly #emptying = new Map<string, () => void>();
  #isSyncing = false;
  #isOutdated = false;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    options.store.onChange(options.definition.storageKey, () => this.#sync());
    this.#sync();
  }

  /** Writes of its own come back here through the store: they are taken up in the next turn of the loop, not inside. */
  #sync(): void {
    this.#isOutdated = true;
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    try {
      while (this.#isOutdated) {
        this.#isOutdated = false;
        this.#syncOnce();
      }
    } finally {
      this.#isSyncing = false;
    }
  }

  #syncOnce(): void {
    const { store, definition, clock } = this.#options;
    const crds = store.list(definition.storageKey);
    const present = new Set(crds.map(({ metadata }) => metadata.name));
    for (const name of this.#served.keys()) if (!present.has(name)) this.#withdraw(name);
    for (const crd of crds) {
      const { status, established } = acceptNames(crd, crds, clock.now());
      if (status !== crd.status) this.#write({ ...crd, status }, "status");
      if (established) this.#serve(crd);
      if (crd.metadata.deletionTimestamp !== undefined) this.#empty(crd);
    }
  }

  #serve(crd: KubeObject): void {
    const { name } = crd.metadata;
    const known = this.#served.get(name);
    // A change of status or labels does not make the kinds anew.
    if (known && jsonEquals(jsonOf(known.crd).spec, jsonOf(crd).spec)) return;
    const { registry, objects, onKindsChanged } = this.#options;
    const definitions = resourceDefinitionsFrom(crd);
    for (const old of known?.definitions ?? []) {
      registry.remove(old);
      // A watch shows objects as the kind was when it began: whoever watches begins again.
      objects.endFeeds(old.storageKey);
    }
    for (const definition of definitions) registry.add(definition);
    this.#served.set(name, { crd, definitions });
    onKindsChanged();
  }

  #withdraw(name: string): void {
    const { registry, objects, onKindsChanged } = this.#options;
    for (const definition of this.#served.get(name)?.definitions ?? []) {
      registry.remove(definition);
      objects.endFeeds(definition.storageKey);
    }
    this.#served.delete(name);
    this.#emptying.get(name)?.();
    this.#emptying.delete(name);
    onKindsChanged();
  }

  /** Deletes the objects of a CRD that is going; once the last one is gone, lets the CRD go too. */
  #empty(crd: KubeObject): void {
    const { store, objects } = this.#options;
    const { name, finalizers = [] } = crd.metadata;
    const [definition] = this.#served.get(name)?.definitions ?? [];
    if (definition) {
      for (const { metadata } of store.list(definition.storageKey)) {
        if (metadata.deletionTimestamp === undefined) objects.delete(definition, metadata, { bypassesAdmission: true });
      }
      if (store.list(definition.storageKey).length > 0) {
        if (!this.#emptying.has(name)) {
          this.#emptying.set(
            name,
            store.onChange(definition.storageKey, () => this.#sync()),
          );
        }
        return;
      }
    }
    if (!finalizers.includes(CLEANUP_FINALIZER)) return;
    const kept = finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    this.#write({ ...crd, metadata: { ...crd.metadata, finalizers: kept } });
  }

  #write(crd: KubeObject, subresource?: string): void {
    const { store, objects, definition } = this.#options;
    // Nobody else writes within this turn, but an earlier write of this very sync may have.
    const { resourceVersion } = store.get(definition.storageKey, crd.metadata.name)?.metadata ?? {};
    const metadata = { ...crd.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
    const context = { ...CONTEXT, ...(subresource !== undefined && { subresource }) };
    objects.update(definition, { name: metadata.name }, jsonOf({ ...crd, metadata }), context);
  }
}
