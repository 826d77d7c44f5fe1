import { silentLogger } from "../../src/base/logger.ts";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { integerBetween, type Random, seededRandom } from "../../src/base/random.ts";
import {
  createFaultyTransport,
  type Fault,
  type FaultyTransport,
  seededFaults,
} from "../../src/kube/faulty-transport.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import { createListWatch, type ListWatch } from "../../src/kube/list-watch.ts";
import type { RestartReason } from "../../src/kube/list-watch-machine.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { ResourceCache } from "../../src/kube/resource-cache.ts";
import { differenceBetween, SELECTOR, TortureFailure, type TortureServer, writeSomething } from "./torture-world.ts";
import { WatchJudge } from "./watch-judge.ts";

export type TortureServerFactory = (options: { readonly clock: ManualClock; readonly random: Random }) => TortureServer;

export interface TortureReport {
  readonly schedules: number;
  readonly changes: number;
  readonly deltas: number;
  readonly refreshes: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly restarts: Readonly<Partial<Record<RestartReason, number>>>;
}

export interface TortureOptions {
  readonly server: TortureServerFactory;
  readonly seed: number;
  readonly schedules: number;
  /** Nothing is left out by the server: the reader keeps only what bears the label. */
  readonly keepsSome?: boolean;
  readonly onProgress?: (done: number) => void;
}

/** With faults stopped, everything must have settled after this much time: the longest silence and pauses together. */
const SETTLE_WITHIN_MS = 15 * 60_000;

/**
 * Runs a list-watch against a server while connections break in every way a seed can think of, and checks after each
 * schedule that the cache equals the server, that every change was told exactly once and in order, and that nothing is
 * left behind: no timer, no open connection. Deterministic: one seed, one schedule.
 */
export async function tortureListWatch(options: TortureOptions): Promise<TortureReport> {
  const faults: Record<string, number> = {};
  const restarts: Partial<Record<RestartReason, number>> = {};
  const totals = { changes: 0, deltas: 0, refreshes: 0 };
  for (let index = 0; index < options.schedules; index++) {
    const seed = options.seed + index;
    const schedule = new Schedule(options, seed, faults, restarts);
    const judge = await schedule.run();
    totals.changes += judge.changes;
    totals.deltas += judge.deltas;
    totals.refreshes += judge.refreshes;
    options.onProgress?.(index + 1);
  }
  return { schedules: options.schedules, ...totals, faults, restarts };
}

class Schedule {
  readonly #seed: number;
  readonly #random: Random;
  readonly #clock = new ManualClock();
  readonly #server: TortureServer;
  readonly #faults: { stop(): void };
  readonly #transport: FaultyTransport;
  readonly #kube: Kube;
  readonly #cache = new ResourceCache<KubeObject>();
  readonly #judge: WatchJudge;
  readonly #listWatch: ListWatch;
  readonly #selector: string | undefined;
  readonly #stop = new AbortController();

