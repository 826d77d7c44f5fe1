import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { createListWatch, type ListWatch } from "../kube/list-watch.ts";
import { describeType, type ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { ResourceCache } from "../kube/resource-cache.ts";
import type { Controller, Watch } from "./controller.ts";
import { DueTimes } from "./due-times.ts";
import { HealthChecks, type HealthState, type Heartbeat, startHeartbeat } from "./health.ts";
import { LeaderElector } from "./leader-election.ts";
import type { Metrics, WatchObserver } from "./metrics.ts";
import { WorkQueue } from "./queue.ts";
import type { Shutdown } from "./shutdown.ts";
import { Workers } from "./workers.ts";

/**
 * The running operator: for each controller its watches, a queue, due times and workers, wired together. Watches run from
 * the start, so that a standby knows the world when it takes over; work begins once the operator leads and its caches are
 * complete. Must not: know a kind, or decide what a reconcile does.
 */
export interface OperatorOptions {
  readonly kube: Kube;
  readonly controllers: readonly Controller[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly workersPerController?: number;
  /** Absent: this is the only one, and it leads at once. */
  readonly election?: { readonly namespace: string; readonly name: string; readonly identity: string };
  /** Leadership was lost: all work must stop, and the process with it. */
  readonly onLost: (reason: string) => void;
}

const crdType: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

interface Unit {
  readonly controller: Controller;
  readonly queue: WorkQueue;
  readonly dueTimes: DueTimes;
  readonly workers: Workers;
  readonly watches: readonly ListWatch[];
}

export class Operator {
  readonly readiness = new HealthChecks();
  readonly liveness = new HealthChecks();
  readonly #options: OperatorOptions;
  readonly #watching = new AbortController();
  readonly #electing = new AbortController();
  readonly #units: readonly Unit[];
  readonly #watches: { readonly type: ResourceType; readonly watch: ListWatch }[] = [];
  readonly #heartbeat: Heartbeat;
  readonly #elector: LeaderElector | undefined;
  readonly #observeWatch: (kind: string) => WatchObserver;
  readonly #observeQueue: ReturnType<Metrics["queueObservers"]>;
  readonly #observeWorkers: ReturnType<Metrics["workerObservers"]>;
  #running: Promise<unknown> = Promise.resolve();
  #electionEnded: Promise<unknown> = Promise.resolve();
  readonly #synced = Promise.withResolvers<void>();
  #mayWork: boolean;

  constructor(options: OperatorOptions) {
    this.#options = options;
    this.#observeWatch = options.metrics.watchObservers();
    this.#observeQueue = options.metrics.queueObservers();
    this.#observeWorkers = options.metrics.workerObservers();
    this.#heartbeat = startHeartbeat({ clock: options.clock });
    this.liveness.add(this.#heartbeat);
    this.#units = options.controllers.map((controller) => this.#createUnit(controller));
    this.#watchDefinitions();
    this.#elector = this.#createElector();
    this.#mayWork = this.#elector === undefined;
  }

  /** Resolves once every watch knows the state of the world, or knows that its kind is not served. */
  synced(): Promise<void> {
    return this.#synced.promise;
  }

  start(): void {
    this.#running = Promise.all(this.#watches.map(({ watch }) => watch.run(this.#watching.signal)));
    if (this.#elector) this.#electionEnded = this.#elector.run(this.#electing.signal);
    this.#startWorkWhenReady();
  }

  /** In the order that loses nothing: no new work, then the work under way, then the lease, then the watches. */
  addShutdownSteps(shutdown: Shutdown): void {
    shutdown.addStep({
      name: "workers",
      boundMs: 2500,
      run: async () => {
        for (const unit of this.#units) unit.dueTimes.stop();
        await Promise.all(this.#units.map((unit) => unit.workers.stop()));
      },
    });
    shutdown.addStep({
      name: "lease",
      boundMs: 2000,
      needs: ["workers"],
      run: async () => {
        this.#electing.abort();
        await this.#electionEnded;
      },
    });
    shutdown.addStep({
      name: "watches",
      boundMs: 500,
      run: async () => {
        this.#watching.abort();
        this.#heartbeat.stop();
        await this.#running;
      },
    });
  }

  #createUnit(controller: Controller): Unit {
    const { clock, random, kube } = this.#options;
    const logger = this.#options.logger.with({ controller: controller.name });
    const queue = new WorkQueue({ clock, random, observer: this.#observeQueue(controller.name) });
    const dueTimes = new DueTimes({ clock, logger, onDue: (key) => queue.add(key, "person") });
    const caches = new Map<Watch, ResourceCache<unknown>>();
    const watches = controller.watches.map((watch) => {
      const cache = new ResourceCache<unknown>();
      caches.set(watch, cache);
      return this.#createWatch(watch, { cache, queue, dueTimes, logger });
    });
    const cacheOf = (watch: Watch): ResourceCache<unknown> => {
      const cache = caches.get(watch);
      if (!cache) throw new RangeError(`${controller.name} does not watch ${describeType(watch.type)}`);
      return cache;
    };
    const reconcile = controller.createReconcile({ kube, clock, random, logger, cacheOf });
    const observer = this.#observeWorkers(controller.name);
    const count = this.#options.workersPerController ?? 32;
    // Asked before every key: a process that was paused finds out here that somebody else leads by now.
    const mayWork = (): boolean => this.#elector?.isLeader() ?? true;
    const workers = new Workers({ queue, reconcile, dueTimes, clock, logger, observer, count, mayWork });
    this.liveness.add({ name: `workers of ${controller.name}`, state: () => workers.state() });
    return { controller, queue, dueTimes, workers, watches };
  }

  #createWatch(
    watch: Watch,
    parts: {
      readonly cache: ResourceCache<unknown>;
      readonly queue: WorkQueue;
      readonly dueTimes: DueTimes;
      readonly logger: Logger;
    },
  ): ListWatch {
    const { kube, clock, random } = this.#options;
    const name = describeType(watch.type);
    const observer = this.#observeWatch(name);
    let isSynced = false;
    const listWatch = createListWatch({
      kube,
      clock,
      random,
      type: watch.type,
      logger: parts.logger,
      cache: parts.cache,
      transform: watch.record,
      ...(watch.selection && { selection: watch.selection }),
      ...(watch.metadataOnly && { metadataOnly: true }),
      onDelta: (delta) => {
        observer.event(delta.type);
        observer.cached(parts.cache.size);
        // What was there before nobody asked for just now; what changes while we look, somebody probably did.
        for (const key of watch.keysOf(delta)) parts.queue.add(key, isSynced ? "person" : "drift");
      },
      onSynced: () => {
        isSynced = true;
        parts.logger.info("watching", { kind: name, objects: parts.cache.size });
        this.#watchChanged();
      },
      observer: {
        onRestart: (reason) => {
          observer.restarted(reason);
          this.#watchChanged();
        },
      },
    });
    this.#addWatch(watch.type, listWatch, () => {
      const state = watchState(listWatch);
      observer.ready(state.ready);
      return state;
    });
    return listWatch;
  }

  #addWatch(type: ResourceType, watch: ListWatch, state: () => HealthState): void {
    this.#watches.push({ type, watch });
    this.readiness.add({ name: `watch of ${describeType(type)}`, state });
  }

  /** CRDs are watched only to hear at once of kinds that come into being; without the right to, it takes longer. */
  #watchDefinitions(): void {
    const { kube, clock, random, logger } = this.#options;
    const watched = new Set(this.#watches.map(({ type }) => type.group));
    const definitions = createListWatch({
      kube,
      clock,
      random,
      logger,
      type: crdType,
      cache: new ResourceCache<undefined>(),
      metadataOnly: true,
      transform: () => undefined,
      onSynced: () => this.#watchChanged(),
      onDelta: ({ key }) => {
        const group = key.slice(key.indexOf(".") + 1);
        if (!watched.has(group)) return;
        for (const { type, watch } of this.#watches) if (type.group === group) watch.poke();
      },
    });
    this.#watches.push({ type: crdType, watch: definitions });
  }

  #createElector(): LeaderElector | undefined {
    const { election, kube, clock, random, logger, metrics, onLost } = this.#options;
    if (!election) return undefined;
    return new LeaderElector({
      kube,
      clock,
      random,
      logger,
      lease: { namespace: election.namespace, name: election.name },
      identity: election.identity,
      observer: metrics.leaderObserver(),
      onStarted: () => {
        this.#mayWork = true;
        this.#startWorkWhenReady();
      },
      onLost: (reason) => {
        this.#mayWork = false;
        onLost(reason);
      },
    });
  }

  /** Called whenever a watch may have become complete. */
  #watchChanged(): void {
    if (this.#watches.every(({ watch }) => watch.state().ready)) this.#synced.resolve();
    this.#startWorkWhenReady();
  }

  /** A controller begins when all its own watches are complete; one whose kind is not served has nothing to wait for. */
  #startWorkWhenReady(): void {
    if (!this.#mayWork || this.#watching.signal.aborted) return;
    for (const unit of this.#units) {
      if (unit.watches.every((watch) => watch.state().ready)) unit.workers.start();
    }
  }
}

function watchState(watch: ListWatch): HealthState {
  const { synced, served, stale, objects } = watch.state();
  if (!served) return { ready: true, reason: "the kind is not installed; it is picked up when it appears" };
  if (!synced) return { ready: false, reason: "the first list is not complete" };
  if (stale) return { ready: false, reason: "no sign of life from the server" };
  return { ready: true, reason: `${objects} objects` };
}
