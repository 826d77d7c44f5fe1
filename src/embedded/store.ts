import type { KubeObject } from "../kube/objects.ts";
import { StatusError } from "./status-error.ts";

/**
 * The state of the embedded server: every object by kind and key, one revision that counts all writes, and per kind the
 * recent changes that watches and paged lists read. With a journal, a write returns only once it would survive a kill.
 * Must not: validate, default or decide anything; whoever writes has done that. Stored objects are never changed.
 */
export interface Change {
  readonly revision: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: string;
  /** The new object; for DELETED the last one, with the revision of its deletion. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** Where writes are kept across restarts. `append` is called before anybody can see the change. */
export interface Journal {
  load(): JournalContent;
  append(kind: string, change: Change): void;
  close(): void;
}

export interface JournalContent {
  readonly revision: number;
  readonly objects: Iterable<{ readonly kind: string; readonly key: string; readonly object: KubeObject }>;
}

interface Kind {
  readonly objects: Map<string, KubeObject>;
  /** Changes in order; the oldest are dropped, and `compactedAt` says up to where. */
  changes: Change[];
  compactedAt: number;
  sortedKeys: readonly string[] | undefined;
  readonly listeners: Set<() => void>;
}

export interface StoreOptions {
  readonly journal?: Journal;
  /** How many changes per kind are kept for watches; older ones answer 410. */
  readonly historyLimit?: number;
}

const DEFAULT_HISTORY_LIMIT = 4096;

export class Store {
  readonly #kinds = new Map<string, Kind>();
  readonly #journal: Journal | undefined;
  readonly #historyLimit: number;
  /** What happened before this process started is unknown to it: watches may start from here, not before. */
  #startRevision: number;
  #revision: number;

  constructor(options: StoreOptions = {}) {
    this.#journal = options.journal;
    this.#historyLimit = options.historyLimit ?? DEFAULT_HISTORY_LIMIT;
    const { revision, objects } = this.#journal?.load() ?? { revision: 0, objects: [] };
    this.#revision = revision;
    this.#startRevision = revision;
    for (const { kind, key, object } of objects) this.#table(kind).objects.set(key, object);
  }

  get revision(): number {
    return this.#revision;
  }

  get(kind: string, key: string): KubeObject | undefined {
    return this.#kinds.get(kind)?.objects.get(key);
  }

  /** The kinds that hold at least one object. */
  kinds(): readonly string[] {
    return [...this.#kinds].filter(([, kind]) => kind.objects.size > 0).map(([name]) => name);
  }

  /**
   * Writes one object (or removes it, with `object` undefined) at the next revision and returns it as stored. The caller
   * has just read it in the same turn, so there is nothing to compare: everything up to here is synchronous.
   */
  write(kind: string, key: string, object: KubeObject | undefined): KubeObject {
    const table = this.#table(kind);
    const previous = table.objects.get(key);
    const source = object ?? previous;
    if (!source) throw new Error(`store: nothing to remove at ${kind} ${key}`);
    const revision = this.#revision + 1;
    const stored: KubeObject = { ...source, metadata: { ...source.metadata, resourceVersion: String(revision) } };
    const type = object ? (previous ? "MODIFIED" : "ADDED") : "DELETED";
    const change: Change = { revision, type, key, object: stored, previous };
    this.#journal?.append(kind, change);
    this.#revision = revision;
    if (object) table.objects.set(key, stored);
    else table.objects.delete(key);
    if (type !== "MODIFIED") table.sortedKeys = undefined;
    table.changes.push(change);
    // Trimmed in bulk, so that a write does not shift a long array each time.
    if (table.changes.length >= 2 * this.#historyLimit) this.#trim(table, this.#historyLimit);
    for (const listener of [...table.listeners]) listener();
    return stored;
  }

  /** Keys in the order of a list, within one namespace or all. */
  keys(kind: string, namespace?: string): readonly string[] {
    const table = this.#kinds.get(kind);
    if (!table) return [];
    table.sortedKeys ??= [...table.objects.keys()].sort();
    return inNamespace(table.sortedKeys, namespace);
  }

  list(kind: string, namespace?: string): readonly KubeObject[] {
    const objects = this.#kinds.get(kind)?.objects;
    if (!objects) return [];
    return this.keys(kind, namespace).flatMap((key) => objects.get(key) ?? []);
  }

  /** The list as it was at a revision, made by undoing what came later. Throws 410 when that is no longer known. */
  listAt(kind: string, revision: number, namespace?: string): readonly KubeObject[] {
    const table = this.#table(kind);
    const last = table.changes.at(-1);
    if (revision < table.compactedAt) throw expired(revision, table.compactedAt);
    if (!last || last.revision <= revision) return this.list(kind, namespace);
    const past = new Map(table.objects);
    for (let i = table.changes.length - 1; i >= 0; i--) {
      const change = table.changes[i];
      if (!change || change.revision <= revision) break;
      if (change.previous) past.set(change.key, change.previous);
      else past.delete(change.key);
    }
    return inNamespace([...past.keys()].sort(), namespace).flatMap((key) => past.get(key) ?? []);
  }

  /** The changes after a revision, oldest first. Throws 410 when some of them are no longer known. */
  changesAfter(kind: string, revision: number): readonly Change[] {
    const table = this.#table(kind);
    if (revision < table.compactedAt) throw expired(revision, table.compactedAt);
    let low = 0;
    let high = table.changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((table.changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low === table.changes.length ? [] : table.changes.slice(low);
  }

  /** Calls back after every change of a kind until told to stop. Listeners must not throw. */
  onChange(kind: string, listener: () => void): () => void {
    const { listeners } = this.#table(kind);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Forgets history: watches and continue tokens from before now answer 410. */
  compact(): void {
    this.#startRevision = this.#revision;
    for (const table of this.#kinds.values()) {
      table.changes = [];
      table.compactedAt = this.#revision;
    }
  }

  close(): void {
    this.#journal?.close();
  }

  #table(kind: string): Kind {
    const known = this.#kinds.get(kind);
    if (known) return known;
    const table: Kind = {
      objects: new Map(),
      changes: [],
      compactedAt: this.#startRevision,
      sortedKeys: undefined,
      listeners: new Set(),
    };
    this.#kinds.set(kind, table);
    return table;
  }

  #trim(table: Kind, keep: number): void {
    const dropped = table.changes.length - keep;
    table.compactedAt = table.changes[dropped - 1]?.revision ?? table.compactedAt;
    table.changes = table.changes.slice(dropped);
  }
}

function inNamespace(sorted: readonly string[], namespace: string | undefined): readonly string[] {
  if (namespace === undefined) return sorted;
  const from = lowerBound(sorted, `${namespace}/`);
  const to = lowerBound(sorted, `${namespace}0`); // "0" follows "/" in the order of code points
  return sorted.slice(from, to);
}

function lowerBound(sorted: readonly string[], wanted: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

const expired = (wanted: number, oldest: number): StatusError =>
  new StatusError(410, "Expired", `too old resource version: ${wanted} (${oldest})`);
