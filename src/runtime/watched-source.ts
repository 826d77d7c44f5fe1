import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { onBehalfOf } from "../kube/impersonating.ts";
import { createListWatch, type ListWatch } from "../kube/list-watch.ts";
import { describeType, type KubeObject, type ResourceType } from "../kube/objects.ts";
import type { Kube, Selection } from "../kube/port.ts";
import { type CacheWriter, type Delta, ResourceCache } from "../kube/resource-cache.ts";
import type { ServerOutage } from "../kube/server-outage.ts";
import type { Source } from "./controller.ts";
import type { HealthSource, HealthState } from "./health.ts";
import type { WatchLabels, WatchObserver, WatchProbe } from "./metrics.ts";
import type { Onlooker, OperatorLook } from "./onlooker.ts";

export interface WatchedSourceOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly outage: ServerOutage;
  /** Where to look for what is in namespaces; none: everywhere. */
  readonly namespaces: readonly string[];
  /** A watch may have become complete, or its kind may have come or gone. */
  readonly onWatchChanged: () => void;
  readonly observe: (probe: WatchProbe) => WatchObserver;
}

/** Is told of every change, in order; `isNews` is false while the first list is taken in. */
type Listener = (delta: Delta<unknown>, isNews: boolean) => void;

/** What one list-watch looks at, and what it keeps of it. */
interface Part {
  readonly cache: CacheWriter<unknown>;
  readonly selection: Selection | undefined;
}

/** How to ask for one namespace alone; undefined for what is in none. A Namespace is found by its own name. */
function narrowing({ group, plural, namespaced }: ResourceType): ((namespace: string) => Selection) | undefined {
  if (namespaced) return (namespace) => ({ namespace });
  return group === "" && plural === "namespaces"
    ? (namespace) => ({ fieldSelector: `metadata.name=${namespace}` })
    : undefined;
}

/** A source that is kept up with the server, for all controllers that name it. */
export class WatchedSource {
  readonly source: Source;
  readonly cache: ResourceCache<unknown>;
  /** One, or one for each namespace that is looked at. */
  readonly #listWatches: readonly ListWatch[];
  readonly #controllers: string[] = [];
  readonly #listeners: Listener[] = [];
  readonly #logger: Logger;
  #onlooker: Onlooker | undefined;
  /** What the onlooker has made of an object, by what is kept of that, until it is told: a state that nobody hears of goes with it. */
  readonly #glances = new WeakMap<object, unknown>();
  /** None: watched from the start. */
  readonly #sakes: readonly WatchedSource[];
  readonly #dependents: WatchedSource[] = [];
  readonly #needed = Promise.withResolvers<void>();
  #isNeeded: boolean;
  #labels: WatchLabels | undefined;
  #isSynced = false;

  constructor(source: Source, options: WatchedSourceOptions, sakes: readonly WatchedSource[] = []) {
    this.source = source;
    this.#logger = options.logger;
    this.#sakes = sakes;
    this.#isNeeded = sakes.length === 0;
    for (const sake of sakes) sake.#dependents.push(this);
    this.cache = new ResourceCache<unknown>(source.indexes && { indexes: source.indexes });
    const observer = options.observe({
      labels: () => this.#label(),
      state: () => ({ ready: this.state().ready, objects: this.cache.size }),
    });
    this.#listWatches = this.#partsOf(options.namespaces).map((part) => this.#listWatchOf(part, options, observer));
  }

