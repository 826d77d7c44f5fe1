import type { Clock, Timer } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import { integerBetween, pick, type Random, seededRandom } from "../base/random.ts";
import { AlreadyExists, Conflict, NotFound, Unavailable, Unreachable } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import { LeaderElector } from "./leader-election.ts";
import { type Lease, type LeaseSpec, recordOf } from "./lease-record.ts";

/**
 * Seeded schedules that try to make two electors lead at once: processes with clocks of any skew and different rates,
 * stopped and suspended and crashed at any time, against one Lease behind a network that delays, loses and fails, before
 * the write or after it. For tests and for `npm run prove:*`; no part of the operator. Must not: wait for real time.
 *
 * What may not happen at any instant: two processes that would answer `isLeader()` with yes, the stopped ones included.
 * What must happen in the end: once faults stop, exactly one leads.
 */
export interface ScheduleOptions {
  /** The fastest clock runs at most so many times as fast as the slowest. The rules promise anything below 1.5. */
  readonly maxRateRatio?: number;
}

export interface ScheduleResult {
  readonly seed: number;
  /** Empty when all went well. */
  readonly violations: readonly string[];
  readonly terms: number;
  readonly writes: number;
}

export interface SchedulesResult {
  readonly schedules: number;
  readonly terms: number;
  readonly writes: number;
  readonly failures: readonly ScheduleResult[];
}

export interface SchedulesOptions extends ScheduleOptions {
  readonly schedules: number;
  readonly firstSeed?: number;
  readonly onProgress?: (done: number) => void;
}

/** Just inside 15 s / 10 s. */
const PROMISED_RATE_RATIO = 1.49;
const FAULTY_MS = 60_000;
/** Just below the time after which an elector gives a call up, less the way to the server. */
const ANSWER_IN_TIME_MS = 4_900;
/** Longest term, slowest candidate and the gaps between attempts, with room. */
const QUIET_MS = 75_000;

export async function runLeaderElectionSchedules(options: SchedulesOptions): Promise<SchedulesResult> {
  const { schedules, firstSeed = 1, onProgress } = options;
  const failures: ScheduleResult[] = [];
  let terms = 0;
  let writes = 0;
  for (let done = 0; done < schedules; done++) {
    const result = await runLeaderElectionSchedule(firstSeed + done, options);
    terms += result.terms;
    writes += result.writes;
    if (result.violations.length > 0) failures.push(result);
    onProgress?.(done + 1);
  }
  return { schedules, terms, writes, failures };
}

export async function runLeaderElectionSchedule(seed: number, options: ScheduleOptions = {}): Promise<ScheduleResult> {
  const world = new World(seed, options.maxRateRatio ?? PROMISED_RATE_RATIO);
  await world.runUntil(FAULTY_MS);
  world.endFaults();
  await world.runUntil(FAULTY_MS + QUIET_MS);
  world.checkSettled();
  const { violations, terms } = world;
  world.tearDown();
  return { seed, violations, terms, writes: world.store.writes };
}

interface Event {
  readonly at: number;
  readonly run: () => void;
}

class World {
  readonly random: Random;
  readonly violations: string[] = [];
  readonly store = new LeaseStore((problem) => this.violations.push(`${Math.round(this.nowMs)} ms: ${problem}`));
  /** Wall clocks jump, or machines are suspended, but not both: with both nothing local could tell that time passed. */
  readonly wallJumps: boolean;
  readonly #processes: Process[];
  readonly #events: Event[] = [];
  nowMs = 0;
  terms = 0;
  faulty = true;
  serverDownUntilMs = 0;

