import { KeyturnError } from "../base/errors.ts";
import type { Fault } from "./faults.ts";
import { type ActName, act, type Backup, takeBackup } from "./person.ts";
import type { Call, Finish, Process } from "./process.ts";
import { DRIFT_CHECK_MS, RESOURCE } from "./scene.ts";
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
  | { readonly kind: "pause"; readonly ms: number };

/** Decides what happens at the call with this number. */
export type Plan = (index: number, call: Call) => Perturbation | undefined;

const MAX_DISTURBED = 14;
const MAX_TO_REST = 30;
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
  #leader: Process;
  backup: Backup;
  #landings: number[] = [];
  #rival: { readonly process: Process; readonly pattern: number; moves: number; begun: number } | undefined;
  reconciles = 0;
  /** A person's doing may make a story end otherwise than it is told. */
  hasPersonActed = false;

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
  async settle(leader = this.#leader): Promise<void> {
    for (let attempt = 0; attempt < MAX_TO_REST; attempt++) {
      const finish = await this.#reconcile(leader);
      const { writes, requests } = this.world.activity;
      const isOver = finish?.kind === "outcome" && writes === 0 && requests === 0;
      if (isOver) return;
      this.#wait(finish, writes > 0, attempt);
      await this.world.landLate(this.world.clock.now());
    }
    this.world.judge.accuse("L1 does not come to rest");
  }

  /** One reconcile after the other, with what the plan has in store at each call. */
  async play(): Promise<void> {
    for (let attempt = 0; attempt < MAX_DISTURBED; attempt++) {
      const leader = this.#leader;
      this.#note();
      await leader.begin(RESOURCE);
      while (leader.call && this.#leader === leader) {
        await this.#moveRival();
        await this.#disturb(leader, leader.call);
      }
      if (leader.isDead) this.#leader = this.world.start();
      const finish = leader.takeFinish();
      if (finish?.kind === "error") this.world.failed(leader, finish.error);
      const { writes, requests } = this.world.activity;
      if (finish?.kind === "outcome" && writes === 0 && requests === 0) break;
      if (!leader.isDead) this.#wait(finish, writes > 0, attempt);
      await this.world.landLate(this.world.clock.now());
    }
    await this.#finish(this.#rival?.process);
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
    const steps = (rival.pattern >>> (2 * (rival.moves++ % 16))) & 3;
    for (let step = 0; step < steps; step++) {
      const { process } = rival;
      if (process.call) {
        this.world.traceCall(process, process.call, "none");
        await process.step();
      } else if (rival.begun++ < MAX_RIVAL_RECONCILES) await process.begin(RESOURCE);
    }
  }

  /** Faults have stopped: everything must come to rest, stay there, and nothing may be left over. */
  async recover(): Promise<void> {
    const { world } = this;
    this.#leader.clock.offsetMs = 0;
    world.sandbox.controls.set({ outage: "none" });
    await this.settle();
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
    world.judge.atRest();
    const finish = await this.#reconcile(this.#leader);
    const { writes, requests } = world.activity;
    if (finish?.kind !== "outcome") world.judge.accuse("L1 a reconcile at rest fails");
    if (writes > 0 || requests > 0) world.judge.accuse(`L2 not quiet: ${writes} writes, ${requests} requests at rest`);
  }

  #note(): void {
    this.reconciles++;
    this.world.activity = { writes: 0, requests: 0 };
  }

  async #reconcile(process: Process): Promise<Finish | undefined> {
    this.#note();
    await process.begin(RESOURCE);
    while (process.call) {
      this.world.traceCall(process, process.call, "none");
      await process.step();
    }
    const finish = process.takeFinish();
    if (finish?.kind === "error") this.world.failed(process, finish.error);
    return finish;
  }

  async #disturb(leader: Process, call: Call): Promise<void> {
    const index = this.calls.length;
    this.calls.push(call);
    if (this.#landings.some((at) => at === index)) await this.world.landLate();
    const perturbation = this.#plan(index, call);
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
        this.world.trace(`${leader.name}    its clock jumps by ${perturbation.byMs / 3_600_000} h`);
        break;
      case "pause":
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
    const successor = world.start();
    this.#leader = successor;
    world.trace(`${first.name}    stands still; ${successor.name} leads`);
    await this.settle(successor);
    const until = world.clock.now() + pauseMs;
    while (world.clock.now() < until) {
      world.clock.advance(Math.min(until - world.clock.now(), HOP_MS));
      await this.settle(successor);
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

  /** Time passes as the queue would let it. */
  #wait(finish: Finish | undefined, hasWritten: boolean, attempt: number): void {
    const { clock } = this.world;
    if (finish?.kind === "outcome") {
      const at = finish.outcome.kind === "recheck" ? finish.outcome.at : Infinity;
      const pauseMs = at - clock.now();
      if (!hasWritten && pauseMs <= SOON_MS) clock.advance(pauseMs);
      return;
    }
    const rule = finish?.error instanceof KeyturnError ? finish.error.retry : { kind: "backoff" as const };
    if (rule.kind === "after") clock.advance(Math.max(rule.delayMs, 100));
    else clock.advance(Math.min(60_000, 1000 * 2 ** Math.min(attempt, 6)));
  }
}

/** How far time goes at once while another one leads: three hops are a rotation and the end of the key before it. */
const HOP_MS = 5 * 86_400_000;