  #partsOf(namespaces: readonly string[]): readonly Part[] {
    const { type, selection } = this.source;
    if (namespaces.length === 0 || selection?.namespace !== undefined) return [{ cache: this.cache, selection }];
    const narrowed = narrowing(type);
    if (narrowed === undefined) return [{ cache: this.cache, selection }];
    return namespaces.map((namespace) => ({
      cache: this.cache.part(namespace),
      selection: { ...selection, ...narrowed(namespace) },
    }));
  }

  #listWatchOf({ cache, selection }: Part, options: WatchedSourceOptions, observer: WatchObserver): ListWatch {
    const { kube, clock, random, logger, outage, onWatchChanged } = options;
    const { source } = this;
    const kind = describeType(source.type);
    return createListWatch({
      // Whoever shares it later is named as well.
      kube: onBehalfOf(kube, () => this.#controllers.join(",")),
      clock,
      random,
      type: source.type,
      logger,
      outage,
      cache,
      transform: (object) => this.#recordOf(object),
      ...(selection && { selection }),
      ...(source.metadataOnly && { metadataOnly: true }),
      onDelta: (delta) => {
        observer.event(delta.type);
        // Before anybody hears of it: nobody may decide on what this makes incomplete.
        for (const dependent of this.#dependents) dependent.#need();
        for (const listener of this.#listeners) listener(delta, this.#isSynced);
        this.#show(delta);
      },
      onSynced: () => {
        if (!this.#listWatches.every((one) => one.state().ready)) return;
        this.#isSynced = true;
        logger.info("watching", { ...this.#label(), objects: this.cache.size });
        onWatchChanged();
      },
      observer: {
        onRestart: (reason) => observer.restarted(reason),
        onServed: (isServed) => {
          logger.info(
            isServed ? "the kind is installed" : "the kind is not installed; it is picked up when it appears",
            { kind },
          );
          onWatchChanged();
        },
      },
    });
  }

  /** Before it runs: whoever comes later has missed something. */
  share(controller: string, listener: Listener): void {
    this.#controllers.push(controller);
    this.#listeners.push(listener);
    this.#labels = undefined;
  }

  /** Before it runs, too. There is room for one. */
  admit(onlooker: Onlooker): void {
    this.#onlooker = onlooker;
  }

  #recordOf(object: KubeObject): unknown {
    const record = this.source.record(object);
    if (this.#onlooker === undefined || typeof record !== "object" || record === null) return record;
    try {
      this.#glances.set(record, this.#onlooker.glance(object));
    } catch (error) {
      this.#logger.error("an onlooker could not make sense of an object", { error: messageOf(error) });
    }
    return record;
  }

  #show(delta: Delta<unknown>): void {
    if (delta.type === "deleted") {
      this.#onlooker?.lost(delta.key);
      return;
    }
    const { record } = delta.entry;
    if (typeof record !== "object" || record === null || !this.#glances.has(record)) return;
    const view = this.#glances.get(record);
    this.#glances.delete(record);
    this.#onlooker?.saw(delta.key, view);
  }

  /** It knows the state of the world, or knows that its kind is not served, or that nobody needs it. */
  isReady(): boolean {
    return this.#isNeeded
      ? this.#listWatches.every((one) => one.state().ready)
      : this.#sakes.every((sake) => sake.isReady());
  }

  /** Keeps the cache up with the server, once somebody needs it, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#needed.resolve(), { once: true });
    if (!this.#isNeeded) await this.#needed.promise;
    await Promise.all(this.#listWatches.map((one) => one.run(signal)));
  }

  #need(): void {
    this.#isNeeded = true;
    this.#needed.resolve();
  }

  /** The kind of this CRD (`plural.group`) may have come into being. */
  poke(definition: string): void {
    const { plural, group } = this.source.type;
    if (`${plural}.${group}` === definition) for (const one of this.#listWatches) one.poke();
  }

  readiness(): HealthSource {
    const { controllers, kind, selector } = this.#label();
    const what = selector === "" ? kind : `${kind} with ${selector}`;
    return { name: `watch of ${what} for ${controllers}`, state: () => this.state() };
  }

  look(): OperatorLook["watches"][number] {
    const { kind, selector } = this.#label();
    const { ready, reason } = this.#isNeeded ? this.state() : { ready: true, reason: "nobody needs it yet" };
    return { kind: selector === "" ? kind : `${kind} with ${selector}`, isReady: ready, words: reason };
  }

  state(): HealthState {
    const states = this.#listWatches.map((one) => one.state());
    const synced = states.every((one) => one.synced);
    const served = states.some((one) => one.served);
    const stale = states.some((one) => one.stale);
    const trouble = states.find((one) => one.trouble !== undefined)?.trouble;
    const why = trouble === undefined ? "" : ` (${trouble})`;
    if (!this.#isNeeded) return { ready: this.isReady(), reason: "nobody needs it yet" };
    if (served && !synced) return { ready: false, reason: `the first list is not complete${why}` };
    if (stale) return { ready: false, reason: `no sign of life from the server${why}` };
    if (!served) return { ready: true, reason: "the kind is not installed; it is picked up when it appears" };
    return { ready: true, reason: `${this.cache.size} objects` };
  }

  #label(): WatchLabels {
    const { type, selection: { labelSelector, fieldSelector } = {} } = this.source;
    this.#labels ??= {
      controllers: this.#controllers.join(","),
      kind: describeType(type),
      selector: [labelSelector, fieldSelector].filter((one) => one !== undefined).join(","),
    };
    return this.#labels;
  }
}

/** The sources of an operator, each watched once. */
export class WatchedSources {
  readonly #options: WatchedSourceOptions;
  readonly #sources = new Map<Source, WatchedSource>();

  constructor(options: WatchedSourceOptions) {
    this.#options = options;
  }

  of(source: Source): WatchedSource {
    const known = this.#sources.get(source);
    if (known) return known;
    const sakes = (source.sakes ?? []).map((sake) => this.of(sake));
    const added = new WatchedSource(source, this.#options, sakes);
    this.#sources.set(source, added);
    return added;
  }

  all(): readonly WatchedSource[] {
    return [...this.#sources.values()];
  }
}
