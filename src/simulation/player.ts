import { backoff, KeyturnError } from "../base/errors.ts";
import { type Random, seededRandom } from "../base/random.ts";
import { defaultBackOff, retryDelayMs } from "../runtime/back-off.ts";
import type { AnyAct, Disturbance, Perturbation, Plan } from "./perturbation.ts";
import type { Call, Finish, Process } from "./process.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What processes are played on. */
export interface Ground {
  readonly clock: VirtualClock;
  /** What is reconciled, in turn. */
  readonly keys: readonly string[];
  /** Requests outside and writes inside since it was last set back. */
  activity: { writes: number; requests: number };
  /** Counts effects. */
  readonly stepCount: number;
  /** Which promises were broken so far. */
  readonly violations: readonly string[];
  readonly hasLate: boolean;
  /** How long requests are under way that nobody waits for. */
  lateMs: number;
  /** A new process with an empty memory. */
  start(): Process;
  accuse(violation: string): void;
  trace(line: string): void;
  traceCall(process: Process, call: Call, fault: string): void;
  failed(process: Process, error: unknown): void;
  landLate(dueAt?: number): Promise<void>;
  collectGarbage(): Promise<void>;
}

/** How a reconcile ended, and whether it asked anybody outside for anything. */
interface Ended {
  readonly finish: Finish | undefined;
  readonly hasAsked: boolean;
  /** How long the queue lets it rest, by the clock of the process that said until when. */
  readonly restMs: number;
  /** By true time, when the queue would come back to it though nothing has happened; Infinity where that is far away. */
  readonly dueAt: number;
}

/** By what was reconciled. */
type Round = Map<string, Ended>;

/** The longest of the pauses that the queue draws from. */
const HIGHEST: Random = { ...seededRandom(0), next: () => 1 };

const MAX_DISTURBED = 14;
const MAX_LEADING = 40;
const MAX_TO_REST = 80;
const SOON_MS = 180_000;
const LATE_MS = 60_000;
const MAX_RIVAL_RECONCILES = 4;

/**
 * Plays processes on some ground: undisturbed, or by a plan that says what happens at each of their calls. Must not: know
 * what production code does in between, or what is judged.
 */
export abstract class Player<W extends Ground> {
  readonly world: W;
  readonly #plan: Plan;
  readonly calls: Call[] = [];
  /** What was done at which of these calls. */
  readonly disturbances: Disturbance[] = [];
  protected leader: Process;
  #landings: number[] = [];
  #rival: { readonly process: Process; readonly pattern: number; moves: number; begun: number } | undefined;
  #hasCrashed = false;
  /** Somebody else did something in this round. */
  #isDisturbed = false;
  /** The last round of what was disturbed had nothing left to do. */
  #hasSettled = false;
  reconciles = 0;
  /** A person's doing may make a story end otherwise than it is told. */
  hasPersonActed = false;
  /** So much time went by that more may have become due than a story tells of. */
  hasTimePassed = false;

  constructor(world: W, plan: Plan) {
    this.world = world;
    this.#plan = plan;
    this.leader = world.start();
  }

  abstract person(name: AnyAct): Promise<void>;
  /** Faults have stopped: everything must come to rest, and stay there. */
  abstract recover(): Promise<void>;

  accuse(violation: string): void {
    this.world.accuse(violation);
  }

  /** What a wrong clock decides is judged by true time, where nothing else is said. */
  protected clockJumped(): void {}

