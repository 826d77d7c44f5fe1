import { type Clock, delay, type Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { FeedEvent, ObjectApi, WatchFeed } from "../object-api.ts";
import type { ResourceDefinition } from "../registry.ts";
import { StatusError } from "../status-error.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { OwnerIndex } from "./owner-index.ts";

/** A controller: which keys a change concerns, and how to bring the world in line for one key. */
export interface Controller {
  readonly name: string;
  keysFor(event: ObservedEvent): readonly string[];
  /** Level-triggered. Returns in how many milliseconds to look at this key again even if nothing changes. */
  reconcile(key: string): number | undefined;
}

export interface ObservedEvent {
  readonly type: FeedEvent["type"];
  readonly definition: ResourceDefinition;
  readonly object: KubeObject;
  /** What was known of the object before; absent where it is new, or gone. */
  readonly previous?: KubeObject;
}

interface Item {
  readonly controller: Controller;
  readonly key: string;
}

const ITEMS_PER_TURN = 64;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 60_000;

/**
 * Runs the simulated controllers: one queue without duplicates, one item at a time, in the order things happened, each
 * on the newest state. Sleeps until a watch or a timer wakes it; nothing polls. Must not: know what any controller does.
 */
export class ControllerLoop {
  readonly #options: {
    readonly objects: ObjectApi;
    readonly cluster: ClusterView;
    readonly index: OwnerIndex;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly controllers: readonly Controller[];
  };
  readonly #feeds = new Map<string, { readonly definition: ResourceDefinition; feed: WatchFeed }>();
  readonly #queue = new Map<string, Item>();
  readonly #timers = new Map<string, Timer>();
  readonly #failures = new Map<string, number>();
  #wake: (() => void) | undefined;
  #isStopped = false;
  #finished: Promise<void> | undefined;

  constructor(options: {
    readonly objects: ObjectApi;
    readonly cluster: ClusterView;
    readonly index: OwnerIndex;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly controllers: readonly Controller[];
  }) {
    this.#options = options;
  }

  start(): void {
    this.#finished ??= this.#run().catch((error: unknown) => {
      this.#options.logger.error("the embedded controllers stopped", { error: messageOf(error) });
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    for (const { feed } of this.#feeds.values()) feed.close();
    this.#wake?.();
    await this.#finished;
  }

  /** Kinds came or went (a CRD): watch those there are now. */
  kindsChanged(): void {
    this.#followKinds();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    this.#followKinds();
    for (let handled = 0; !this.#isStopped; ) {
      this.#takeAll();
      const next = this.#queue.entries().next().value;
      if (!next) {
        await this.#idle();
        continue;
      }
      const [id, item] = next;
      this.#queue.delete(id);
      this.#reconcile(id, item);
      handled += 1;
      // Requests are served by the same thread: they get their turn in between.
      if (handled % ITEMS_PER_TURN === 0) await delay(this.#options.clock, 0);
    }
  }

  async #idle(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, ...[...this.#feeds.values()].map(({ feed }) => feed.wait())]);
    this.#wake = undefined;
  }

  #followKinds(): void {
    const { cluster, objects, index } = this.#options;
    const kinds = new Map(cluster.kinds().map((definition) => [definition.storageKey, definition]));
    for (const [storageKey, { feed }] of this.#feeds) {
      if (kinds.has(storageKey)) continue;
      feed.close();
      this.#feeds.delete(storageKey);
      index.reset(storageKey);
    }
    for (const [storageKey, definition] of kinds) {
      if (this.#feeds.has(storageKey) || this.#isStopped) continue;
      this.#feeds.set(storageKey, { definition, feed: objects.watch(definition, {}) });
    }
  }

  /** Every change up to now, before anything is decided: a controller never acts on less than it wrote itself. */
  #takeAll(): void {
    for (const entry of this.#feeds.values()) {
      if (this.#isStopped) return;
      if (entry.feed.closed) this.#relist(entry);
      try {
        for (const event of entry.feed.take()) this.#observe(entry.definition, event);
      } catch (error) {
        if (!(error instanceof StatusError && error.status === 410)) throw error;
        this.#relist(entry);
      }
    }
  }

  /** History was lost, or the feed was ended from outside: what is gone counts as deleted, what is there comes again as added. */
  #relist(entry: { readonly definition: ResourceDefinition; feed: WatchFeed }): void {
    entry.feed.close();
    const known = this.#options.index.reset(entry.definition.storageKey);
    for (const object of known) this.#enqueue({ type: "DELETED", definition: entry.definition, object });
    entry.feed = this.#options.objects.watch(entry.definition, {});
    for (const event of entry.feed.take()) this.#observe(entry.definition, event);
  }

  #observe(definition: ResourceDefinition, { type, object }: FeedEvent): void {
    const { index } = this.#options;
    if (type === "DELETED") {
      index.delete(definition.storageKey, object);
      this.#enqueue({ type, definition, object });
      return;
    }
    const previous = index.set(definition.storageKey, object);
    this.#enqueue({ type, definition, object, ...(previous && { previous }) });
  }

  #enqueue(event: ObservedEvent): void {
    for (const controller of this.#options.controllers) {
      for (const key of controller.keysFor(event)) this.#add({ controller, key });
    }
  }

  #add(item: Item): void {
    const id = `${item.controller.name} ${item.key}`;
    if (!this.#queue.has(id)) this.#queue.set(id, item);
  }

  #reconcile(id: string, item: Item): void {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    try {
      const againMs = item.controller.reconcile(item.key);
      this.#failures.delete(id);
      if (againMs !== undefined) this.#later(id, item, againMs);
    } catch (error) {
      const failures = (this.#failures.get(id) ?? 0) + 1;
      this.#failures.set(id, failures);
      const againMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
      const fields = { controller: item.controller.name, key: item.key, error: messageOf(error), againMs };
      this.#options.logger.debug("embedded controller failed and will try again", fields);
      this.#later(id, item, againMs);
    }
  }

  #later(id: string, item: Item, delayMs: number): void {
    if (this.#isStopped) return;
    const timer = this.#options.clock.setTimer(() => {
      this.#timers.delete(id);
      this.#add(item);
      this.#wake?.();
    }, delayMs);
    this.#timers.set(id, timer);
  }
}
