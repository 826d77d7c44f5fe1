import { KeyturnError } from "../base/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Fault } from "./faults.ts";
import { judgeChildSecrets, judgeRest, judgeStrays } from "./judge-rest.ts";
import { type ActName, act, type Backup, takeBackup } from "./person.ts";
import { targetOf } from "./places.ts";
import type { Call, Finish, Process } from "./process.ts";
import { DRIFT_CHECK_MS } from "./scene.ts";
import type { World } from "./world.ts";

/** What happens at one call. */
export type Perturbation =
  | { readonly kind: "fault"; readonly fault: Fault; readonly landsAfter?: number }
  | { readonly kind: "person"; readonly name: ActName }
  /**
   * The process stands still; another one leads for so long; then a person may do something, and the first goes on, still
   * believing that it leads.
   */
  | { readonly kind: "zombie"; readonly pauseMs: number; readonly returnsTo?: ActName }
  /** Another process that believes it leads works beside this one; the pattern says who moves how far and when. */
  | { readonly kind: "rival"; readonly pattern: number }
  | { readonly kind: "jump"; readonly byMs: number }
  /** Its watches tell it nothing from here on; a person may do something that it does not hear of. */
  | { readonly kind: "stale"; readonly unseen?: ActName }
  | { readonly kind: "pause"; readonly ms: number };

/** What happens at the call with this number. */
export interface Disturbance {
  readonly at: number;
  readonly what: Perturbation;
}

/** Decides what happens at the call with this number. */
export type Plan = (index: number, call: Call) => Perturbation | undefined;

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

const MAX_DISTURBED = 14;
const MAX_LEADING = 40;
const MAX_TO_REST = 80;
const SOON_MS = 180_000;
const LATE_MS = 60_000;
const MAX_RIVAL_RECONCILES = 4;
/** A call that is made this much later is made after everybody has left. */
export const AT_THE_END = 1_000_000;

/**
 * Drives operator processes through a story: undisturbed while a scene is set, by a plan while it is played, undisturbed
 * again until everything is at rest. The judge is asked at the end. Must not: know what production code does in between.
 */
export class Driver {
  readonly world: World;
  readonly #plan: Plan;
  readonly calls: Call[] = [];
  /** What was done at which of these calls. */
  readonly disturbances: Disturbance[] = [];
  #leader: Process;
  backup: Backup;
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

  constructor(world: World, plan: Plan, backup: Backup = { resource: undefined, secret: undefined }) {
    this.world = world;
    this.backup = backup;
    this.#plan = plan;
    this.#leader = world.start();
  }

  async backUp(): Promise<void> {
    this.backup = await takeBackup(this.world);
  }

  person(name: ActName): Promise<void> {
    return act(this.world, name, this.backup);
  }

