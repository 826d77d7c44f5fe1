import { compareResourceVersions, isOlder } from "./resource-version.ts";

/** A cached record: what `transform` kept of an object, and what identifies that state of it. */
export interface Entry<R> {
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly record: R;
}

/**
 * One change as the consumer sees it. Per key they alternate legally, and `old` is what the delta before it left. Changes
 * via `watch` are exactly the server's, one by one; those via `refresh` may sum up several that happened while away.
 */
export type Delta<R> = { readonly key: string; readonly via: Via } & (
  | { readonly type: "added"; readonly entry: Entry<R> }
  | { readonly type: "updated"; readonly entry: Entry<R>; readonly old: Entry<R> }
  | { readonly type: "deleted"; readonly old: Entry<R> }
);

type Via = "watch" | "refresh";

/** The values under which a record can be found. Must not throw. */
export type Indexer<R> = (record: R) => readonly string[];

export interface ResourceCacheOptions<R> {
  readonly indexes?: Readonly<Record<string, Indexer<R>>>;
}

/** Keys by value. Most values lead to one key, and a set for each would weigh more than all that is in it. */
type Filed = Map<string, string | Set<string>>;

interface Note {
  readonly resourceVersion: string;
  readonly epoch: number;
}

/** How far a list-watch has come: all of the cache, or the part of it that is its own. */
interface Progress {
  /** The resourceVersion up to which everything has been seen; empty before the first list. */
  position: string;
  epoch: number;
}

/** What a list-watch does with the cache, or with its part of it. */
export interface CacheWriter<R> {
  readonly size: number;
  /** What an object that now is in this state means: nothing, one delta, or two where the object was re-created. */
  deltasOfUpsert(entry: Entry<R>): readonly Delta<R>[];
  deltasOfRemoval(key: string, resourceVersion: string): readonly Delta<R>[];
  /** What it takes to get from here to exactly `complete`: deletions first, the rest in the order it was written. */
  deltasOfReplacement(complete: ReadonlyMap<string, Entry<R>>): readonly Delta<R>[];
  apply(delta: Delta<R>): void;
  /** Everything up to this version has been applied. */
  advance(position: string): void;
  /** A fresh look at everything begins: what is noted up to now will be in it. */
  beginRefresh(): void;
  /** That look is complete and applied. */
  endRefresh(position: string): void;
}

/**
 * The last known state of one kind, written by its list-watch alone, or by several of them, each its own part. Reads never wait and never lie about their age:
 * `isCurrent` says whether the cache has caught up with our own last write of a key, and nobody decides on a key for
 * which it has not. Must not: be changed other than by applying the deltas it computed itself.
 */
export class ResourceCache<R> implements CacheWriter<R> {
  readonly #entries = new Map<string, Entry<R>>();
  readonly #indexes = new Map<string, { readonly indexer: Indexer<R>; readonly keys: Filed }>();
  readonly #notes = new Map<string, Note>();
  readonly #whole: Progress = { position: "", epoch: 0 };
  /** By namespace. */
  readonly #parts = new Map<string, Progress>();