  /** Reconciles without disturbance until nothing is left to do. */
  async settle(): Promise<void> {
    if (!(await this.#isSettled(MAX_TO_REST))) this.accuse("L1 does not come to rest");
  }

  async #isSettled(maxRounds: number): Promise<boolean> {
    const round: Round = new Map();
    for (let attempt = 0; attempt < maxRounds; attempt++) {
      await this.#goRound(round, attempt, (key) => this.#reconcile(this.leader, key));
      if (this.#isQuiet(round)) return true;
      this.#wait(round);
      await this.world.landLate(this.world.clock.now());
    }
    return false;
  }

  /** So many rounds, undisturbed, whatever comes of them. */
  async work(rounds: number): Promise<void> {
    const round: Round = new Map();
    for (let attempt = 0; attempt < rounds; attempt++) {
      await this.#goRound(round, attempt, (key) => this.#reconcile(this.leader, key));
      this.#wait(round);
    }
  }

  /** One reconcile after the other, with what the plan has in store at each call. */
  async play(): Promise<void> {
    const round: Round = new Map();
    for (let attempt = 0; attempt < MAX_DISTURBED; attempt++) {
      await this.#goRound(round, attempt, (key) => this.#reconcileDisturbed(key));
      this.#hasSettled = this.#isQuiet(round);
      if (this.#hasSettled) break;
      if (!this.#hasCrashed) this.#wait(round);
      await this.world.landLate(this.world.clock.now());
    }
    await this.#finish(this.#rival?.process);
  }

  async #reconcileDisturbed(key: string): Promise<Finish | undefined> {
    const leader = this.leader;
    this.reconciles++;
    await leader.begin(key);
    while (leader.call && this.leader === leader) {
      await this.#moveRival();
      await this.#disturb(leader, leader.call);
    }
    if (leader.isDead) {
      this.#hasCrashed = true;
      this.leader = this.world.start();
    }
    return this.#finishOf(leader);
  }

  #finishOf(process: Process): Finish | undefined {
    const finish = process.takeFinish();
    if (finish?.kind === "error") this.world.failed(process, finish.error);
    return finish;
  }

  /** To the end of its reconcile, undisturbed. */
  async #finish(process: Process | undefined): Promise<void> {
    while (process?.call) {
      this.world.traceCall(process, process.call, "none");
      await process.step();
    }
  }

  /** As many steps as the pattern gives it now; a reconcile that has ended is begun again, a few times. */
  async #moveRival(): Promise<void> {
    const rival = this.#rival;
    if (!rival) return;
    const { keys } = this.world;
    const steps = (rival.pattern >>> (2 * (rival.moves++ % 16))) & 3;
    for (let step = 0; step < steps; step++) {
      const { process } = rival;
      if (process.call) {
        this.world.traceCall(process, process.call, "none");
        await process.step();
      } else if (rival.begun < MAX_RIVAL_RECONCILES * keys.length) {
        await process.begin(keys[rival.begun++ % keys.length] ?? "");
      }
    }
  }

  /** Nothing goes wrong any more: clocks are right, watches tell. Says whether everything was at rest already. */
  protected wakeUp(): boolean {
    const { clock, watch } = this.leader;
    const isCalm = this.#hasSettled && !this.#rival && clock.offsetMs === 0 && !watch.isBehind && !this.world.hasLate;
    clock.offsetMs = 0;
    watch.catchUp();
    return isCalm;
  }

  /** By a process that remembers nothing, so that it has to look at everything: it must find nothing to write. */
  protected async lookOnceMore(): Promise<ReadonlyMap<string, Finish | undefined>> {
    const { world } = this;
    this.leader = world.start();
    this.#begin();
    const finishes = new Map<string, Finish | undefined>();
    for (const key of world.keys) finishes.set(key, await this.#reconcile(this.leader, key));
    if (world.activity.writes > 0) this.accuse("L1 does not stay at rest");
    if ([...finishes.values()].some((finish) => finish?.kind !== "outcome"))
      this.accuse("L1 a reconcile at rest fails");
    return finishes;
  }

  /** Whatever is due, or may have been told of something: after a write or a crash that is everything. */
  async #goRound(
    round: Round,
    attempt: number,
    reconcile: (key: string) => Promise<Finish | undefined>,
  ): Promise<void> {
    const { world } = this;
    const isAnyTold = world.activity.writes > 0 || this.#hasCrashed || this.#isDisturbed;
    this.#begin();
    const { keys } = world;
    for (const key of round.keys()) if (!keys.includes(key)) round.delete(key);
    for (const key of keys) {
      const before = round.get(key);
      const isDue = !before || isAnyTold || before.dueAt <= world.clock.now() || isUndone(before);
      if (isDue) round.set(key, await this.#noted(attempt, () => reconcile(key)));
    }
  }

  #begin(): void {
    this.world.activity = { writes: 0, requests: 0 };
    this.#hasCrashed = false;
    this.#isDisturbed = false;
  }

