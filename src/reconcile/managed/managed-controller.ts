import type { Clock } from "../../base/clock.ts";
import { KeyturnError, never } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { withoutStaleHolds } from "../../engine/hold.ts";
import { requestOf } from "../../engine/intend.ts";
import type { State } from "../../engine/model.ts";
import { Conflict, NotFound } from "../../kube/errors.ts";
import type { KubeObject, ObjectRef } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretPublisher } from "../../publish/secret-publisher.ts";
import { jitter } from "../../runtime/due-times.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import { AskedKeys } from "./asked-keys.ts";
import { type Hold, holdWords } from "./conditions.ts";
import { type Consumers, restartsAreOff } from "./consumers.ts";
import { depart, type FormerOutside, release } from "./departure.ts";
import { type Holds, knownWithHolds } from "./holds.ts";
import { keyName } from "./key-name.ts";
import type { DepartureSpec, ManagedKind, ManagedSpec } from "./managed-kind.ts";
import { ManagedReporter, type ManagedReporterOptions } from "./managed-reporter.ts";
import { ownerOf } from "./marks.ts";
import { nextDate } from "./next-rotation.ts";
import { type PassOptions, type PassResult, runPass } from "./pass.ts";
import { fieldsOf, itemsOf } from "./read-fields.ts";
import { type Known, Rests } from "./rest.ts";
import { StatusWriter } from "./status-writer.ts";
import type { Outside } from "./workpiece.ts";

/** Timers and clocks do not agree to the millisecond: a check that came so much early was the one that was due. */
const EARLY_MS = 10;

export interface ManagedControllerOptions {
  readonly kind: ManagedKind;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly publisher: SecretPublisher;
  readonly clusterId: string;
  /** Since when this process works: requests of an earlier one may still be under way for a while. */
  readonly startedAt: number;
  readonly isSkewed: () => boolean;
  /** As in `ControllerSettings`. */
  readonly onCompared?: ((at: number) => void) | undefined;
  /** As in `ControllerContext`; whoever has none has a failure tried again by its own rule. */
  readonly lookBy?: ((key: string, at: number) => void) | undefined;
  /** How often the outside is looked at though nothing asks for it. */
  readonly driftCheckMs: number;
  /** The outside is near: looking at it costs so little that every pass does. */
  readonly isNear?: boolean | undefined;
  /** What the watches know; absent: everything is asked for. */
  readonly known?: Known | undefined;
  readonly events?: ManagedReporterOptions["events"] | undefined;
  readonly observer?: ManagedReporterOptions["observer"] | undefined;
  readonly audit?: ManagedReporterOptions["audit"] | undefined;
  /** As in `PassOptions`. */
  readonly hearsOutside?: PassOptions["hearsOutside"];
  readonly starts?: PassOptions["starts"];
  readonly decide?: PassOptions["decide"];
  /** Knows who uses retired keys; absent while the restart controller is off: then nobody can be waited for. */
  readonly consumers?: Consumers | undefined;
  /** As in `WorkpieceOptions`. */
  readonly copies?: PassOptions["copies"];
  /** Told which workloads keys are kept for. */
  readonly holds?: Holds | undefined;
  /** Finds the external system that a resource means. Throws `SpecProblem` and `ProviderError`. */
  readonly resolve: (object: KubeObject, spec: ManagedSpec, signal: AbortSignal) => Promise<Outside>;
  /** The same for a resource on its way out, whatever else is wrong with its spec. */
  readonly resolveDeparture: (object: KubeObject, spec: DepartureSpec, signal: AbortSignal) => Promise<FormerOutside>;
  /** Whether what keeps a resource from removing its keys is no reason to stay: somebody else sees to what it leaves. */
  readonly leavesOn?: ((error: unknown, object: KubeObject) => boolean) | undefined;
}

const HOLDS: ReadonlySet<string> = new Set<Hold>([
  "Frozen",
  "ClockSkewed",
  "WindowClosed",
  "TooManyForced",
  "NotAllowed",
  "AdoptionRefused",
  "Paused",
]);

/** The reconcile of one managed kind. */
export function createManagedReconcile(options: ManagedControllerOptions): Reconcile {
  const reconciler = new ManagedReconciler(options);
  return (key, signal) => reconciler.reconcile(key, signal);
}

/** Gather, one pass of the protocol, report. What it remembers saves requests; losing it costs nothing else. */
class ManagedReconciler {
  readonly #options: ManagedControllerOptions;
  readonly #statusWriter: StatusWriter;
  readonly #reporter: ManagedReporter;
  readonly #rests: Rests;
  readonly #asked = new AskedKeys();
  /** On the clock that never goes back: a wall clock that was wrong for a while must not put off the next look. */
  readonly #lastLook = new Map<string, { readonly uid: string; readonly tick: number }>();
  readonly #startedTick: number;