  constructor(options: ResourceCacheOptions<R> = {}) {
    for (const [name, indexer] of Object.entries(options.indexes ?? {})) {
      this.#indexes.set(name, { indexer, keys: new Map() });
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The resourceVersion up to which everything has been seen; empty before the first list. Of several parts, that of the
   * one that is furthest behind.
   */
  get position(): string {
    if (this.#parts.size === 0) return this.#whole.position;
    const positions = Array.from(this.#parts.values(), ({ position }) => position);
    return positions.includes("") ? "" : positions.reduce((a, b) => (isOlder(b, a) ? b : a));
  }

  /** For a list-watch of one namespace alone. Before anything is written; then nobody writes the whole. */
  part(namespace: string): CacheWriter<R> {
    const progress: Progress = { position: "", epoch: 0 };
    this.#parts.set(namespace, progress);
    const cache = this;
    return {
      get size() {
        return cache.size;
      },
      deltasOfUpsert: (entry) => cache.deltasOfUpsert(entry),
      deltasOfRemoval: (key, resourceVersion) => cache.deltasOfRemoval(key, resourceVersion),
      deltasOfReplacement: (complete) => cache.#deltasBetween(complete, (key) => namespaceOf(key) === namespace),
      apply: (delta) => cache.apply(delta),
      advance: (position) => {
        progress.position = position;
      },
      beginRefresh: () => {
        progress.epoch += 1;
      },
      endRefresh: (position) => cache.#endRefreshOf(progress, position),
    };
  }

  get(key: string): R | undefined {
    return this.#entries.get(key)?.record;
  }

  entry(key: string): Entry<R> | undefined {
    return this.#entries.get(key);
  }

  list(): R[] {
    return Array.from(this.#entries.values(), (entry) => entry.record);
  }

  entries(): IterableIterator<Entry<R>> {
    return this.#entries.values();
  }

  /** The entries that the index `name` files under `value`. */
  find(name: string, value: string): readonly Entry<R>[] {
    const index = this.#indexes.get(name);
    if (!index) throw new RangeError(`there is no index "${name}"`);
    const found: Entry<R>[] = [];
    const keys = index.keys.get(value) ?? [];
    for (const key of typeof keys === "string" ? [keys] : keys) {
      const entry = this.#entries.get(key);
      if (entry) found.push(entry);
    }
    return found;
  }

  /** We wrote this key, and the server answered with this version. */
  noteWrite(key: string, resourceVersion: string): void {
    const noted = this.#notes.get(key);
    if (noted && isOlder(resourceVersion, noted.resourceVersion)) return;
    this.#notes.set(key, { resourceVersion, epoch: this.#progressOf(key).epoch });
  }

  /**
   * False while the cache may be older than our own last write of this key. Versions that cannot be compared count as
   * seen when the watch brought exactly them, or a list that began after the write is complete.
   */
  isCurrent(key: string): boolean {
    const note = this.#notes.get(key);
    if (!note) return true;
    const entryVersion = this.#entries.get(key)?.resourceVersion;
    const { position } = this.#progressOf(key);
    const seen = reaches(entryVersion, note.resourceVersion) || reaches(position, note.resourceVersion);
    if (seen) this.#notes.delete(key);
    return seen;
  }

  deltasOfUpsert(entry: Entry<R>): readonly Delta<R>[] {
    const old = this.#entries.get(entry.key);
    return old && isOlder(entry.resourceVersion, old.resourceVersion) ? [] : changesBetween(old, entry, "watch");
  }

  deltasOfRemoval(key: string, resourceVersion: string): readonly Delta<R>[] {
    const old = this.#entries.get(key);
    if (!old || isOlder(resourceVersion, old.resourceVersion)) return [];
    return [{ type: "deleted", key, via: "watch", old }];
  }

  deltasOfReplacement(complete: ReadonlyMap<string, Entry<R>>): readonly Delta<R>[] {
    return this.#deltasBetween(complete, () => true);
  }

  #deltasBetween(complete: ReadonlyMap<string, Entry<R>>, isMeant: (key: string) => boolean): readonly Delta<R>[] {
    const deltas: Delta<R>[] = [];
    for (const [key, old] of this.#entries) {
      if (!complete.has(key) && isMeant(key)) deltas.push({ type: "deleted", key, via: "refresh", old });
    }
    const changed: Entry<R>[] = [];
    for (const entry of complete.values()) {
      const old = this.#entries.get(entry.key);
      if (!old || old.uid !== entry.uid || old.resourceVersion !== entry.resourceVersion) changed.push(entry);
    }
    changed.sort((a, b) => compareResourceVersions(a.resourceVersion, b.resourceVersion) ?? 0);
    for (const entry of changed) deltas.push(...changesBetween(this.#entries.get(entry.key), entry, "refresh"));
    return deltas;
  }

  /** The entry first: an indexer that throws may spoil an index, never the state. */
  apply(delta: Delta<R>): void {
    const { key } = delta;
    if (delta.type === "deleted") this.#entries.delete(key);
    else this.#entries.set(key, delta.entry);
    if (delta.type !== "added") this.#unfile(delta.old);
    if (delta.type === "deleted") return;
    if (this.#notes.get(key)?.resourceVersion === delta.entry.resourceVersion) this.#notes.delete(key);
    this.#file(delta.entry);
  }

  advance(position: string): void {
    this.#whole.position = position;
  }

  beginRefresh(): void {
    this.#whole.epoch += 1;
  }

  endRefresh(position: string): void {
    this.#endRefreshOf(this.#whole, position);
  }

  #endRefreshOf(progress: Progress, position: string): void {
    progress.position = position;
    for (const [key, note] of this.#notes) {
      if (this.#progressOf(key) !== progress) continue;
      const order = compareResourceVersions(position, note.resourceVersion);
      if (order === undefined ? note.epoch < progress.epoch : order >= 0) this.#notes.delete(key);
    }
  }

  #progressOf(key: string): Progress {
    return this.#parts.get(namespaceOf(key)) ?? this.#whole;
  }

  #file(entry: Entry<R>): void {
    for (const { indexer, keys } of this.#indexes.values()) {
      for (const value of indexer(entry.record)) {
        const filed = keys.get(value);
        if (filed === undefined || filed === entry.key) keys.set(value, entry.key);
        else if (typeof filed === "string") keys.set(value, new Set([filed, entry.key]));
        else filed.add(entry.key);
      }
    }
  }

  #unfile(entry: Entry<R>): void {
    for (const { indexer, keys } of this.#indexes.values()) {
      for (const value of indexer(entry.record)) {
        const filed = keys.get(value);
        if (filed === entry.key) keys.delete(value);
        else if (filed instanceof Set) {
          filed.delete(entry.key);
          if (filed.size === 0) keys.delete(value);
        }
      }
    }
  }
}

function changesBetween<R>(old: Entry<R> | undefined, entry: Entry<R>, via: Via): readonly Delta<R>[] {
  const { key } = entry;
  if (!old) return [{ type: "added", key, via, entry }];
  if (old.uid !== entry.uid) {
    return [
      { type: "deleted", key, via, old },
      { type: "added", key, via, entry },
    ];
  }
  return old.resourceVersion === entry.resourceVersion ? [] : [{ type: "updated", key, via, entry, old }];
}

function reaches(version: string | undefined, wanted: string): boolean {
  if (version === undefined) return false;
  return version === wanted || (compareResourceVersions(version, wanted) ?? -1) >= 0;
}

/** A Namespace counts as its own. */
function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? key : key.slice(0, slash);
}
