import type { Clock, Timer } from "../base/clock.ts";
import type { RetryRule } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { type BackOff, defaultBackOff, retryDelayMs } from "./back-off.ts";
import { KeyedHeap } from "./keyed-heap.ts";
import { LaneHeap } from "./lane-heap.ts";
import { LaneRoom } from "./lane-room.ts";
import { LaneTroubles } from "./lane-troubles.ts";

/**
 * Keys that need not wait any longer come back one after the other, so that a system that has just come back is not run
 * over: this far apart on average, and within so long where they are many.
 */
const RELEASE_PACE_MS = 20;
const LONGEST_RELEASE_MS = 3_000;
/** How long a sign that a lane works again is believed, at first, before the next one counts. */
const TROUBLE_PAUSE_MS = 10_000;

/**
 * The keyed work queue between watch events and workers. A key is in it at most once, is never handed to two workers at
 * the same time, and when it is added while a worker has it, it is handed out again afterwards. Failed keys come back
 * after a pause that grows. Keys may stand in lanes, of which each is only so wide: one in which the work takes for ever
 * does not keep the others waiting; and where what failed is shared by all of a lane, one success ends the pauses of the
 * others. Must not: know what a key or a lane stands for, or run anything itself.
 *
 * Memory: there is one record per key that waits, runs or is to be tried again, and none for any other.
 */
export type Priority = "person" | "drift";

export type WorkResult =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed"; readonly retry: RetryRule }
  /** Not worked on, and no fault of the key: it comes back after the pause as if it had never been taken. */
  | { readonly kind: "postponed"; readonly delayMs: number };

export interface Work {
  readonly key: string;
  readonly priority: Priority;
  /** Failures in a row before this attempt. */
  readonly failures: number;
  /** How long the key was ready and waited for a worker. */
  readonly waitedMs: number;
}

/** What the queue tells about itself. Called synchronously: must be quick, must not throw, must not call back in. */
export interface QueueObserver {
  /** Keys that are ready, of that priority, and keys that wait for a retry. */
  depthChanged?(depth: QueueDepth): void;
  taken?(priority: Priority, waitedMs: number): void;
  finished?(workMs: number): void;
  retried?(delayMs: number): void;
}

export interface QueueDepth {
  readonly person: number;
  readonly drift: number;
  readonly delayed: number;
  readonly running: number;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backOff?: Partial<BackOff>;
  /** So many keys of priority "person" may go ahead of a waiting "drift" key; then one of those is taken. */
  readonly personBurst?: number;
  /** Asked whenever a key becomes ready; all in one lane where absent. */
  readonly laneOf?: (key: string) => string;
  /** No more keys of one lane are handed out at a time; without end where absent. */
  readonly laneWidth?: number;
  /** The same while there is work in other lanes too; as many where absent. */
  readonly laneWidthBeside?: number;
  readonly observer?: QueueObserver;
}

interface Entry {
  state: "ready" | "running" | "delayed";
  lane: string;
  priority: Priority;
  failures: number;
  /** Monotonic: since when it is ready, or running. */
  sinceAt: number;
  /** Monotonic: no add may bring it forward of this, because the other side asked for the pause. */
  floorAt: number;
  /** Added while it was running. */
  again: Priority | undefined;
}

type State = "open" | "draining" | "closed";