  constructor(options: ManagedControllerOptions) {
    const { clock, logger, events, observer, audit } = options;
    this.#options = options;
    this.#statusWriter = new StatusWriter(options);
    this.#reporter = new ManagedReporter({
      ...(events && { events }),
      ...(observer && { observer }),
      ...(audit && { audit }),
      logger,
      nowAt: () => clock.now(),
    });
    const { known, holds, driftCheckMs: longestMs } = options;
    this.#rests = new Rests({ clock, longestMs, known: known && holds ? knownWithHolds(known, holds) : known });
    this.#startedTick = clock.monotonic();
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { kube, kind } = this.#options;
    const rested = this.#rests.outcome(key);
    if (rested) {
      this.#reporter.nothingToDo(key, "Unchanged", rested);
      return rested;
    }
    const ref = refOf(key);
    let object: KubeObject;
    try {
      object = await kube.get(kind.type, ref, { signal });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#forget(key);
      return { kind: "settled", isOver: true };
    }
    try {
      if (object.metadata.deletionTimestamp !== undefined) return await this.#leave(object, signal);
      return await this.#attempt(key, object, signal);
    } catch (error) {
      this.#rests.forget(key);
      this.#remind(key, object);
      if (!(error instanceof Conflict) && !signal.aborted) await this.#report(key, ref, error, signal);
      throw error;
    }
  }

  async #attempt(key: string, object: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { kind, clock } = this.#options;
    const statusWriter = this.#statusWriter;
    const inputs = this.#rests.inputs(key);
    const spec = kind.readSpec(object);
    this.#refuseHold(spec, kind.readState(object));
    const outside = await this.#options.resolve(object, spec, signal);
    const { publisher = this.#options.publisher } = outside;
    const { uid = "" } = object.metadata;
    const secret =
      spec.secret &&
      (this.#rests.secret(key, uid, spec.secret) ?? (await publisher.read(spec.secret, ownerOf(kind, object), signal)));
    const driftCheckAt = this.#driftCheckOf(key, object, spec);
    const isContinued = this.#rests.isContinued(key, object.metadata);
    const nextDriftCheckAt = (): number => this.#driftCheckAfter(uid, clock.monotonic());
    const common = {
      ...this.#options,
      publisher,
      nextDriftCheckAt,
      statusWriter,
      reporter: this.#reporter,
      isContinued,
      asked: this.#asked,
      signal,
    };
    const result = await runPass({ ...common, object, spec, outside, secret, driftCheckAt });
    if (result.hasLooked) {
      this.#lastLook.set(key, { uid, tick: clock.monotonic() });
      this.#options.onCompared?.(clock.now());
    }
    const hold = holdOf(result.decision);
    const problem = problemOf(result, hold);
    const state = withoutStaleHolds(kind.readState(result.object), spec.policy, clock.now());
    if (!state.pending) this.#asked.forget(key);
    const { notices, seen } = result;
    const written = await statusWriter.write(result.object, { state, spec, hold, problem, notices, seen, signal });
    if (problem && isNews(result.object, problem)) await this.#reporter.restsOn(written, problem, signal);
    this.#options.holds?.note(key, result.heldFor);
    const { resourceVersion = "" } = written.metadata;
    // While clocks disagree, a status that a look has shown to be from the past stays as it is.
    const isSure = result.hasLooked ? hold !== "ClockSkewed" : isContinued;
    const { secret: left, outcome } = result;
    this.#rests.remember(key, { uid, resourceVersion, spec, inputs, secret: left, outcome, isSure });
    this.#reporter.nothingToDo(key, result.decision.reason, result.outcome);
    return result.outcome;
  }

  /** A key that is compromised is replaced and deleted all the same: nobody is waited for with it. */
  #refuseHold({ revokeField }: ManagedSpec, state: State): void {
    if (revokeField === undefined || this.#options.consumers) return;
    const isCompromised =
      requestOf(state)?.isCompromised === true || state.retired.some(({ cause }) => cause === "compromised");
    if (!isCompromised) throw restartsAreOff(revokeField);
  }

  async #leave(object: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { kind } = this.#options;
    try {
      const spec = kind.readDeparture(object);
      const outside = await this.#options.resolveDeparture(object, spec, signal);
      return await depart({ ...this.#options, reporter: this.#reporter, object, spec, outside, signal });
    } catch (error) {
      const isLeft = this.#options.leavesOn?.(error, object) === true;
      if (error instanceof Conflict || !(isLeft || isBlank(kind.readState(object)))) throw error;
      if (isLeft) await this.#reporter.restsOn(object, error, signal);
      // Nothing says that there ever was a key: an outside that cannot be asked is no reason to stay. Should the status
      // have been lost, the sweep finds what it knew.
      await release({ ...this.#options, object, signal });
      return { kind: "settled", isOver: true };
    }
  }

  #driftCheckOf(key: string, object: KubeObject, { baseName }: ManagedSpec): number {
    const { kind, clock, isNear } = this.#options;
    if (isNear) return clock.now();
    const { uid = "" } = object.metadata;
    const last = this.#lastLook.get(key);
    if (last?.uid === uid) return this.#driftCheckAfter(uid, last.tick);
    const { active } = kind.readState(object);
    // A status that speaks of a name from under another UID was restored: what it says is compared before it is used.
    const isRestored = active !== undefined && active.name !== keyName(baseName, uid, active.sequence);
    return isRestored ? clock.now() : this.#driftCheckAfter(uid, this.#startedTick);
  }

  /**
   * One check in each period, at a moment of it that is the resource's own, by UID: neither those that a start finds nor
   * those that were made together look together.
   */
  #driftCheckAfter(uid: string, tick: number): number {
    const { clock, driftCheckMs } = this.#options;
    const firstTick = this.#startedTick + jitter(uid, driftCheckMs);
    const periods = Math.floor((tick + EARLY_MS - firstTick) / driftCheckMs) + 1;
    return clock.now() - clock.monotonic() + firstTick + Math.max(0, periods) * driftCheckMs;
  }

  /**
   * Whatever has failed, and however rarely that is tried again: what is due later begins in time, and drift is looked for
   * as always.
   */
  #remind(key: string, object: KubeObject): void {
    const { kind, clock, lookBy } = this.#options;
    const { uid = "", deletionTimestamp } = object.metadata;
    const spec = deletionTimestamp === undefined ? specOf(kind, object) : undefined;
    const due = spec ? nextDate(kind.readState(object), spec, clock.now()) : Infinity;
    lookBy?.(key, Math.min(due, this.#driftCheckAfter(uid, clock.monotonic())));
  }

  /** What went wrong is said on the resource itself, once; the same problem again writes nothing. */
  async #report(key: string, ref: ObjectRef, problem: unknown, signal: AbortSignal): Promise<void> {
    const { kube, kind, logger } = this.#options;
    this.#reporter.countFailure(problem, ref);
    try {
      const object = await kube.get(kind.type, ref, { signal });
      this.#remind(key, object);
      const spec = specOf(kind, object);
      const state = kind.readState(object);
      const written = await this.#statusWriter.write(object, { state, spec, problem, signal });
      if (written !== object) await this.#reporter.failed(written, problem, signal);
    } catch (error) {
      if (!(error instanceof Conflict) && !(error instanceof NotFound))
        logger.warn("a problem could not be reported", { error });
    }
  }

  #forget(key: string): void {
    this.#options.holds?.note(key, []);
    this.#rests.forget(key);
    this.#lastLook.delete(key);
    this.#asked.forget(key);
  }
}

/** Nothing was ever intended, as far as the resource tells. */
const isBlank = ({ sequence, active, pending, retired, externalName }: State): boolean =>
  sequence === 0 && !active && !pending && retired.length === 0 && externalName === undefined;

function holdOf({ reason }: PassResult["decision"]): Hold | undefined {
  return HOLDS.has(reason) ? (reason as Hold) : undefined;
}

/** What a pass came to rest on and people have to know of: nothing is tried again for it, and it may last. */
function problemOf({ complaint }: PassResult, hold: Hold | undefined): KeyturnError | undefined {
  if (hold === "AdoptionRefused") return new KeyturnError("AdoptionRefused", holdWords(hold), { retry: never });
  return complaint === undefined ? undefined : new KeyturnError("KeyNotReady", complaint, { retry: never });
}

/** Whether the resource does not say it already. */
const isNews = ({ status }: KubeObject, { message }: KeyturnError): boolean =>
  !itemsOf(fieldsOf(status).conditions).some((one) => one.type === "Synced" && one.message === message);

function specOf(kind: ManagedKind, object: KubeObject): ManagedSpec | undefined {
  try {
    return kind.readSpec(object);
  } catch {
    return undefined;
  }
}

function refOf(key: string): ObjectRef {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
