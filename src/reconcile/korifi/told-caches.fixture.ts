import { type KubeObject, keyOf } from "../../kube/objects.ts";
import { ResourceCache } from "../../kube/resource-cache.ts";
import type { Source, Watch } from "../../runtime/controller.ts";
import { KorifiCaches } from "./korifi-caches.ts";
import { korifiSources } from "./korifi-sources.ts";

/** Caches that are told what they know, whatever the server says by then. */
export class ToldCaches {
  readonly #caches = new Map<Source, ResourceCache<unknown>>();
  readonly caches: KorifiCaches;

  constructor() {
    const watch = <R>(source: Source<R>): Watch<R> => ({ source, keysOf: () => [] });
    const { instances, bindings, secrets, projections } = korifiSources;
    const watches = {
      instances: watch(instances),
      bindings: watch(bindings),
      secrets: watch(secrets),
      projections: watch<KubeObject>(projections),
    };
    const cacheOf = <R>({ source }: Watch<R>): ResourceCache<R> => this.#of(source) as ResourceCache<R>;
    this.caches = new KorifiCaches(watches, { cacheOf });
  }

  #of<R>(source: Source<R>): ResourceCache<unknown> {
    const known = this.#caches.get(source as Source);
    if (known) return known;
    const made = new ResourceCache<unknown>({ indexes: (source as Source).indexes ?? {} });
    this.#caches.set(source as Source, made);
    return made;
  }

  tell<R>(source: Source<R>, object: KubeObject): void {
    const { uid = "", resourceVersion = "" } = object.metadata;
    const cache = this.#of(source);
    const record = source.record(object);
    const deltas = cache.deltasOfUpsert({ key: keyOf(object.metadata), uid, resourceVersion, record });
    for (const delta of deltas) cache.apply(delta);
  }
}