  /** Reconciles without disturbance until nothing is left to do. */
  async settle(): Promise<void> {
    if (!(await this.#isSettled(MAX_TO_REST))) this.world.judge.accuse("L1 does not come to rest");
  }

  async #isSettled(maxRounds: number): Promise<boolean> {
    const round: Round = new Map();
    for (let attempt = 0; attempt < maxRounds; attempt++) {
      await this.#goRound(round, attempt, (key) => this.#reconcile(this.#leader, key));
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
      await this.#goRound(round, attempt, (key) => this.#reconcile(this.#leader, key));
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
    const leader = this.#leader;
    this.reconciles++;
    await leader.begin(key);
    while (leader.call && this.#leader === leader) {
      await this.#moveRival();
      await this.#disturb(leader, leader.call);
    }
    if (leader.isDead) {
      this.#hasCrashed = true;
      this.#leader = this.world.start();
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

  /** Faults have stopped: everything must come to rest, stay there, and nothing may be left over. */
  async recover({ isMended = false }: { readonly isMended?: boolean | undefined } = {}): Promise<void> {
    const { world } = this;
    const { clock, watch } = this.#leader;
    const isCalm = this.#hasSettled && !this.#rival && clock.offsetMs === 0 && !watch.isBehind && !world.hasLate;
    clock.offsetMs = 0;
    watch.catchUp();
    await world.mendOutside();
    if (this.hasPersonActed || isMended) await this.person("mend");
    if (this.hasPersonActed) await this.person("unpause");
    // A child whose parent is gone may fail for as long as it is there.
    await world.collectGarbage();
    if (!isCalm) await this.settle();
    await world.collectGarbage();
    const rounds = world.hasLate || this.hasPersonActed ? 2 : 1;
    await world.landLate();
    for (let round = 0; round < rounds; round++) {
      // Lists catch up before anybody sweeps.
      world.clock.advance(LATE_MS);
      await world.sweep();
      world.clock.advance(DRIFT_CHECK_MS + 1000);
      await this.settle();
    }
    await world.collectGarbage();
    // What is being deleted outside by then is gone.
    world.clock.advance(LATE_MS);
    const finishes = await this.#lookOnceMore();
    const [secrets, now] = [world.storedSecrets(), world.clock.now()];
    const owners = world.levels.flatMap(({ kind }) => world.stored(kind.type));
    judgeStrays(world.judge, secrets, new Set(owners.map(({ metadata }) => metadata.uid ?? "")));
    judgeChildSecrets(world.judge, secrets, (secret) => world.lostChildOf(secret));
    for (const { kind, judge, truth, ...level } of world.levels) {
      const finishOf = (name: string): Finish | undefined => finishes.get(targetOf(kind.type, name));
      const works = (secret: KubeObject): boolean => world.works(secret);
      judgeRest({ ...level, judge, truth: truth(), secrets, now, works, finishOf });
    }
  }

  /** By a process that remembers nothing, so that it has to look at everything: it must find nothing to write. */
  async #lookOnceMore(): Promise<ReadonlyMap<string, Finish | undefined>> {
    const { world } = this;
    this.#leader = world.start();
    this.#begin();
    const finishes = new Map<string, Finish | undefined>();
    for (const key of world.keys) finishes.set(key, await this.#reconcile(this.#leader, key));
    if (world.activity.writes > 0) world.judge.accuse("L1 does not stay at rest");
    if ([...finishes.values()].some((finish) => finish?.kind !== "outcome"))
      world.judge.accuse("L1 a reconcile at rest fails");
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
    const restMs = isToBeSeenAgain ? finish.outcome.at - this.#leader.clock.now() : Infinity;
    return { finish, hasAsked, restMs, dueAt: this.world.clock.now() + pauseAfter(finish, restMs, attempt) };
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
        this.hasPersonActed = true;
        await this.person(perturbation.name);
        break;
      case "jump":
        leader.clock.offsetMs += perturbation.byMs;
        this.hasTimePassed = true;
        this.world.tell((judge) => judge.clockJumped());
        this.world.trace(`${leader.name}    its clock jumps by ${perturbation.byMs / 3_600_000} h`);
        break;
      case "stale":
        leader.watch.standStill(this.world.stepCount);
        this.world.trace(`${leader.name}    its watches stand still`);
        if (perturbation.unseen !== undefined) {
          this.hasPersonActed = true;
          await this.person(perturbation.unseen);
        }
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
  async #succeed(first: Process, { pauseMs, returnsTo }: Extract<Perturbation, { kind: "zombie" }>): Promise<void> {
    const { world } = this;
    this.hasTimePassed ||= pauseMs > SOON_MS;
    const successor = world.start();
    this.#leader = successor;
    world.trace(`${first.name}    stands still; ${successor.name} leads`);
    // What is wrong outside may last for as long as that: nobody has to come to rest.
    await this.#isSettled(MAX_LEADING);
    const until = world.clock.now() + pauseMs;
    while (world.clock.now() < until) {
      world.clock.advance(Math.min(until - world.clock.now(), HOP_MS));
      await world.collectGarbage();
      await this.#isSettled(MAX_LEADING);
    }
    if (returnsTo !== undefined) {
      this.hasPersonActed = true;
      await this.person(returnsTo);
    }
    world.trace(`${first.name}    goes on`);
    await this.#finish(first);
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

function pauseAfter(finish: Finish | undefined, restMs: number, attempt: number): number {
  if (finish?.kind === "outcome") return restMs <= SOON_MS ? restMs : Infinity;
  const rule = finish?.error instanceof KeyturnError ? finish.error.retry : { kind: "backoff" as const };
  return rule.kind === "after" ? Math.max(rule.delayMs, 100) : Math.min(60_000, 1000 * 2 ** Math.min(attempt, 6));
}

/** How far time goes at once while another one leads: three hops are a rotation and the end of the key before it. */
const HOP_MS = 5 * 86_400_000;
