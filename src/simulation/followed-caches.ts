import { labelSelector } from "../embedded/selectors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { type Delta, type Entry, ResourceCache } from "../kube/resource-cache.ts";
import type { Source } from "../runtime/controller.ts";
import type { WatchView } from "./watch-view.ts";

type Seen = (object: KubeObject) => KubeObject;

/** Caches of a controller that know what the watches of its process have told. */
export class FollowedCaches {
  readonly #watch: WatchView;
  readonly #seen: Seen;
  readonly #caches = new Map<unknown, { readonly cache: unknown; follow(from: string): void }>();
  #position = "";

  constructor(watch: WatchView, seen: Seen = (object) => object) {
    this.#watch = watch;
    this.#seen = seen;
  }

  /** `heard` is told of every change by itself, as long as that is known. */
  cacheOf<R>(source: Source<R>, heard?: (delta: Delta<R>) => void): ResourceCache<R> {
    const known = this.#caches.get(source);
    if (known) return known.cache as ResourceCache<R>;
    const { indexes, selection } = source;
    const isSelected = labelSelector(selection?.labelSelector);
    const cache = new ResourceCache<R>(indexes ? { indexes } : {});
    const records = new WeakMap<KubeObject, Entry<R>>();
    const follow = (from: string): void => {
      if (heard && from !== "") this.#tell(source, cache, from, heard);
      const selected = this.#watch.list(source.type).filter(isSelected);
      const entries = selected.flatMap((object) => {
        const entry = records.get(object) ?? this.#entryOf(source, object);
        if (entry) records.set(object, entry);
        return entry ?? [];
      });
      for (const delta of cache.deltasOfReplacement(new Map(entries.map((entry) => [entry.key, entry]))))
        cache.apply(delta);
      cache.advance(this.#watch.position);
    };
    this.#caches.set(source, { cache, follow });
    return cache;
  }

  /** As far as the watches have come. */
  follow(): void {
    if (this.#position === this.#watch.position) return;
    const from = this.#position;
    this.#position = this.#watch.position;
    for (const { follow } of this.#caches.values()) follow(from);
  }

  #tell<R>(source: Source<R>, cache: ResourceCache<R>, from: string, heard: (delta: Delta<R>) => void): void {
    for (const { type, key, object } of this.#watch.changesAfter(source.type, from) ?? []) {
      const entry = type === "DELETED" ? undefined : this.#entryOf(source, object);
      const { resourceVersion = "" } = object.metadata;
      for (const delta of entry ? cache.deltasOfUpsert(entry) : cache.deltasOfRemoval(key, resourceVersion)) {
        cache.apply(delta);
        heard(delta);
      }
    }
  }

  #entryOf<R>(source: Source<R>, stored: KubeObject): Entry<R> | undefined {
    const object = this.#seen(stored);
    const { apiVersion, kind, metadata } = object;
    const record = source.record(source.metadataOnly ? { apiVersion, kind, metadata } : object);
    const { namespace, name, uid = "", resourceVersion = "" } = metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    return record === undefined ? undefined : { key, uid, resourceVersion, record };
  }
}

/** Watches tell while a call is under way. */
export function following(kube: Kube, follow: () => void): Kube {
  const then = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } finally {
      follow();
    }
  };
  return {
    ...kube,
    get: (type, ref, options) => then(kube.get(type, ref, options)),
    list: (type, options) => then(kube.list(type, options)),
    create: (type, object, options) => then(kube.create(type, object, options)),
    replace: (type, object, options) => then(kube.replace(type, object, options)),
    patch: (type, ref, patch, options) => then(kube.patch(type, ref, patch, options)),
    delete: (type, ref, options) => then(kube.delete(type, ref, options)),
  };
}
