import { type Clock, delay } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { apiVersionOf, type KubeObject, keyOf, type ObjectMeta, type ResourceType } from "../../kube/objects.ts";
import type { Happening } from "../../report/event-recorder.ts";
import type { RestartMetrics } from "../../report/restart-metrics.ts";
import { STOPPED_ANNOTATION } from "../../restart/annotations.ts";
import type { SourceId } from "../../restart/model.ts";
import type { RollWords } from "../../restart/roll-words.ts";
import { type Audit, writeDown } from "../write-down.ts";

export interface RestartReporterOptions {
  readonly events: { record(object: KubeObject, happening: Happening, signal: AbortSignal): Promise<void> };
  readonly metrics?: RestartMetrics | undefined;
  readonly audit?: Audit | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** What an event is about. */
export interface Subject {
  readonly type: ResourceType;
  readonly metadata: ObjectMeta;
}

const REFUSED = "RestartRefused";
/** How many tellings are remembered; what was forgotten is told to the server, which knows it. */
const MOST_TOLD = 10_000;

/** Restarts of many workloads shall not wait for the words about them. */
const TOLD_AT_A_TIME = 2;
/** Where more than these are to be told of and more keep coming, the server is to have time for what they are about. */
const A_FEW = 8;
const STILL_MS = 100;
/** Those that never end are told of all the same. */
const LONGEST_HOLD_MS = 5000;

/**
 * Tells people, metrics, the log and the audit log what became of workloads. What lasts is told once, not at every look;
 * nobody waits for an event to be written. Must not: carry anything of a source but its name.
 */
export class RestartReporter {
  readonly #options: RestartReporterOptions;
  readonly #told = new Set<string>();
  readonly #toTell: (() => Promise<void>)[] = [];
  #telling = 0;
  #askedAt = 0;

  constructor(options: RestartReporterOptions) {
    this.#options = options;
  }

  restarted(
    subject: Subject,
    what: RollWords & { readonly changed: readonly SourceId[]; readonly id: string },
    signal: AbortSignal,
  ): void {
    const { changed, how, beside, id } = what;
    this.#options.metrics?.restarted(subject.type.kind);
    const note = `${how}, because this has changed: ${sorted(changed)}.${beside === undefined ? "" : ` ${beside}`}`;
    this.#record(subject, { type: "Normal", reason: "Restarted", action: "Restart", note, id }, signal);
  }

  /** Asked of every workload again and again: no word is put together for it. */
  nothingToDo(key: string, reason: string): void {
    this.#options.logger.debug("nothing to do now", { key, reason });
  }

  stopped(subject: Subject, words: string, id: string, signal: AbortSignal): void {
    const what = { type: "Warning", reason: "RestartsStopped", action: "Stop", note: words, id } as const;
    this.#record(subject, what, signal);
  }

  /** By a mark that the breaker has not set on this very object: a person did, or an undone rollout brought it back. */
  heldBack(subject: Subject, signal: AbortSignal): void {
    const note =
      `Something that this workload uses has changed, and the annotation ${STOPPED_ANNOTATION} holds its restart back. ` +
      "Somebody has set it, or an undone rollout brought it back; remove it to let restarts go on.";
    this.#once(subject, "RestartsStopped", { action: "Stop", note, id: "held back" }, signal);
  }

  /** The pod was asked to be restarted, and nobody would make it again. */
  nobodyMakesItAgain(subject: Subject, changed: readonly SourceId[], signal: AbortSignal): void {
    const note =
      `This has changed: ${sorted(changed)}. No workload makes this pod again, so it runs on as it is; ` +
      'restartOnChange: "delete" has it deleted.';
    this.#once(subject, "NobodyMakesItAgain", { action: "Restart", note, id: sorted(changed) }, signal);
  }

