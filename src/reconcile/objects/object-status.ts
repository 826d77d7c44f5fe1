import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { type Condition, mergeConditions, type StoredCondition } from "../../report/conditions.ts";
import type { Happening } from "../../report/event-recorder.ts";
import { fieldsOf, itemsOf } from "../managed/read-fields.ts";

/** Something in a spec: where, and what to do about it. */
interface Problem {
  readonly field: string;
  readonly message: string;
}

/** What keeps a spec from being followed. */
export interface Trouble extends Omit<Problem, "field"> {
  /** CamelCase: the code of an error, where it comes from one. */
  readonly reason: string;
  /** Absent where it is about no field. */
  readonly field?: string;
  /** It passes by itself: the condition says so, and no event does. */
  readonly isWait?: boolean;
}

export interface ObjectReport {
  /** Whether it does what it is there for. */
  readonly ready: Omit<Condition, "type">;
  readonly troubles: readonly Trouble[];
  /** What is told beside all that. */
  readonly note?: string;
  /** What is allowed and will surprise. */
  readonly warnings: readonly string[];
  /** The status beside its conditions. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const OURS = ["Ready", "Synced", "Warning"] as const;

export interface ObjectStatusOptions {
  readonly type: ResourceType;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly events: { record(object: KubeObject, happening: Happening, signal: AbortSignal): Promise<void> };
  /** Told of what the server has stored. */
  readonly noteWrite: (object: KubeObject) => void;
  /** Who writes; the name of the program where absent. */
  readonly fieldManager?: string;
}

/**
 * The one that persists the status of a kind that objects are made for: all of it in one write, none where nothing would
 * change, and an event for what is news. Must not: carry a word of a key.
 */
export class ObjectStatus {
  readonly #options: ObjectStatusOptions;
  /** What objects of the cache say already: most looks bring nothing new. */
  readonly #said = new WeakMap<KubeObject, string>();

  constructor(options: ObjectStatusOptions) {
    this.#options = options;
  }

  /** Returns the object as it is then. Throws `Conflict`. */
  async write(object: KubeObject, report: ObjectReport, signal: AbortSignal): Promise<KubeObject> {
    const { type, kube, clock, noteWrite, fieldManager } = this.#options;
    const { ready, troubles, note, warnings } = report;
    const words = JSON.stringify([ready, troubles, note, warnings, report.fields]);
    if (this.#said.get(object) === words) return object;
    const before = itemsOf(fieldsOf(object.status).conditions) as unknown[] as StoredCondition[];
    const wanted = conditionsOf(report);
    const { generation } = object.metadata;
    const conditions = mergeConditions(before, wanted, { nowAt: clock.now(), generation, ours: OURS });
    const fields = {
      ...(generation !== undefined && { observedGeneration: generation }),
      ...report.fields,
      conditions,
    };
    // JSON has no undefined: what is absent must not be there at all, or nothing ever compares equal.
    const status = JSON.parse(JSON.stringify(fields)) as Readonly<Record<string, unknown>>;
    if (isDeepStrictEqual(status, fieldsOf(object.status))) {
      this.#said.set(object, words);
      return object;
    }
    // Told first: a process that dies in between tells it again, and it is still one event.
    const news = isWaitAlone(report) ? wanted.filter(({ type: name }) => name !== "Synced") : wanted;
    for (const condition of news) await this.#tell(object, condition, before, signal);
    const options = { subresource: "status", ...(fieldManager !== undefined && { fieldManager }), signal };
    const stored = await kube.replace<KubeObject>(type, { ...object, status }, options);
    noteWrite(stored);
    return stored;
  }

  async #tell(
    object: KubeObject,
    condition: Condition,
    stored: readonly StoredCondition[],
    signal: AbortSignal,
  ): Promise<void> {
    const { type, status, reason, message: note = "" } = condition;
    const isWorthIt = type === "Synced" ? status === "False" : type === "Warning";
    const isKnown = stored.some((one) => one.type === type && one.status === status && one.message === note);
    if (!isWorthIt || isKnown) return;
    const happening = { type: "Warning", reason, action: "Reconcile", note, id: note } as const;
    await this.#options.events.record(object, happening, signal);
  }
}

function conditionsOf({ ready, troubles, note, warnings }: ObjectReport): readonly Condition[] {
  return [{ type: "Ready", ...ready }, synced(troubles, note), ...warned(warnings)];
}

function synced(troubles: readonly Trouble[], note: string | undefined): Condition {
  const [first] = troubles;
  const told = note !== undefined && { message: note };
  if (!first) return { type: "Synced", status: "True", reason: "ReconcileSuccess", ...told };
  const words = troubles.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const message = note === undefined ? sorted(words) : `${note}; ${sorted(words)}`;
  return { type: "Synced", status: "False", reason: first.reason, message };
}

const isWaitAlone = ({ troubles }: ObjectReport): boolean => troubles.every(({ isWait }) => isWait === true);

function warned(warnings: readonly string[]): readonly Condition[] {
  if (warnings.length === 0) return [];
  const isOld = warnings.some((warning) => warning.includes("is deprecated"));
  const reason = isOld ? "DeprecatedSetting" : "SurprisingSetting";
  return [{ type: "Warning", status: "True", reason, message: sorted(warnings) }];
}

/** A server does not store a status of any size. */
const MAX_MESSAGE_LENGTH = 4096;

/** Each once, in an order that does not change from one look to the next. */
function sorted(words: readonly string[]): string {
  const text = [...new Set(words)].sort().join("; ");
  // Half of a pair would come back as something else, and be said again for ever.
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…` : text;
}

export const specTroubles = (problems: readonly Problem[]): readonly Trouble[] =>
  problems.map((problem) => ({ ...problem, reason: "SpecProblem" }));

export const isReadyObject = ({ metadata, status }: KubeObject): boolean =>
  itemsOf(fieldsOf(status).conditions).some(
    ({ type, status: value, observedGeneration }) =>
      type === "Ready" && value === "True" && observedGeneration === metadata.generation,
  );