  constructor(seed: number, maxRateRatio: number) {
    this.random = seededRandom(seed);
    this.wallJumps = this.random.next() < 0.5;
    const spread = Math.sqrt(maxRateRatio);
    const rate = (): number => pick(this.random, [spread, 1 / spread, 1, spread ** (2 * this.random.next() - 1)]);
    const count = integerBetween(this.random, 2, 3);
    this.#processes = Array.from({ length: count }, (_, index) => new Process(this, `p${index}`, rate()));
    for (const process of this.#processes) this.after(this.random.next() * 5_000, () => process.boot());
    this.#planTrouble();
  }

  after(delayMs: number, run: () => void): Event {
    const event = { at: this.nowMs + Math.max(0, delayMs), run };
    let index = this.#events.length;
    while (index > 0 && (this.#events[index - 1]?.at ?? 0) <= event.at) index--;
    this.#events.splice(index, 0, event);
    return event;
  }

  cancel(event: Event): void {
    const index = this.#events.indexOf(event);
    if (index >= 0) this.#events.splice(index, 1);
  }

  async runUntil(untilMs: number): Promise<void> {
    for (;;) {
      const event = this.#events.at(-1);
      if (!event || event.at > untilMs) break;
      this.#events.pop();
      this.nowMs = event.at;
      event.run();
      await settleMicrotasks();
      this.#checkOneLeader();
    }
    this.nowMs = untilMs;
  }

  endFaults(): void {
    this.faulty = false;
    for (const process of this.#processes) {
      process.cutOffUntilMs = 0;
      process.resume();
    }
  }

  checkSettled(): void {
    const leaders = this.#processes.filter((process) => process.isLeader());
    if (leaders.length !== 1) this.violations.push(`after faults stopped, ${leaders.length} lead`);
  }

  tearDown(): void {
    for (const process of this.#processes) process.tearDown();
    this.#events.length = 0;
  }

  #planTrouble(): void {
    this.after(this.random.next() * 8_000, () => {
      if (!this.faulty) return;
      const leader = this.random.next() < 0.5 ? this.#processes.find((each) => each.isLeader()) : undefined;
      const process = leader ?? pick(this.random, this.#processes);
      const lengthMs =
        pick(this.random, [500, 3_000, 9_000, 11_000, 14_000, 16_000, 30_000]) * (0.8 + 0.4 * this.random.next());
      const troubles = [
        () => process.pause("stopped", lengthMs),
        () => process.pause(this.wallJumps ? "stopped" : "suspended", lengthMs),
        () => process.cutOff(lengthMs),
        () => process.ambush(),
        () => process.crash(),
        () => process.leave(),
        () => process.jumpWallClock((this.random.next() - 0.5) * 10 ** integerBetween(this.random, 1, 12)),
        () => {
          this.serverDownUntilMs = this.nowMs + lengthMs;
        },
      ];
      pick(this.random, troubles)();
      this.#planTrouble();
    });
  }

  #checkOneLeader(): void {
    let leaders = 0;
    for (const process of this.#processes) if (process.isLeader()) leaders++;
    if (leaders < 2) return;
    const names = this.#processes.filter((process) => process.isLeader()).map((process) => process.name);
    this.violations.push(`${Math.round(this.nowMs)} ms: ${names.join(" and ")} lead at the same time`);
  }
}

/** A machine with one elector at a time, whose clock runs at its own rate, and which can be stopped and started. */
class Process {
  readonly name: string;
  readonly #world: World;
  readonly #rate: number;
  /** Work that came up while the process was stopped. */
  #inbox: (() => void)[] = [];
  #suspendedMs = 0;
  #suspendedSinceMs: number | undefined;
  #wallOffsetMs: number;
  #isPaused = false;
  #isAmbushed = false;
  #generation = 0;
  #elector: LeaderElector | undefined;
  #abort = new AbortController();
  cutOffUntilMs = 0;

  constructor(world: World, name: string, rate: number) {
    this.#world = world;
    this.name = name;
    this.#rate = rate;
    this.#wallOffsetMs = Date.UTC(2026, 0, 1) + (world.random.next() - 0.5) * 10 ** integerBetween(world.random, 0, 12);
  }

  isLeader(): boolean {
    return this.#elector?.isLeader() ?? false;
  }

  boot(): void {
    const world = this.#world;
    this.#generation++;
    this.#abort = new AbortController();
    this.#elector = new LeaderElector({
      kube: this.#kube(this.#generation),
      lease: { namespace: "keyturn", name: "operator" },
      identity: this.name,
      clock: this.#clock(this.#generation),
      random: world.random,
      logger: silentLogger,
      onStarted: () => world.terms++,
      onLost: () => this.crash(),
    });
    void this.#elector.run(this.#abort.signal);
  }

  /** Gone without a word; a new one starts on the same machine some time later. */
  crash(): void {
    this.#elector = undefined;
    this.#inbox = [];
    this.#generation++;
    this.#world.after(this.#world.random.next() * 10_000, () => this.#whenRunning(() => this.#elector ?? this.boot()));
  }

  /** A shutdown in order: gives the Lease back. */
  leave(): void {
    const elector = this.#elector;
    const abort = this.#abort;
    if (!elector) return;
    this.#whenRunning(() => {
      if (this.#elector !== elector) return;
      abort.abort();
      if (elector.isLeader()) this.#world.violations.push(`${this.name} leads although it was told to stop`);
      this.#world.after(3_000, () => this.#elector === elector && this.crash());
    });
  }

  pause(how: "stopped" | "suspended", lengthMs: number): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    if (how === "suspended") this.#suspendedSinceMs = this.#world.nowMs;
    else if (this.#world.random.next() < 0.5) this.jumpWallClock(-lengthMs * this.#rate);
    this.#world.after(lengthMs, () => this.resume());
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#suspendedSinceMs !== undefined) this.#suspendedMs += this.#world.nowMs - this.#suspendedSinceMs;
    this.#suspendedSinceMs = undefined;
    const inbox = this.#inbox;
    this.#inbox = [];
    while (inbox.length > 0) {
      const [next] = inbox.splice(integerBetween(this.#world.random, 0, inbox.length - 1), 1);
      this.#world.after(this.#world.random.next(), () => next && this.#whenRunning(next));
    }
  }

  cutOff(lengthMs: number): void {
    this.cutOffUntilMs = this.#world.nowMs + lengthMs;
  }

  /** The next answer comes at the last moment before it would be given up, and then nothing gets through any more. */
  ambush(): void {
    this.#isAmbushed = true;
  }

  jumpWallClock(byMs: number): void {
    if (this.#world.wallJumps) this.#wallOffsetMs += byMs;
  }

  tearDown(): void {
    this.#abort.abort();
    this.#elector = undefined;
    this.#generation++;
  }

  #whenRunning(run: () => void): void {
    if (this.#isPaused) this.#inbox.push(run);
    else run();
  }

  #monotonic(): number {
    const suspendedMs =
      this.#suspendedMs + (this.#suspendedSinceMs === undefined ? 0 : this.#world.nowMs - this.#suspendedSinceMs);
    return this.#rate * (this.#world.nowMs - suspendedMs);
  }

  #clock(generation: number): Clock {
    const world = this.#world;
    return {
      now: () => Math.floor(this.#wallOffsetMs + this.#rate * world.nowMs),
      monotonic: () => this.#monotonic(),
      setTimer: (callback, delayMs): Timer => {
        const dueAt = this.#monotonic() + Math.max(0, delayMs);
        let isCancelled = false;
        let event: Event;
        const fire = (): void => {
          if (isCancelled || generation !== this.#generation) return;
          if (this.#monotonic() < dueAt - 1e-6) arm();
          else callback();
        };
        const arm = (): void => {
          event = world.after((dueAt - this.#monotonic()) / this.#rate, () => this.#whenRunning(fire));
        };
        arm();
        const cancel = (): void => {
          isCancelled = true;
          world.cancel(event);
        };
        return { cancel };
      },
    };
  }

  #kube(generation: number): Pick<Kube, "get" | "create" | "replace"> {
    const { store } = this.#world;
    // The fake serves Leases only, so the caller's type parameter is always Lease.
    const send = <T>(apply: () => Lease, signal: AbortSignal | undefined): Promise<T> =>
      this.#send(generation, apply, signal) as Promise<T>;
    return {
      get: (_type, _ref, options) => send(() => store.get(), options?.signal),
      create: (_type, object, options) => send(() => store.create(object), options?.signal),
      replace: (_type, object, options) => send(() => store.replace(object as Lease), options?.signal),
    };
  }

  /** A request on its way: may be lost before or after it took effect, and take any time in either direction. */
  #send(generation: number, apply: () => Lease, signal: AbortSignal | undefined): Promise<Lease> {
    const world = this.#world;
    const { random } = world;
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(new Unreachable("aborted")), { once: true });
      const deliver = (answer: () => void): void => {
        if (this.#isAmbushed && world.faulty) {
          this.#isAmbushed = false;
          this.cutOffUntilMs = world.nowMs + 40_000;
          world.after(ANSWER_IN_TIME_MS / this.#rate, () =>
            this.#whenRunning(() => generation === this.#generation && answer()),
          );
          return;
        }
        const fate = world.faulty ? random.next() : 1;
        if (fate < 0.05) return;
        const settle = fate < 0.08 ? (): void => reject(new Unreachable("reset")) : answer;
        world.after(this.#travelMs(), () => this.#whenRunning(() => generation === this.#generation && settle()));
      };
      const arrive = (): void => {
        const isDown = world.faulty && world.nowMs < world.serverDownUntilMs;
        if (isDown || (world.faulty && random.next() < 0.05)) {
          deliver(() => reject(new Unavailable("the server is down")));
          return;
        }
        try {
          const lease = apply();
          deliver(() => resolve(lease));
        } catch (error) {
          deliver(() => reject(error));
        }
      };
      const isLost = world.faulty && (world.nowMs < this.cutOffUntilMs || random.next() < 0.03);
      if (!isLost) world.after(this.#travelMs(), arrive);
    });
  }

  #travelMs(): number {
    const { random, faulty } = this.#world;
    const fate = faulty ? random.next() : 1;
    if (fate < 0.03) return random.next() * 30_000;
    if (fate < 0.1) return random.next() * 6_000;
    return 1 + random.next() * 40;
  }
}

/** One Lease with compare-and-swap, which also checks what is written against client-go's conventions. */
class LeaseStore {
  readonly #report: (problem: string) => void;
  #lease: Lease | undefined;
  #version = 0;

  constructor(report: (problem: string) => void) {
    this.#report = report;
  }

  get writes(): number {
    return this.#version;
  }

  get(): Lease {
    if (!this.#lease) throw new NotFound("no such Lease");
    return this.#lease;
  }

  create(draft: object): Lease {
    if (this.#lease) throw new AlreadyExists("the Lease exists");
    const spec: LeaseSpec = { ...Reflect.get(draft, "spec") };
    return this.#store({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "operator" }, spec });
  }

  replace(lease: Lease): Lease {
    if (lease.metadata.resourceVersion === undefined) this.#report("a write without compare-and-swap");
    if (this.get().metadata.resourceVersion !== lease.metadata.resourceVersion) throw new Conflict("written before");
    this.#checkRecord(this.get(), lease);
    return this.#store(lease);
  }

  #store(lease: Lease): Lease {
    this.#lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    return this.#lease;
  }

  #checkRecord(before: Lease, after: Lease): void {
    const [old, next] = [recordOf(before), recordOf(after)];
    const isTaken = next.holder !== "" && next.holder !== old.holder;
    const counted = (next.spec.leaseTransitions ?? 0) - (old.spec.leaseTransitions ?? 0);
    if (counted !== (isTaken ? 1 : 0)) this.#report(`leaseTransitions moved by ${counted}`);
    const isRenewal = next.holder !== "" && !isTaken;
    if (isRenewal && next.spec.acquireTime !== old.spec.acquireTime) this.#report("acquireTime changed in a renewal");
    if (isRenewal && seconds(next) === seconds(old)) this.#report("a renewal that client-go would not notice");
  }
}

const seconds = (record: ReturnType<typeof recordOf>): string => record.spec.renewTime?.slice(0, 19) ?? "";

/** Longer than any chain of reactions inside the elector, and far cheaper than a turn of the event loop. */
const MICROTASKS = 16;

async function settleMicrotasks(): Promise<void> {
  for (let i = 0; i < MICROTASKS; i++) await undefined;
}