  /** Once for all pods of an owner. */
  unknownOwner(subject: Subject, owner: string, signal: AbortSignal): void {
    const note =
      `This pod is to be restarted when what it uses changes, and it belongs to ${owner}, which cannot be restarted: ` +
      "Deployments, StatefulSets, DaemonSets, CronJobs and ReplicaSets can.";
    const what = { action: "Restart", note, id: owner };
    if (this.#isNews(`${subject.metadata.namespace} UnknownOwner ${owner}`))
      this.#warn(subject, "UnknownOwner", what, signal);
  }

  invalidAnnotation(subject: Subject, problems: readonly string[], signal: AbortSignal): void {
    if (problems.length === 0) return;
    const note = [...problems].sort().join("; ");
    this.#once(subject, "InvalidAnnotation", { action: "Read", note, id: note }, signal);
  }

  /** Somebody takes our words off the pod template as often as they are put there. */
  reverted(subject: Subject, prefix: string, id: string, signal: AbortSignal): void {
    const note =
      `A restart was reverted twice before it was over: somebody takes ${prefix}/digests and ${prefix}/restartedAt off the ` +
      "pod template, or puts those of an earlier restart there. Pods from before run on what they started with; whoever writes the template must leave those annotations alone.";
    this.#once(subject, "RestartReverted", { action: "Restart", note, id }, signal);
  }

  /** It is left to whoever has written it: two that write over each other would help nobody. */
  otherOperator(subject: Subject, signal: AbortSignal): void {
    const note =
      "Another operator, with another key of digests, restarts this workload too; this one leaves it alone, and takes over " +
      "a change that the other has not rolled out within ten minutes. Run one of them, or both with the same --lease-namespace.";
    this.#once(subject, "OtherOperator", { action: "Restart", note, id: "other operator" }, signal);
  }

  /** Said once: where the key was lost, it concerns every workload. */
  otherKey(key: string): void {
    if (!this.#isNews("other key")) return;
    this.#options.logger.warn("workloads bear digests under another key than this operator's", {
      key,
      note:
        "The Secret keyturn-fingerprint-key was lost, or another operator has one elsewhere (--lease-namespace). " +
        "What is in the version that was known is taken over; what was written since is restarted, once.",
    });
  }

  /** The server, or an admission policy, does not want the write. */
  refused(subject: Subject, why: string, signal: AbortSignal): void {
    const note = `The restart was refused: ${why}`;
    this.#once(subject, REFUSED, { action: "Restart", note, id: note }, signal);
  }

  #once(subject: Subject, reason: string, what: Pick<Happening, "action" | "note" | "id">, signal: AbortSignal): void {
    if (this.#isNews(`${subject.metadata.uid} ${reason} ${what.id}`)) this.#warn(subject, reason, what, signal);
  }

  #isNews(signature: string): boolean {
    if (this.#told.has(signature)) return false;
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.add(signature);
    return true;
  }

  #warn(subject: Subject, reason: string, what: Pick<Happening, "action" | "note" | "id">, signal: AbortSignal): void {
    this.#record(subject, { type: "Warning", reason, ...what }, signal);
  }

  #record({ type, metadata }: Subject, happening: Happening, signal: AbortSignal): void {
    const object: KubeObject = { apiVersion: apiVersionOf(type), kind: type.kind, metadata };
    this.#log(object, happening);
    const outcome = happening.type === "Normal" ? "done" : "refused";
    writeDown(this.#options.audit, object, { action: happening.reason, outcome, note: happening.note });
    this.#askedAt = this.#options.clock.monotonic();
    this.#toTell.push(() => this.#options.events.record(object, happening, signal));
    if (this.#telling < TOLD_AT_A_TIME) void this.#tell();
  }

  #log({ kind, metadata }: KubeObject, { type, reason, note }: Happening): void {
    const { logger } = this.#options;
    const fields = { kind, key: keyOf(metadata), note };
    if (type === "Normal") logger.info("restarted", fields);
    // What was refused is tried again, and logged by the one who does.
    else if (reason !== REFUSED) logger.warn("a restart is not as it should be", { ...fields, reason });
  }

  /** Events are recorded without throwing. */
  async #tell(): Promise<void> {
    const heldUntil = this.#options.clock.monotonic() + LONGEST_HOLD_MS;
    this.#telling++;
    for (let next = this.#toTell.shift(); next; next = this.#toTell.shift()) {
      await next();
      await this.#giveWay(heldUntil);
    }
    this.#telling--;
  }

  async #giveWay(until: number): Promise<void> {
    const { clock } = this.#options;
    const isHeld = (nowAt: number): boolean => nowAt < until && nowAt - this.#askedAt < STILL_MS;
    while (this.#toTell.length > A_FEW && isHeld(clock.monotonic())) await delay(clock, STILL_MS);
  }
}

const sorted = (sources: readonly SourceId[]): string => [...sources].sort().join(", ");