  /** Nothing was written, nothing is to be looked at again soon, and nobody was asked who would be asked again untold. */
  #isQuiet(round: Round): boolean {
    return this.world.activity.writes === 0 && [...round.values()].every(isOver);
  }

  async #noted(attempt: number, reconcile: () => Promise<Finish | undefined>): Promise<Ended> {
    const { requests } = this.world.activity;
    const finish = await reconcile();
    const hasAsked = this.world.activity.requests > requests;
    const isToBeSeenAgain = finish?.kind === "outcome" && finish.outcome.kind === "recheck";
    const restMs = isToBeSeenAgain ? finish.outcome.at - this.leader.clock.now() : Infinity;
    const hasFailed = finish !== undefined && finish.kind === "error";
    const lookByMs = hasFailed ? this.leader.lookByMs : Infinity;
    const pauseMs = Math.min(pauseAfter(finish, restMs, attempt), lookByMs);
    return { finish, hasAsked, restMs, dueAt: this.world.clock.now() + pauseMs };
  }

  async #reconcile(process: Process, key: string): Promise<Finish | undefined> {
    this.reconciles++;
    await process.begin(key);
    await this.#finish(process);
    return this.#finishOf(process);
  }

  async #disturb(leader: Process, call: Call): Promise<void> {
    const index = this.calls.length;
    this.calls.push(call);
    if (this.#landings.some((at) => at === index)) await this.world.landLate();
    const perturbation = this.#plan(index, call);
    if (perturbation) {
      this.disturbances.push({ at: index, what: perturbation });
      this.#isDisturbed = true;
    }
    const fault = perturbation?.kind === "fault" ? perturbation.fault : "none";
    this.world.traceCall(leader, call, fault);
    switch (perturbation?.kind) {
      case "fault":
        if (perturbation.fault === "late") this.#postpone(index, perturbation.landsAfter);
        break;
      case "person":
        await this.#intervene(perturbation.name);
        break;
      case "jump":
        leader.clock.offsetMs += perturbation.byMs;
        this.hasTimePassed = true;
        this.clockJumped();
        this.world.trace(`${leader.name}    its clock jumps by ${perturbation.byMs / 3_600_000} h`);
        break;
      case "stale":
        leader.watch.standStill(this.world.stepCount);
        this.world.trace(`${leader.name}    its watches stand still`);
        await this.#intervene(perturbation.unseen);
        break;
      case "pause":
        this.hasTimePassed ||= perturbation.ms > SOON_MS;
        this.world.clock.advance(perturbation.ms);
        this.world.trace(`      ${perturbation.ms / 1000} s pass`);
        break;
      case "rival":
        this.#rival ??= { process: this.world.start(), pattern: perturbation.pattern, moves: 0, begun: 0 };
        this.world.trace(`${this.#rival.process.name}    works beside ${leader.name}`);
        break;
      case "zombie":
        return this.#succeed(leader, perturbation);
    }
    await leader.step(fault);
  }

  /** Another one leads for a while, and then the first goes on to the end of its reconcile. */
  async #succeed(first: Process, what: Extract<Perturbation, { kind: "zombie" }>): Promise<void> {
    const { pauseMs, begunBy, returnsTo } = what;
    const { world } = this;
    this.hasTimePassed ||= pauseMs > SOON_MS;
    const successor = world.start();
    this.leader = successor;
    world.trace(`${first.name}    stands still; ${successor.name} leads`);
    await this.#intervene(begunBy);
    // What is wrong outside may last for as long as that: nobody has to come to rest.
    await this.#isSettled(MAX_LEADING);
    const until = world.clock.now() + pauseMs;
    while (world.clock.now() < until) {
      world.clock.advance(Math.min(until - world.clock.now(), HOP_MS));
      await world.collectGarbage();
      await this.#isSettled(MAX_LEADING);
    }
    await this.#intervene(returnsTo);
    world.trace(`${first.name}    goes on`);
    await this.#finish(first);
  }

  async #intervene(name: AnyAct | undefined): Promise<void> {
    if (name === undefined) return;
    this.hasPersonActed = true;
    await this.person(name);
  }

  /** It lands so many calls later, or after everybody has left, or else after a minute. */
  #postpone(index: number, landsAfter: number | undefined): void {
    this.world.lateMs = landsAfter === undefined ? LATE_MS : Infinity;
    if (landsAfter !== undefined) this.#landings.push(index + landsAfter);
  }

  /** Time passes as the queue would let it: until the first of the resources is to be looked at again. */
  #wait(round: Round): void {
    const ended = [...round.values()];
    const isTold = this.world.activity.writes > 0 && ended.some(({ finish }) => finish?.kind === "outcome");
    const waitMs = Math.min(...ended.map(({ dueAt }) => dueAt)) - this.world.clock.now();
    if (!isTold && Number.isFinite(waitMs)) this.world.clock.advance(waitMs);
  }
}

function isOver({ finish, hasAsked, restMs }: Ended): boolean {
  if (finish?.kind !== "outcome") return false;
  return finish.outcome.kind === "settled" || (!hasAsked && restMs > SOON_MS);
}

/** It asked somebody whom it would ask again: once more, and it must not. */
const isUndone = (ended: Ended): boolean =>
  ended.finish?.kind === "outcome" && ended.dueAt === Infinity && !isOver(ended);

/** As the queue has it, but for chance: what is not tried again is not come back to. */
function pauseAfter(finish: Finish | undefined, restMs: number, attempt: number): number {
  if (finish?.kind === "outcome") return restMs <= SOON_MS ? restMs : Infinity;
  const rule = finish?.error instanceof KeyturnError ? finish.error.retry : backoff;
  return retryDelayMs(rule, attempt + 1, defaultBackOff, HIGHEST)?.delayMs ?? Infinity;
}

/** How far time goes at once while another one leads: three hops are a rotation and the end of the key before it. */
const HOP_MS = 5 * 86_400_000;
