import type { Clock } from "../../base/clock.ts";
import { backoff, InvalidValue, KeyturnError, messageOf } from "../../base/errors.ts";
import { isOpen, nextOpening } from "../../engine/windows.ts";
import { BadRequest, Conflict, Forbidden, Invalid, NotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { STOPPED_ANNOTATION } from "../../restart/annotations.ts";
import { decideRestart } from "../../restart/decide-restart.ts";
import { isForeign, ownKnowledge } from "../../restart/foreign-state.ts";
import type { Departed, RestartDecision, SourceId, SourceState } from "../../restart/model.ts";
import { rollWords } from "../../restart/roll-words.ts";
import { kindOf, podType } from "../../restart/workload-kinds.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { restartBarePod } from "./bare-pods.ts";
import type { BareReplicaSets } from "./bare-replica-sets.ts";
import type { BareWorkloads } from "./bare-workloads.ts";
import type { DepartureFinder } from "./departure-finder.ts";
import type { LeftPods } from "./left-pods.ts";
import type { OwnerWalk } from "./owner-walk.ts";
import type { RestartCaches, Workload } from "./restart-caches.ts";
import type { RestartMemory } from "./restart-memory.ts";
import type { RestartReporter, Subject } from "./restart-reporter.ts";
import { controllerOf } from "./restart-sources.ts";
import type { RestartWriter } from "./restart-writer.ts";
import type { ReadMark } from "./shared-reads.ts";
import type { Slots } from "./slots.ts";
import type { SourceStates } from "./source-states.ts";
import { readWorkloadKey, workloadKey } from "./workload-key.ts";
import type { WorkloadReader, WorkloadRecord } from "./workload-record.ts";

export interface RestartReconcilerOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly caches: RestartCaches;
  readonly reader: WorkloadReader;
  readonly states: SourceStates;
  readonly bare: BareWorkloads;
  readonly owners: OwnerWalk;
  readonly replicaSets: BareReplicaSets;
  readonly leftPods: LeftPods;
  readonly departures: DepartureFinder;
  readonly writer: RestartWriter;
  readonly slots: Slots;
  readonly memory: RestartMemory;
  readonly reporter: RestartReporter;
}

/** By the server, by one of its policies, or because it would not fit. */
const REFUSALS = [Invalid, Forbidden, BadRequest, InvalidValue];

const OVER: Outcome = { kind: "settled", isOver: true };
const SETTLED: Outcome = { kind: "settled" };
/** Who waits for a slot is told when one is given back; this is for what nobody tells. */
const SLOT_LOOK_MS = 30_000;
/** The watch brings what we wrote; this is for a watch that does not. */
const OWN_WRITE_LOOK_MS = 1000;
const CONFLICTS = 3;

/**
 * One workload: its state from the cache, and what is known of its sources says whether there is anything to do; if so, the
 * sources are read live, a decision is taken, and one write does it. Must not: write anything but what was decided on the
 * version that was taken in hand.
 */
export class RestartReconciler {
  readonly #options: RestartReconcilerOptions;

  constructor(options: RestartReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { caches, clock } = this.#options;
    if (!caches.isCurrent(key)) return { kind: "recheck", at: clock.now() + OWN_WRITE_LOOK_MS };
    if (await this.#isOthers(key, signal)) return SETTLED;
    let workload = await this.#take(key, signal);
    for (let conflicts = 0; ; conflicts++) {
      if (!workload) return this.#forget(key);
      try {
        return await this.#attempt(workload, signal);
      } catch (error) {
        if (error instanceof NotFound) return this.#forget(key);
        if (!(error instanceof Conflict) || conflicts >= CONFLICTS) throw this.#explained(workload, error, signal);
        workload = await this.#takeLive(key, signal);
      }
    }
  }

  async #take(key: string, signal: AbortSignal): Promise<Workload | undefined> {
    const { caches, bare } = this.#options;
    return isBare(key) ? bare.take(key, signal) : caches.workload(key);
  }

  /** Somebody wrote first: the cache has not seen it yet. */
  async #takeLive(key: string, signal: AbortSignal): Promise<Workload | undefined> {
    const { kube, reader, bare } = this.#options;
    const { kind: name, namespace, name: objectName } = readWorkloadKey(key);
    const kind = kindOf(name);
    try {
      const object = await kube.get(kind?.type ?? podType, { namespace, name: objectName }, { signal });
      if (isBare(key)) return bare.of(key, object);
      const record = kind && reader.workload(kind, object);
      return record && { key, kind, metadata: object.metadata, record };
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async #attempt(taken: Workload, signal: AbortSignal): Promise<Outcome> {
    const workload = this.#remembered(taken);
    const { states, slots, reporter, leftPods, departures } = this.#options;
    const { key, record } = workload;
    const takenAt = states.takenNow();
    reporter.invalidAnnotation(subjectOf(workload), record.problems, signal);
    if (!record.optIn.isIn || record.isDeleting) return this.#forget(key);
    const cached = states.cached(workload);
    const hasSlot = !needsSlot(workload) || slots.isFree(key);
    const found = cached && departures.known(workload, cached);
    const departed = found === "unasked" ? undefined : found;
    const expected = cached && this.#decide(workload, cached, { hasSlot, departed });
    // Whoever waits asks when the time has come; nobody comes back to what is settled.
    const isOpen = found === "unasked" || leftPods.isSuspect(workload);
    const isSuspect = expected?.kind === "settled" && isOpen;
    if (!isSuspect && (expected?.kind === "settled" || expected?.kind === "wait"))
      return this.#rest(workload, expected, signal);
    return this.#actLive(workload, takenAt, signal);
  }

