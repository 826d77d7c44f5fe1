import type { KubeObject } from "../kube/objects.ts";
import type { FeedEvent, WatchFeed } from "./object-api.ts";
import type { Predicate } from "./selectors.ts";
import type { Change, Store } from "./store.ts";

export interface FeedOptions {
  readonly store: Store;
  readonly storageKey: string;
  readonly namespace: string | undefined;
  readonly selects: Predicate;
  readonly from: number;
  /** The state to begin with, as ADDED events. */
  readonly initial: readonly KubeObject[];
  /** Turns a stored object into the version that is watched. */
  readonly present: (object: KubeObject) => KubeObject;
  readonly onClose?: () => void;
}

/** A position in the store's history, seen through one watcher's selection. */
export class StoreFeed implements WatchFeed {
  readonly #options: FeedOptions;
  readonly #stopListening: () => void;
  #initial: readonly KubeObject[];
  #position: number;
  #wake: (() => void) | undefined;
  #closed = false;
  /** What was not taken yet when the kind went away: handed out once more, as a real server does. */
  #rest: readonly FeedEvent[] = [];

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#initial = options.initial;
    this.#position = options.from;
    this.#stopListening = options.store.onChange(options.storageKey, () => this.#wakeUp());
  }

  get position(): string {
    return String(this.#position);
  }

  get closed(): boolean {
    return this.#closed;
  }

  take(): readonly FeedEvent[] {
    if (this.#closed) {
      const rest = this.#rest;
      this.#rest = [];
      return rest;
    }
    const { store, storageKey, present } = this.#options;
    const initial = this.#initial.map((object): FeedEvent => ({ type: "ADDED", object: present(object) }));
    this.#initial = [];
    const changes = store.changesAfter(storageKey, this.#position);
    // Nothing of this kind happened up to the store's own revision, so a bookmark may say that much.
    this.#position = store.revision;
    return [...initial, ...changes.flatMap((change) => this.#view(change))];
  }

  async wait(): Promise<void> {
    if (this.#closed || this.#initial.length > 0) return;
    if (this.#hasChanges()) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** The kind is no longer served: what happened up to now can still be taken, and then nothing more comes. */
  end(): void {
    const rest = this.take();
    this.close();
    this.#rest = rest;
  }

  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#options.onClose?.();
    this.#wakeUp();
  }

  /** Lost history counts as something to take: `take` then says so. */
  #hasChanges(): boolean {
    try {
      return this.#options.store.changesAfter(this.#options.storageKey, this.#position).length > 0;
    } catch {
      return true;
    }
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** What a change means within the selection: an object that leaves it was deleted, as far as this watcher can see. */
  #view(change: Change): readonly FeedEvent[] {
    const { namespace, selects, present } = this.#options;
    if (namespace !== undefined && change.object.metadata.namespace !== namespace) return [];
    const before = change.previous !== undefined && selects(change.previous);
    const now = change.type !== "DELETED" && selects(change.object);
    if (now) return [{ type: before ? "MODIFIED" : "ADDED", object: present(change.object) }];
    if (!before || !change.previous) return [];
    const { resourceVersion } = change.object.metadata;
    const last: KubeObject = {
      ...change.previous,
      metadata: { ...change.previous.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
    };
    return [{ type: "DELETED", object: present(last) }];
  }
}