  constructor(
    { server: factory, keepsSome = false }: Pick<TortureOptions, "server" | "keepsSome">,
    seed: number,
    faultCounts: Record<string, number>,
    restarts: Partial<Record<RestartReason, number>>,
  ) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
    const random = this.#random;
    const clock = this.#clock;
    this.#server = factory({ clock, random });
    const isSelective = random.next() < 0.3;
    this.#selector = keepsSome || isSelective ? SELECTOR : undefined;
    const seeded = seededFaults({ random, rate: random.next() * 0.8, reach: integerBetween(random, 300, 6000) });
    this.#faults = seeded;
    const knowsWatchList = random.next() < 0.7;
    this.#transport = createFaultyTransport({
      inner: this.#server.transport,
      clock,
      plan: (request) => {
        const fault = seeded.plan(request) ?? (knowsWatchList ? undefined : refuseWatchList(request.path));
        if (fault) faultCounts[fault.kind] = (faultCounts[fault.kind] ?? 0) + 1;
        return fault;
      },
    });
    this.#kube = createKubeClient({ transport: this.#transport, clock, userAgent: "torture" });
    this.#judge = new WatchJudge(() => this.#server.changes(this.#selector));
    this.#listWatch = createListWatch({
      kube: this.#kube,
      type: this.#server.type,
      clock,
      random,
      logger: silentLogger,
      cache: this.#cache,
      onDelta: (delta) => {
        this.#judge.onDelta(delta);
        // Handlers that throw must change nothing.
        if (random.next() < 0.05) throw new Error("a handler failed");
      },
      observer: {
        onRefresh: () => this.#judge.onRefresh(this.#cache.position),
        onRestart: (reason) => {
          restarts[reason] = (restarts[reason] ?? 0) + 1;
        },
      },
      ...(keepsSome ? { transform: labelledOnly } : this.#selector && { selection: { labelSelector: this.#selector } }),
      metadataOnly: random.next() < 0.3,
      tuning: { pageSize: integerBetween(random, 1, 4) },
    });
  }

  async run(): Promise<WatchJudge> {
    for (let i = integerBetween(this.#random, 0, 6); i > 0; i--) writeSomething(this.#server, this.#random);
    const running = this.#listWatch.run(this.#stop.signal);
    for (let i = integerBetween(this.#random, 8, 40); i > 0; i--) await this.#act();
    await this.#settle();
    this.#stop.abort();
    await this.#clock.advance(0);
    await running;
    this.#expect(this.#transport.openBodies === 0, `${this.#transport.openBodies} connections were left open`);
    this.#expect(this.#clock.timerCount === 0, `${this.#clock.timerCount} timers were left behind`);
    return this.#judge;
  }

  async #act(): Promise<void> {
    const roll = this.#random.next();
    if (roll < 0.6) writeSomething(this.#server, this.#random);
    else if (roll < 0.66) this.#server.compact();
    else if (roll < 0.72) this.#restart();
    else if (roll < 0.76) this.#transport.breakAll();
    else if (roll < 0.78) this.#server.serve(false);
    else if (roll < 0.81) this.#serveAgain();
    else if (roll < 0.9) await this.#clock.advance(integerBetween(this.#random, 1, 5000));
    else await this.#clock.advance(integerBetween(this.#random, 1, 400_000));
    // Now and then several things happen before anybody can react.
    if (this.#random.next() < 0.6) await this.#clock.advance(0);
  }

  #restart(): void {
    this.#server.restart({ keepHistory: this.#random.next() < 0.5 });
    this.#transport.breakAll();
  }

  #serveAgain(): void {
    this.#server.serve(true);
    if (this.#random.next() < 0.5) this.#listWatch.poke();
  }

  async #settle(): Promise<void> {
    this.#faults.stop();
    this.#server.serve(true);
    const deadline = this.#clock.monotonic() + SETTLE_WITHIN_MS;
    await this.#clock.advance(0);
    while (!this.#isSettled()) {
      const waitMs = this.#clock.nextTimerMs();
      this.#expect(waitMs !== undefined, "it waits for nothing and has not settled");
      this.#expect(this.#clock.monotonic() < deadline, `not settled in time: ${this.#difference()}`);
      await this.#clock.advance(waitMs ?? 0);
    }
    const problem = this.#judge.verdict();
    this.#expect(problem === undefined, problem ?? "");
    this.#expect(this.#listWatch.state().synced, "the cache is right, and not called synced");
  }

  #isSettled(): boolean {
    return this.#difference() === undefined && this.#listWatch.state().phase === "watching" && this.#judge.isUpToDate();
  }

  #difference(): string | undefined {
    return differenceBetween(this.#server, this.#cache, this.#selector);
  }

  #expect(holds: boolean, problem: string): void {
    if (!holds) throw new TortureFailure(this.#seed, problem);
  }
}

const labelledOnly = (object: KubeObject): KubeObject | undefined => {
  const [label = "", value] = SELECTOR.split("=");
  return object.metadata.labels?.[label] === value ? object : undefined;
};

function refuseWatchList(path: string): Fault | undefined {
  if (!path.includes("sendInitialEvents=true")) return undefined;
  const message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
  const body = JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason: "Invalid",
    message,
    code: 422,
  });
  return { kind: "answer", status: 422, headers: { "content-type": "application/json" }, body };
}