  /**
   * Whoever undoes a rollout puts the annotations of another revision on the workload, and our state with them. What this
   * process has seen of it still holds, also for the pods that a restart which was undone has not come to.
   */
  #remembered(workload: Workload): Workload {
    const { key, metadata, record } = workload;
    const state = record.state ? undefined : this.#options.memory.state(key, metadata.uid ?? "");
    return state ? { ...workload, record: { ...record, state, isStateLost: true } } : workload;
  }

  async #actLive(workload: Workload, takenAt: ReadMark, signal: AbortSignal): Promise<Outcome> {
    const { states, slots, leftPods, reporter, departures } = this.#options;
    const { key } = workload;
    const sources = await states.live(workload, takenAt, signal);
    const departed = await departures.find(workload, sources, signal);
    const hasSlot = !needsSlot(workload) || slots.take(key);
    try {
      const usual = this.#decide(workload, sources, { hasSlot, departed });
      const isSuspect = usual.kind === "settled" && leftPods.isSuspect(workload);
      const isReverted = isSuspect && (await leftPods.areThere(workload, signal));
      const decision = isReverted ? this.#decide(workload, sources, { hasSlot, isReverted }) : usual;
      if (decision.kind === "settled" || decision.kind === "wait") return await this.#rest(workload, decision, signal);
      if (isForeign(workload.record.state, sources)) reporter.otherKey(key);
      return await this.#act(workload, decision, signal);
    } finally {
      slots.putBack(key);
    }
  }

  #decide(
    { key, metadata, record }: Workload,
    sources: ReadonlyMap<SourceId, SourceState>,
    found: Found,
  ): RestartDecision {
    const { clock, memory } = this.#options;
    const { uid = "" } = metadata;
    const now = clock.now();
    const { pace, windows } = record.pace;
    const own = ownKnowledge(memory.own(key, uid), record.state, sources);
    if (record.state && own === record.state.sources) memory.noteState(key, uid, record.state);
    else if (own) memory.noteOwn(key, uid, own);
    return decideRestart({
      state: record.state,
      isStateLost: record.isStateLost,
      sources: withAgain(sources, record),
      templateDigests: record.templateDigests,
      templateRestartedAt: record.templateRestartedAt,
      pace,
      now,
      changeSeenAt: memory.changeSeenAt(key, uid),
      ownRestartedAt: memory.restartsOf(uid),
      own,
      window: { isOpen: isOpen(windows, now), opensAt: nextOpening(windows, now) },
      isStopped: record.stopped !== undefined,
      markedFor: record.optIn.markedFor,
      ...found,
    });
  }

  async #rest(
    workload: Workload,
    decision: Extract<RestartDecision, { readonly kind: "settled" | "wait" }>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { clock, memory, slots, replicaSets, reporter } = this.#options;
    const { key, metadata, kind, record } = workload;
    reporter.nothingToDo(key, decision.reason);
    if (decision.kind === "settled") {
      if (decision.reason === "Reverted") this.#giveUp(workload, signal);
      // The breaker has told of its own mark; of one that came back with an old revision nobody has.
      if (decision.reason === "Stopped" && record.state?.isStopped !== true)
        reporter.heldBack(subjectOf(workload), signal);
      memory.settle(key);
      slots.stopWaiting(key);
      return kind?.rolls === "byDeletingPods" ? replicaSets.replace(workload, signal) : SETTLED;
    }
    if (decision.reason === "OtherOperator") reporter.otherOperator(subjectOf(workload), signal);
    const now = clock.now();
    if (decision.reason === "OtherOperator" && decision.changed.length === 0) memory.settle(key);
    else memory.noteChange(key, metadata.uid ?? "", now);
    memory.noteWait(key, decision.reason);
    if (decision.reason === "NoSlot") slots.wait(key);
    else slots.stopWaiting(key);
    const at = decision.reason === "NoSlot" ? Math.min(decision.until, now + SLOT_LOOK_MS) : decision.until;
    return Number.isFinite(at) ? { kind: "recheck", at } : SETTLED;
  }

  async #act(
    workload: Workload,
    decision: Extract<RestartDecision, { readonly kind: "adopt" | "stop" | "roll" }>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { memory, writer, reporter, slots } = this.#options;
    const { key, metadata, record } = workload;
    const { uid = "" } = metadata;
    if (decision.kind === "roll") return this.#roll(workload, decision, signal);
    if (decision.kind === "stop") {
      const words = stopWords(decision.restarts, record.pace.pace.perHour);
      await writer.note({ state: decision.state, words }, workload, signal);
      const id = `${decision.state.restartedAt.at(-1)}`;
      reporter.stopped(subjectOf(workload), words, id, signal);
    } else {
      await writer.note({ state: decision.state }, workload, signal);
      if (decision.isRelease) memory.forgetRestarts(uid);
      else memory.noteState(key, uid, decision.state);
    }
    memory.settle(key);
    slots.stopWaiting(key);
    return SETTLED;
  }

  async #roll(
    workload: Workload,
    decision: Extract<RestartDecision, { readonly kind: "roll" }>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { clock, memory, writer, reporter, slots } = this.#options;
    const { key, kind, metadata } = workload;
    const { changed, state } = decision;
    const restartedAt = clock.now();
    let written: KubeObject | undefined;
    if (!kind) {
      const isDeleted = await restartBarePod(workload, changed, this.#options, signal);
      if (!isDeleted) {
        memory.settle(key);
        slots.stopWaiting(key);
        return SETTLED;
      }
    } else {
      written = await writer.roll(workload, decision, signal);
      memory.noteState(key, metadata.uid ?? "", state);
      if (needsSlot(workload)) slots.begin(key, kind.rolls === "byDeletingPods");
    }
    memory.settle(key);
    slots.stopWaiting(key);
    memory.noteRestart(metadata.uid ?? "", restartedAt);
    const id = `${state.restartedAt.at(-1) ?? restartedAt}`;
    reporter.restarted(subjectOf(workload), { changed, ...rollWords(kind, written), id }, signal);
    return SETTLED;
  }

  #giveUp(workload: Workload, signal: AbortSignal): void {
    const { leftPods, reporter } = this.#options;
    const { record, metadata } = workload;
    const id = `${metadata.uid} ${record.state?.rolled?.publishedAt}`;
    reporter.reverted(subjectOf(workload), record.optIn.prefix, id, signal);
    leftPods.giveUp(workload);
  }

  /**
   * A pod that somebody makes again: where that is nobody whom we can restart, people are told, and nothing is done. By
   * what the watch tells, before anything of it is read.
   */
  async #isOthers(key: string, signal: AbortSignal): Promise<boolean> {
    const { caches, owners, reporter } = this.#options;
    const { kind, namespace, name } = readWorkloadKey(key);
    const metadata = kind === podType.kind ? caches.bareMetadata(key) : undefined;
    const controller = metadata && controllerOf(metadata);
    if (!metadata || !controller) return false;
    if (!caches.optedIn(kind, namespace, name) || metadata.deletionTimestamp !== undefined) return true;
    // A ReplicaSet that nobody made is known.
    if (caches.bareMetadata(workloadKey(controller.kind, namespace, controller.name))) return true;
    const found = await owners.ownerOf(metadata, signal);
    if (found.kind === "unknown")
      reporter.unknownOwner({ type: podType, metadata }, `${found.owner.kind} ${found.owner.name}`, signal);
    return true;
  }

  #forget(key: string): Outcome {
    const { memory, slots, bare } = this.#options;
    memory.forget(key);
    slots.stopWaiting(key);
    if (isBare(key)) {
      bare.forget(key);
      slots.giveBack(key);
    }
    return OVER;
  }

  /** What a server or its policies refuse is tried again later, and said where people look for it. */
  #explained(workload: Workload, error: unknown, signal: AbortSignal): unknown {
    if (!REFUSALS.some((refusal) => error instanceof refusal)) return error;
    this.#options.reporter.refused(subjectOf(workload), messageOf(error), signal);
    const message = `the restart of ${workload.key} was refused: ${messageOf(error)}`;
    return new KeyturnError("RestartRefused", message, { retry: backoff, cause: error });
  }
}

