import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { onBehalfOf } from "../kube/impersonating.ts";
import { describeType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Delta, ResourceCache } from "../kube/resource-cache.ts";
import type { Controller, Watch } from "./controller.ts";
import { DueTimes } from "./due-times.ts";
import type { HealthSource } from "./health.ts";
import type { OperatorLook } from "./onlooker.ts";
import { type QueueObserver, WorkQueue } from "./queue.ts";
import type { WatchedSource, WatchedSources } from "./watched-source.ts";
import { type WorkerObserver, Workers } from "./workers.ts";

export interface ControllerUnitOptions {
  readonly controller: Controller;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** How many keys are worked on at a time; where there are lanes, in each of them. */
  readonly workers: number;
  /** Asked before every key: a process that was paused finds out here that somebody else leads by now. */
  readonly mayWork: () => boolean;
  readonly sources: WatchedSources;
  readonly observers: { readonly queue: QueueObserver; readonly workers: WorkerObserver };
}

/** So many lanes may be full at a time, before those in the others have to wait; where a controller says nothing else. */
const FULL_LANES = 8;

interface Watched {
  readonly watch: Watch;
  readonly source: WatchedSource;
}

/**
 * One controller at work: its watches, its queue, due times and workers. Until `begin`, changes go into
 * the caches alone, because a standby may stand by for weeks and its queue would grow all that time; `begin` then asks
 * once for everything there is. Must not: know why it may work or not, or what a reconcile does.
 */
export class ControllerUnit {
  readonly #options: ControllerUnitOptions;
  readonly #logger: Logger;
  readonly #queue: WorkQueue;
  readonly #dueTimes: DueTimes;
  readonly #workers: Workers;
  readonly #watched: readonly Watched[];
  #hasBegun = false;

  constructor(options: ControllerUnitOptions) {
    const { controller, clock, random, kube, observers } = options;
    this.#options = options;
    const logger = options.logger.with({ controller: controller.name });
    this.#logger = logger;
    const { laneOf, laneWidth = options.workers, fullLanes = FULL_LANES } = controller;
    const width = Math.min(laneWidth, options.workers);
    const laneWidthBeside = Math.min(controller.laneWidthBeside ?? width, width);
    const lanes = laneOf && { laneOf, laneWidth: width, laneWidthBeside };
    this.#queue = new WorkQueue({ clock, random, observer: observers.queue, ...lanes });
    this.#dueTimes = new DueTimes({ clock, logger, onDue: (key) => this.#queue.add(key, "person") });
    this.#watched = controller.watches.map((watch) => this.#follow(watch));
    const cacheOf = <R>(watch: Watch<R>): ResourceCache<R> => {
      const watched = this.#watched.find((candidate) => candidate.watch === watch);
      if (!watched) throw new RangeError(`${controller.name} does not watch ${describeType(watch.source.type)}`);
      // Filled with what the source of this very watch records.
      return watched.source.cache as ResourceCache<R>;
    };
    this.#workers = new Workers({
      queue: this.#queue,
      dueTimes: this.#dueTimes,
      reconcile: controller.createReconcile({
        kube: onBehalfOf(kube, controller.name),
        clock,
        random,
        logger,
        cacheOf,
        enqueue: (key) => this.#add(key),
        lookBy: (key, at) => this.#dueTimes.set(key, Math.min(at, this.#dueTimes.dueAt(key) ?? Infinity)),
        isFresh: () => this.#watched.every(({ source }) => source.state().ready),
      }),
      clock,
      logger,
      observer: observers.workers,
      count: lanes ? width * fullLanes : options.workers,
      // A kind that came into being is read whole before anything is decided on it.
      mayWork: () => options.mayWork() && this.isReady(),
    });
  }

  /** Every watch that counts knows the state of the world, or knows that its kind is not served. */
  isReady(): boolean {
    return this.#watched.every(({ watch, source }) => watch.isHint === true || source.isReady());
  }

  /** Starts the work, with everything that is in the caches; once, however often it is called. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    for (const { watch, source } of this.#watched) {
      for (const entry of source.cache.entries())
        this.#ask(watch, { type: "added", key: entry.key, via: "refresh", entry });
    }
    this.#workers.start();
  }

  /** Nothing is being worked on, and nothing waits for its turn; what is due later may come. */
  isIdle(): boolean {
    const { person, drift, running } = this.#queue.depth;
    return person + drift + running === 0;
  }

  /** How much there is to do. */
  look(): OperatorLook["queues"][number] {
    const { person, drift, delayed, running } = this.#queue.depth;
    return { controller: this.#options.controller.name, waiting: person + drift + delayed, working: running };
  }

  /** No new work; resolves when the work under way has returned. */
  async stop(): Promise<void> {
    this.#dueTimes.stop();
    await this.#workers.stop();
  }

  liveness(): HealthSource {
    return { name: `workers of ${this.#options.controller.name}`, state: () => this.#workers.state() };
  }

  #add(key: string): void {
    if (this.#hasBegun) this.#queue.add(key, "person");
  }

  #follow(watch: Watch): Watched {
    const { controller, sources } = this.#options;
    const source = sources.of(watch.source);
    source.share(controller.name, (delta, isNews) => {
      if (this.#hasBegun) this.#ask(watch, delta, isNews);
    });
    return { watch, source };
  }

  /** What was there before, nobody asked for just now; what changes while we look, somebody probably did. */
  #ask(watch: Watch, delta: Delta<unknown>, isNews = false): void {
    try {
      const isWish = isNews && (watch.isWish?.(delta) ?? true);
      for (const key of watch.keysOf(delta)) this.#queue.add(key, isWish ? "person" : "drift");
    } catch (error) {
      this.#logger.error("a change could not be turned into keys", { kind: describeType(watch.source.type), error });
    }
  }
}
