import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { createListWatch, type ListWatch } from "../kube/list-watch.ts";
import type { ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { ResourceCache } from "../kube/resource-cache.ts";
import { ServerOutage } from "../kube/server-outage.ts";
import type { Controller } from "./controller.ts";
import { ControllerUnit } from "./controller-unit.ts";
import { HealthChecks, type Heartbeat, startHeartbeat } from "./health.ts";
import { type Heap, IdleHeap } from "./idle-heap.ts";
import { type ElectionTiming, LeaderElector } from "./leader-election.ts";
import type { Metrics } from "./metrics.ts";
import type { Onlooker, OperatorLook } from "./onlooker.ts";
import type { Shutdown } from "./shutdown.ts";
import { type WatchedSource, WatchedSources } from "./watched-source.ts";

/**
 * The running operator: the controllers, who may work when. Watches run from the start, so that a standby knows the world
 * when it takes over; work begins once the operator leads and the controller's caches are complete. Must not: know a
 * kind, or decide what a reconcile does.
 */
export interface OperatorOptions {
  readonly kube: Kube;
  readonly controllers: readonly Controller[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly workersPerController?: number;
  /** Where to look for what is in namespaces; absent or none: everywhere. */
  readonly namespaces?: readonly string[];
  /** Absent: this is the only one, and it leads at once. */
  readonly election?: {
    readonly namespace: string;
    readonly name: string;
    readonly identity: string;
    readonly timing?: Partial<ElectionTiming>;
  };
  /** Those who look at what controllers watch, each at a kind of its own. */
  readonly onlookers?: readonly Onlooker[];
  /** Absent where this process has no say in its memory. */
  readonly heap?: Heap | undefined;
  /** Leadership was lost: all work must stop, and the process with it. */
  readonly onLost: (reason: string) => void;
}

export const crdType: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

export class Operator {
  readonly readiness = new HealthChecks();
  readonly liveness = new HealthChecks();
  readonly #options: OperatorOptions;
  readonly #outage: ServerOutage;
  readonly #watching = new AbortController();
  readonly #electing = new AbortController();
  readonly #sources: WatchedSources;
  readonly #units: readonly ControllerUnit[];
  readonly #definitions: ListWatch;
  readonly #heartbeat: Heartbeat;
  readonly #elector: LeaderElector | undefined;
  #idleHeap: IdleHeap | undefined;
  readonly #synced = Promise.withResolvers<void>();
  #running: Promise<unknown> = Promise.resolve();
  #electionEnded: Promise<unknown> = Promise.resolve();
  /** Started and chosen, and neither deposed nor stopped since. */
  #isChosen = false;

  constructor(options: OperatorOptions) {
    this.#options = options;
    this.#outage = new ServerOutage(options.clock, options.logger);
    this.#heartbeat = startHeartbeat({ clock: options.clock });
    this.#elector = this.#createElector();
    this.#sources = this.#createSources();
    this.#units = this.#createUnits();
    this.#definitions = this.#createDefinitionWatch();
    for (const onlooker of options.onlookers ?? []) this.#sourceOf(onlooker.type)?.admit(onlooker);
    this.liveness.add(this.#heartbeat);
    if (this.#elector) this.readiness.add(this.#elector);
    for (const unit of this.#units) this.liveness.add(unit.liveness());
    for (const source of this.#sources.all()) this.readiness.add(source.readiness());
  }

  /** Resolves once every controller's watches know the state of the world, or know that their kind is not served. */
  synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Asked by whoever shows it to people. */
  look(): OperatorLook {
    const { identity = "", holder } = this.#elector ?? {};
    const isThis = this.#elector?.isLeader() ?? this.#isChosen;
    const alone = isThis ? { identity: "this process, without an election", isThis } : undefined;
    return {
      leader: this.#elector ? leaderOf(isThis ? identity : holder, isThis) : alone,
      watches: this.#sources.all().map((source) => source.look()),
      queues: this.#units.map((unit) => unit.look()),
    };
  }

  /** What is watched of all objects of a kind, and as a whole. */
  #sourceOf(type: ResourceType): WatchedSource | undefined {
    return this.#sources
      .all()
      .find(({ source }) => isSame(source.type, type) && !source.selection && source.metadataOnly !== true);
  }

  start(): void {
    const { signal } = this.#watching;
    const { heap, clock } = this.#options;
    const isIdle = (): boolean => this.#units.every((unit) => unit.isReady() && unit.isIdle());
    if (heap) this.#idleHeap = new IdleHeap({ heap, clock, isIdle });
    this.#running = Promise.all([
      this.#definitions.run(signal),
      ...this.#sources.all().map((source) => source.run(signal)),
    ]);
    if (this.#elector) this.#electionEnded = this.#elector.run(this.#electing.signal);
    else this.#leadAlone(true);
    this.#beginWhereReady();
  }

  /** In the order that loses nothing: no new work, then the work under way, then the lease, then the watches. */
  addShutdownSteps(shutdown: Shutdown): void {
    shutdown.addStep({
      name: "workers",
      boundMs: 2500,
      run: async () => {
        this.#isChosen = false;
        await Promise.all(this.#units.map((unit) => unit.stop()));
      },
    });
    shutdown.addStep({
      name: "lease",
      boundMs: 2000,
      needs: ["workers"],
      run: async () => {
        if (!this.#elector) this.#leadAlone(false);
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
        this.#idleHeap?.stop();
        await this.#running;
      },
    });
  }

  #createSources(): WatchedSources {
    const { kube, clock, random, logger, metrics, namespaces = [] } = this.#options;
    const onWatchChanged = (): void => this.#watchChanged();
    const observe = metrics.watchObservers();
    const outage = this.#outage;
    return new WatchedSources({ kube, clock, random, logger, outage, namespaces, onWatchChanged, observe });
  }

  #createUnits(): readonly ControllerUnit[] {
    const { kube, clock, random, logger, metrics, controllers, workersPerController: workers = 32 } = this.#options;
    const queue = metrics.queueObservers();
    const worker = metrics.workerObservers();
    const mayWork = (): boolean => this.#elector?.isLeader() ?? true;
    return controllers.map((controller) => {
      const observers = { queue: queue(controller.name), workers: worker(controller.name) };
      const common = { kube, clock, random, logger, workers, mayWork, sources: this.#sources };
      return new ControllerUnit({ ...common, controller, observers });
    });
  }

  /** CRDs are watched only to hear at once of kinds that come into being; without the right to, it takes longer. */
  #createDefinitionWatch(): ListWatch {
    const { kube, clock, random, logger } = this.#options;
    return createListWatch({
      kube,
      clock,
      random,
      logger,
      outage: this.#outage,
      type: crdType,
      cache: new ResourceCache<null>(),
      metadataOnly: true,
      transform: () => null,
      onDelta: ({ type, key }) => {
        if (type === "deleted") return;
        for (const source of this.#sources.all()) source.poke(key);
      },
    });
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
      ...(election.timing && { timing: election.timing }),
      observer: metrics.leaderObserver(),
      onStarted: () => {
        this.#isChosen = true;
        this.#beginWhereReady();
      },
      onLost: (reason) => {
        this.#isChosen = false;
        onLost(reason);
      },
    });
  }

  #leadAlone(isLeading: boolean): void {
    this.#isChosen = isLeading;
    this.#options.metrics.leaderObserver().leadingChanged(isLeading);
  }

  #watchChanged(): void {
    if (this.#units.every((unit) => unit.isReady())) this.#synced.resolve();
    this.#beginWhereReady();
  }

  /** A controller begins when all its own watches are complete; one whose kind is not served has nothing to wait for. */
  #beginWhereReady(): void {
    if (!this.#isChosen) return;
    for (const unit of this.#units) if (unit.isReady()) unit.begin();
  }
}

const isSame = (a: ResourceType, b: ResourceType): boolean => a.group === b.group && a.plural === b.plural;

const leaderOf = (identity: string | undefined, isThis: boolean): OperatorLook["leader"] =>
  identity === undefined || identity === "" ? undefined : { identity, isThis };