/** What a decision depends on besides. */
interface Found {
  readonly hasSlot: boolean;
  readonly isReverted?: boolean;
  readonly departed?: Departed | undefined;
}

/** Who marked the workload may know of pods that nothing else tells of. */
function withAgain(sources: ReadonlyMap<SourceId, SourceState>, { again }: WorkloadRecord): typeof sources {
  if (!again) return sources;
  return new Map(Array.from(sources, ([source, state]) => [source, { ...state, againAt: again.get(source) }]));
}

const isBare = (key: string): boolean => key.startsWith("ReplicaSet/") || key.startsWith("Pod/");

/** Where nothing will roll there is nothing to count. */
const needsSlot = ({ kind, record }: Workload): boolean =>
  kind !== undefined &&
  kind.rolls !== "never" &&
  (kind.rolls !== "byItself" || record.rollout.total > 0 || !record.rollout.isComplete);

const subjectOf = ({ kind, metadata }: Workload): Subject => ({ type: kind?.type ?? podType, metadata });

const stopWords = (restarts: number, perHour: number): string =>
  `Stopped after ${restarts} ${restarts === 1 ? "restart" : "restarts"} within an hour (at most ${perHour}): something keeps changing what this workload uses. ` +
  `Remove the annotation ${STOPPED_ANNOTATION} to let restarts go on.`;
