import { type Clock, delay, type Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { integerBetween, type Random } from "../base/random.ts";
import { Contact } from "./contact.ts";
import {
  BadRequest,
  Forbidden,
  Gone,
  Invalid,
  KubeError,
  NotServed,
  TooManyRequests,
  Unauthorized,
  Unavailable,
} from "./errors.ts";
import {
  DEFAULT_TIMING,
  type Effect,
  type FailureKind,
  type Input,
  initialState,
  type ListWatchState,
  type ObjectEvent,
  type Pause,
  type Phase,
  type RestartReason,
  step,
  type Timing,
} from "./list-watch-machine.ts";
import { describeType, type KubeObject, keyOf, type ResourceType } from "./objects.ts";
import type { Kube, Selection, WatchEvent } from "./port.ts";
import type { CacheWriter, Delta, Entry } from "./resource-cache.ts";
import type { ServerOutage } from "./server-outage.ts";

export interface ListWatchOptions<R> {
  readonly kube: Kube;
  readonly type: ResourceType;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly cache: CacheWriter<R>;
  /**
   * What of an object is kept; undefined: nothing, as if the object were not there. Called once per state of an object;
   * must not throw and must not keep the rest alive.
   */
  readonly transform: (object: KubeObject) => R | undefined;
  readonly onDelta?: (delta: Delta<R>) => void;
  /** The cache holds the whole state for the first time. */
  readonly onSynced?: () => void;
  readonly selection?: Selection;
  readonly metadataOnly?: boolean;
  readonly observer?: ListWatchObserver;
  readonly tuning?: ListWatchTuning;
  readonly outage?: ServerOutage;
}

/** For metrics; told, never asked. */
interface ListWatchObserver {
  onEvent?(type: WatchEvent["type"]): void;
  /** The kind came into being, or is not there. */
  onServed?(isServed: boolean): void;
  onRestart?(reason: RestartReason): void;
  onRefresh?(objects: number, deltas: number): void;
}

interface ListWatchTuning {
  readonly watchList?: boolean;
  readonly pageSize?: number;
  /** A connection without a sign of life for this long is broken off: a random length between the two. */
  readonly idleMs?: readonly [number, number];
  /** How long one watch may last: a random length between the two. */
  readonly watchSeconds?: readonly [number, number];
  /** Without contact for this long, the cache counts as stale. */
  readonly staleAfterMs?: number;
  /**
   * The same while attempts to reach the server have failed for a while: then silence needs no more proof. A watch on which
   * little happens is silent for most of a minute when all is well, so that one failure proves nothing.
   */
  readonly staleInTroubleMs?: number;
  readonly briefTroubleMs?: number;
  readonly timing?: Timing;
}

interface ListWatchSnapshot {
  readonly phase: Phase["kind"];
  /** The cache holds, or once held, the whole state. */
  readonly synced: boolean;
  /** False while the server says that it does not know the kind. */
  readonly served: boolean;
  /** Nothing to wait for at the start: synced, or known not to be served. */
  readonly ready: boolean;
  /** Monotonic time of the server's last sign of life; undefined before the first. */
  readonly lastContactAt: number | undefined;
  readonly stale: boolean;
  /** The code of the error that keeps it from the server at present. */
  readonly trouble: string | undefined;
  readonly objects: number;
  readonly failures: number;
}

export interface ListWatch {
  /** Keeps the cache up with the server until the signal aborts; never rejects and never gives up. */
  run(signal: AbortSignal): Promise<void>;
  /** The kind may have come into being: look now, where that is what is being waited for. */
  poke(): void;
  state(): ListWatchSnapshot;
}

/**
 * Keeps a cache equal to the server's state of one kind and tells its consumer of every change: none missed, none twice,
 * none out of order, a re-created object as delete and add. The decisions are in `list-watch-machine.ts`; this drives
 * them over the Kube port. A handler that throws is logged and stops nothing. Must not: write to the server.
 */
export function createListWatch(options: Omit<ListWatchOptions<KubeObject>, "transform">): ListWatch;
export function createListWatch<R>(options: ListWatchOptions<R>): ListWatch;
export function createListWatch<R>(
  options: ListWatchOptions<R> | Omit<ListWatchOptions<KubeObject>, "transform">,
): ListWatch {
  if ("transform" in options) return new Driver(options);
  return new Driver<KubeObject>({ ...options, transform: withoutManagedFields });
}

/** Half of a typical object's size is in fields nobody here reads. */
function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const DEFAULT_TUNING = {
  watchList: true,
  pageSize: 500,
  idleMs: [120_000, 180_000],
  watchSeconds: [240, 480],
  staleAfterMs: 300_000,
  staleInTroubleMs: 90_000,
  briefTroubleMs: 15_000,
  timing: DEFAULT_TIMING,
} as const satisfies ListWatchTuning;

class Driver<R> implements ListWatch {
  readonly #options: ListWatchOptions<R>;
  readonly #tuning: Required<ListWatchTuning>;
  readonly #logger: Logger;
  readonly #contact: Contact;
  readonly #staged = new Map<string, Entry<R>>();
  #state: ListWatchState;
  #synced = false;
  /** The last connection was accepted and then went silent: the next one must bring something to be believed. */
  #isMute = false;
  #wake: AbortController | undefined;

  constructor(options: ListWatchOptions<R>) {
    this.#options = options;
    this.#tuning = { ...DEFAULT_TUNING, ...options.tuning };
    this.#logger = options.logger.with({ watch: describeType(options.type) });
    this.#contact = new Contact(options.clock, this.#logger, options.outage);
    this.#state = initialState({ watchList: this.#tuning.watchList });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#work(this.#state.phase, signal);
    this.#dispatch({ kind: "stop" });
  }

  poke(): void {
    this.#dispatch({ kind: "poke" });
    if (this.#state.phase.kind !== "waiting") this.#wake?.abort();
  }

  state(): ListWatchSnapshot {
    const { staleAfterMs, staleInTroubleMs, briefTroubleMs } = this.#tuning;
    const { phase, served, failures } = this.#state;
    const mayBeSilentMs = this.#contact.troubleMs > briefTroubleMs ? staleInTroubleMs : staleAfterMs;
    return {
      phase: phase.kind,
      synced: this.#synced,
      served,
      ready: this.#synced || !served,
      lastContactAt: this.#contact.lastAt,
      stale: this.#contact.silentMs > mayBeSilentMs,
      trouble: this.#contact.trouble,
      objects: this.#options.cache.size,
      failures,
    };
  }

  async #work(phase: Phase, signal: AbortSignal): Promise<void> {
    switch (phase.kind) {
      case "listing":
        return this.#list(phase, signal);
      case "watchListing":
        this.#options.cache.beginRefresh();
        return this.#watch({ sendInitialEvents: true }, signal);
      case "watching":
        return this.#watch({ resourceVersion: this.#state.position ?? "" }, signal);
      case "waiting":
        return this.#pause(phase.pause, signal);
      case "stopped":
        throw new Error("a stopped list-watch cannot run again");
    }
  }

  async #list(phase: Extract<Phase, { readonly kind: "listing" }>, signal: AbortSignal): Promise<void> {
    const { kube, type, selection, metadataOnly, cache, clock } = this.#options;
    if (phase.token === undefined) cache.beginRefresh();
    const startedAt = clock.monotonic();
    try {
      const page = await kube.list(type, {
        ...selection,
        signal,
        ...(metadataOnly && { metadataOnly }),
        ...(!phase.unpaged && { limit: this.#tuning.pageSize }),
        ...(phase.token !== undefined && { continue: phase.token }),
      });
      if (signal.aborted) return;
      this.#contact.made();
      this.#dispatch({ kind: "page", page });
    } catch (error) {
      if (!signal.aborted) this.#fail(error, startedAt);
    }
  }

  async #watch(
    from: { readonly sendInitialEvents: true } | { readonly resourceVersion: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { kube, type, selection, metadataOnly, random, clock } = this.#options;
    const startedAt = clock.monotonic();
    let held: Timer | undefined;
    let heardAt: number | undefined;
    const options = {
      ...selection,
      ...from,
      signal,
      ...(metadataOnly && { metadataOnly }),
      timeoutSeconds: integerBetween(random, ...this.#tuning.watchSeconds),
      idleTimeoutMs: integerBetween(random, ...this.#tuning.idleMs),
      onOpen: () => {
        heardAt = clock.monotonic();
        held = clock.setTimer(() => this.#heldOn(), this.#tuning.timing.soundWatchMs);
      },
    };
    try {
      for await (const event of kube.watch(type, options)) {
        if (signal.aborted) return;
        heardAt = clock.monotonic();
        this.#isMute = false;
        this.#contact.made();
        this.#guarded("onEvent", () => this.#options.observer?.onEvent?.(event.type));
        // The machine has left this connection behind: what else it sends belongs to no state any more.
        if (this.#dispatch({ kind: "event", event }).some((effect) => effect.kind === "restart")) return;
      }
      if (signal.aborted) return;
      this.#contact.made();
      this.#dispatch({ kind: "ended", lastedMs: clock.monotonic() - startedAt });
    } catch (error) {
      this.#isMute = heardAt !== undefined && clock.monotonic() - heardAt >= options.idleTimeoutMs;
      if (!signal.aborted) this.#fail(error, startedAt);
    } finally {
      held?.cancel();
    }
  }

  /** A connection that was accepted and holds is a sign of life before its first event, which may take a minute. */
  #heldOn(): void {
    if (!this.#isMute) this.#contact.made();
  }

  async #pause(pause: Pause, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const factor = pause.jitter === "down" ? 0.5 + random.next() / 2 : 1 + random.next() / 5;
    this.#wake = new AbortController();
    const stop = (): void => this.#wake?.abort();
    signal.addEventListener("abort", stop, { once: true });
    await delay(clock, pause.delayMs * factor, this.#wake.signal);
    signal.removeEventListener("abort", stop);
    this.#wake = undefined;
    if (!signal.aborted) this.#dispatch({ kind: "timer" });
  }

  #fail(error: unknown, startedAt: number): void {
    const failure = failureOf(error);
    const isFallback = failure === "bad-request" && this.#state.phase.kind === "watchListing";
    const isAnswer = failure === "not-served" || failure === "gone" || isFallback;
    if (isAnswer) this.#contact.made();
    const retryAfterMs = error instanceof KubeError && error.retry.kind === "after" ? error.retry.delayMs : undefined;
    const lastedMs = this.#options.clock.monotonic() - startedAt;
    this.#logger.debug("the watch broke off", { error: messageOf(error), failure, failures: this.#state.failures });
    this.#dispatch({ kind: "failed", failure, lastedMs, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    if (!isAnswer) this.#contact.failed(error, failure === "refused" || failure === "bad-request");
  }

  #dispatch(input: Input): readonly Effect[] {
    const wasServed = this.#state.served;
    const { state, effects } = step(this.#state, input, this.#tuning.timing);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    if (state.served !== wasServed) this.#guarded("onServed", () => this.#options.observer?.onServed?.(state.served));
    if (state.synced && !this.#synced) {
      this.#synced = true;
      this.#guarded("onSynced", () => this.#options.onSynced?.());
    }
    return effects;
  }

  #perform(effect: Effect): void {
    const { cache, observer } = this.#options;
    switch (effect.kind) {
      case "unstage":
        this.#staged.clear();
        break;
      case "stage":
        this.#stage(effect.objects);
        break;
      case "stageEvent":
        if (effect.event.type === "DELETED") this.#staged.delete(keyOf(effect.event.object.metadata));
        else this.#stage([effect.event.object]);
        break;
      case "commit":
        this.#commit(effect.resourceVersion);
        break;
      case "apply":
        this.#apply(effect.event);
        break;
      case "advance":
        cache.advance(effect.resourceVersion);
        break;
      case "restart":
        this.#guarded("onRestart", () => observer?.onRestart?.(effect.reason));
        break;
    }
  }

  #stage(objects: readonly KubeObject[]): void {
    for (const object of objects) {
      const entry = this.#entryOf(object);
      if (entry === "not kept") this.#staged.delete(keyOf(object.metadata));
      else if (entry) this.#staged.set(entry.key, entry);
    }
  }

  #commit(resourceVersion: string): void {
    const { cache, observer } = this.#options;
    const deltas = cache.deltasOfReplacement(this.#staged);
    const objects = this.#staged.size;
    this.#staged.clear();
    for (const delta of deltas) this.#deliver(delta);
    cache.endRefresh(resourceVersion);
    this.#guarded("onRefresh", () => observer?.onRefresh?.(objects, deltas.length));
  }

  #apply(event: ObjectEvent): void {
    const { cache } = this.#options;
    const { metadata } = event.object;
    const entry = event.type === "DELETED" ? "not kept" : this.#entryOf(event.object);
    if (!entry) return;
    const deltas =
      entry === "not kept"
        ? cache.deltasOfRemoval(keyOf(metadata), metadata.resourceVersion ?? "")
        : cache.deltasOfUpsert(entry);
    for (const delta of deltas) this.#deliver(delta);
  }

  /** The cache first, then the consumer: who reads the cache in a handler finds the change there. */
  #deliver(delta: Delta<R>): void {
    this.#guarded("an index", () => this.#options.cache.apply(delta));
    this.#guarded("onDelta", () => this.#options.onDelta?.(delta));
  }

  /** Undefined for an object that nobody could make sense of: what is known of it stays. */
  #entryOf(object: KubeObject): Entry<R> | "not kept" | undefined {
    const { uid = "", resourceVersion = "" } = object.metadata;
    const key = keyOf(object.metadata);
    try {
      const record = this.#options.transform(object);
      return record === undefined ? "not kept" : { key, uid, resourceVersion, record };
    } catch (error) {
      this.#logger.error("an object could not be compacted and was left out", { key, error: messageOf(error) });
      return undefined;
    }
  }

  /** Handlers may be async functions in disguise, whose rejections would otherwise end the process. */
  #guarded(handler: string, call: () => unknown): void {
    const failed = (error: unknown): void =>
      this.#logger.error("a handler failed", { handler, error: messageOf(error) });
    try {
      const result = call();
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

function failureOf(error: unknown): FailureKind {
  if (error instanceof Gone) return "gone";
  if (error instanceof NotServed) return "not-served";
  if (error instanceof TooManyRequests) return "throttled";
  if (error instanceof BadRequest || error instanceof Invalid) return "bad-request";
  if (error instanceof Forbidden || error instanceof Unauthorized) return "refused";
  if (error instanceof Unavailable) return error.retry.kind === "after" ? "throttled" : "unavailable";
  return error instanceof KubeError && error.status !== undefined ? "unavailable" : "unreachable";
}