export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backOff: BackOff;
  readonly #personBurst: number;
  readonly #observer: QueueObserver;
  readonly #laneOf: (key: string) => string;
  readonly #entries = new Map<string, Entry>();
  readonly #ready: Readonly<Record<Priority, LaneHeap>> = { person: new LaneHeap(), drift: new LaneHeap() };
  readonly #room: LaneRoom;
  readonly #delayed = new KeyedHeap();
  /** Absent where there are no lanes: nobody can tell who shares what then. */
  readonly #troubles: LaneTroubles | undefined;
  readonly #takers = new Set<(work: Work | undefined) => void>();
  readonly #idleWaiters: (() => void)[] = [];
  #timer: { readonly timer: Timer; readonly at: number } | undefined;
  #running = 0;
  #sequence = 0;
  #personInARow = 0;
  #state: State = "open";

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#backOff = { ...defaultBackOff, ...options.backOff };
    this.#personBurst = options.personBurst ?? 16;
    this.#observer = options.observer ?? {};
    this.#laneOf = options.laneOf ?? (() => "");
    const { laneWidth = Infinity, laneWidthBeside = laneWidth } = options;
    this.#room = new LaneRoom({ alone: laneWidth, beside: laneWidthBeside });
    const { capMs } = this.#backOff;
    this.#troubles = options.laneOf && new LaneTroubles({ baseMs: TROUBLE_PAUSE_MS, capMs });
  }

  get depth(): QueueDepth {
    return {
      person: this.#ready.person.size,
      drift: this.#ready.drift.size,
      delayed: this.#delayed.size,
      running: this.#running,
    };
  }

  /**
   * Asks for the key to be worked on. A person's wish cuts a back-off short; a drift check waits with it, since the
   * retry is going to look anyway. Returns false when the queue no longer accepts keys.
   */
  add(key: string, priority: Priority = "person"): boolean {
    if (this.#state !== "open") return false;
    const entry = this.#entries.get(key);
    if (!entry) {
      this.#entries.set(key, this.#newEntry(key, priority));
    } else if (entry.state === "running") {
      entry.again = entry.again === "person" ? "person" : priority;
    } else if (priority === "person") {
      this.#bringForward(key, entry);
    }
    this.#changed();
    return true;
  }

  /** The next key, as soon as there is one; undefined once the queue is closed or the signal aborts. */
  take(signal?: AbortSignal): Promise<Work | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    const work = this.#next();
    if (work || this.#state === "closed") return Promise.resolve(work);
    return new Promise((resolve) => {
      const finish = (found: Work | undefined): void => {
        this.#takers.delete(finish);
        signal?.removeEventListener("abort", giveUp);
        resolve(found);
      };
      const giveUp = (): void => finish(undefined);
      this.#takers.add(finish);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Gives a taken key back. Every `take` must be followed by exactly one `done`. */
  done(key: string, result: WorkResult): void {
    const entry = this.#entries.get(key);
    if (entry?.state !== "running") throw new Error(`queue: "${key}" was given back but not taken`);
    this.#running--;
    const nowAt = this.#clock.monotonic();
    if (!this.#room.leave(entry.lane, nowAt)) for (const ready of Object.values(this.#ready)) ready.open(entry.lane);
    this.#observer.finished?.(nowAt - entry.sinceAt);
    if (this.#state === "closed") this.#entries.delete(key);
    else this.#settle(key, entry, result);
    this.#changed();
  }

  /**
   * Takes no new keys, hands out what is ready, forgets what waits for a retry, and resolves when all of it is done.
   * The queue is closed then.
   */
  drain(): Promise<void> {
    if (this.#state === "open") {
      this.#state = "draining";
      this.#forgetDelayed();
    }
    return this.#whenIdle();
  }

  /**
   * Takes no new keys and hands out none; resolves when the running ones are given back. What waited is forgotten:
   * keys are levels, not events, so the next start finds whatever still needs doing.
   */
  close(): Promise<void> {
    this.#state = "closed";
    this.#forgetDelayed();
    for (const priority of ["person", "drift"] as const) {
      for (const key of this.#ready[priority].clear()) this.#entries.delete(key);
    }
    this.#changed();
    return this.#whenIdle();
  }

  #newEntry(key: string, priority: Priority): Entry {
    const lane = this.#laneOf(key);
    this.#ready[priority].add(key, lane, this.#sequence++);
    const sinceAt = this.#clock.monotonic();
    return { state: "ready", lane, priority, failures: 0, sinceAt, floorAt: 0, again: undefined };
  }

  #bringForward(key: string, entry: Entry): void {
    if (entry.state === "delayed") {
      const nowAt = this.#clock.monotonic();
      entry.priority = "person";
      if (entry.floorAt > nowAt) this.#delayed.set(key, Math.min(entry.floorAt, this.#delayed.rankOf(key) ?? Infinity));
      else this.#makeReady(key, entry);
    } else if (entry.priority === "drift") {
      this.#ready.drift.delete(key, entry.lane);
      entry.priority = "person";
      this.#ready.person.add(key, entry.lane, this.#sequence++);
    }
  }

  #makeReady(key: string, entry: Entry): void {
    this.#delayed.delete(key);
    entry.state = "ready";
    entry.sinceAt = this.#clock.monotonic();
    entry.again = undefined;
    const lane = this.#laneOf(key);
    if (lane !== entry.lane) this.#troubles?.forget(entry.lane, key);
    entry.lane = lane;
    this.#ready[entry.priority].add(key, entry.lane, this.#sequence++);
  }

  #settle(key: string, entry: Entry, result: WorkResult): void {
    if (result.kind === "postponed") {
      this.#postponed(key, entry, result.delayMs);
      return;
    }
    const { lane } = entry;
    const retry = result.kind === "failed" ? result.retry : undefined;
    if (retry?.kind !== "never" && retry?.isShared) this.#troubles?.failed(lane, key);
    else this.#troubles?.forget(lane, key);
    if (retry) {
      this.#failed(key, entry, retry);
      return;
    }
    this.#succeeded(key, entry);
    const others = this.#troubles?.succeeded(lane, this.#clock.monotonic()) ?? [];
    const withinMs = Math.min(others.length * RELEASE_PACE_MS, LONGEST_RELEASE_MS);
    for (const other of others) this.#release(other, withinMs);
  }

  /** Comes back within this time, unless it does so anyhow, or the other side has asked for a longer pause. */
  #release(key: string, withinMs: number): void {
    const dueAt = this.#delayed.rankOf(key);
    if (dueAt === undefined) return;
    const soonAt = this.#clock.monotonic() + withinMs * this.#random.next();
    const floorAt = this.#entries.get(key)?.floorAt ?? 0;
    this.#delayed.set(key, Math.min(dueAt, Math.max(soonAt, floorAt)));
  }

  #succeeded(key: string, entry: Entry): void {
    entry.failures = 0;
    entry.floorAt = 0;
    if (!entry.again) {
      this.#entries.delete(key);
      return;
    }
    entry.priority = entry.again;
    this.#makeReady(key, entry);
  }

  #failed(key: string, entry: Entry, retry: RetryRule): void {
    entry.failures++;
    const nowAt = this.#clock.monotonic();
    const pause = retryDelayMs(retry, entry.failures, this.#backOff, this.#random);
    if (!pause) {
      this.#succeeded(key, entry);
      return;
    }
    const again = entry.again;
    entry.floorAt = nowAt + pause.floorMs;
    const dueAt = nowAt + (again === "person" ? pause.floorMs : pause.delayMs);
    if (again === "person") entry.priority = "person";
    entry.again = undefined;
    this.#observer.retried?.(dueAt - nowAt);
    if (dueAt <= nowAt) this.#makeReady(key, entry);
    else this.#delay(key, entry, dueAt);
  }

  #postponed(key: string, entry: Entry, delayMs: number): void {
    const dueAt = this.#clock.monotonic() + delayMs;
    if (entry.again === "person") entry.priority = "person";
    entry.again = undefined;
    entry.floorAt = Math.max(entry.floorAt, dueAt);
    this.#delay(key, entry, dueAt);
  }

  #delay(key: string, entry: Entry, dueAt: number): void {
    if (this.#state !== "open") {
      this.#entries.delete(key);
      return;
    }
    entry.state = "delayed";
    this.#delayed.set(key, dueAt);
  }

  #next(): Work | undefined {
    const key = this.#ready[this.#nextPriority()].pop();
    const entry = key === undefined ? undefined : this.#entries.get(key);
    if (key === undefined || !entry) return undefined;
    this.#personInARow = entry.priority === "person" ? this.#personInARow + 1 : 0;
    const nowAt = this.#clock.monotonic();
    const waitedMs = nowAt - entry.sinceAt;
    entry.state = "running";
    entry.sinceAt = nowAt;
    this.#running++;
    if (this.#room.enter(entry.lane, nowAt)) for (const ready of Object.values(this.#ready)) ready.shut(entry.lane);
    this.#observer.taken?.(entry.priority, waitedMs);
    this.#observer.depthChanged?.(this.depth);
    return { key, priority: entry.priority, failures: entry.failures, waitedMs };
  }

  #nextPriority(): Priority {
    if (!this.#ready.drift.isOpen) return "person";
    if (!this.#ready.person.isOpen) return "drift";
    return this.#personInARow >= this.#personBurst ? "drift" : "person";
  }

  /** After any change: hands out what can be, sets the timer for the next retry, and tells who waits for the end. */
  #changed(): void {
    for (const taker of this.#takers) {
      const work = this.#next();
      if (!work) break;
      taker(work);
    }
    this.#arm();
    this.#observer.depthChanged?.(this.depth);
    if (this.#isIdle()) this.#finishClosing();
  }

  #arm(): void {
    const dueAt = this.#delayed.peek()?.rank;
    if (dueAt === this.#timer?.at) return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    if (dueAt === undefined) return;
    const timer = this.#clock.setTimer(() => this.#wake(), dueAt - this.#clock.monotonic());
    this.#timer = { timer, at: dueAt };
  }

  #wake(): void {
    this.#timer = undefined;
    const nowAt = this.#clock.monotonic();
    for (let head = this.#delayed.peek(); head && head.rank <= nowAt; head = this.#delayed.peek()) {
      const { key } = head;
      const entry = this.#entries.get(key);
      if (entry) this.#makeReady(key, entry);
      else this.#delayed.delete(key);
    }
    this.#changed();
  }

  #forgetDelayed(): void {
    for (let key = this.#delayed.pop(); key !== undefined; key = this.#delayed.pop()) this.#entries.delete(key);
    this.#troubles?.clear();
    this.#arm();
  }

  #isIdle(): boolean {
    return this.#state !== "open" && this.#entries.size === 0;
  }

  #finishClosing(): void {
    this.#state = "closed";
    for (const taker of this.#takers) taker(undefined);
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #whenIdle(): Promise<void> {
    if (this.#state === "closed") for (const taker of this.#takers) taker(undefined);
    if (this.#isIdle()) {
      this.#finishClosing();
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }
}
