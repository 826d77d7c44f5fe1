import { KeyturnError } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { LogFields, Logger } from "../../base/logger.ts";
import { deletionInstant, latestDeletion } from "../../engine/dates.ts";
import type { KnownKey, Pending, Policy, Reason, RetiredCause, RetiredKey, State } from "../../engine/model.ts";
import { type KubeObject, keyOf, type ObjectRef } from "../../kube/objects.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import type { Happening } from "../../report/event-recorder.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { type Audit, writeDown } from "../write-down.ts";
import { notMoved } from "./consumers.ts";
import { ANNOTATIONS } from "./managed-kind.ts";
import { firstChance, type RotationRule } from "./next-rotation.ts";

/** What became of a rotation, in numbers. Must be quick and must not throw. */
export interface RotationObserver {
  /** A key became the active one of the resource; `latenessMs` where it was due at an instant. */
  activated(cause: ActivationCause, latenessMs: number | undefined, resource: ObjectRef): void;
  deleted(cause: DeletionCause): void;
  secretRestored(): void;
  failed(code: string, resource: ObjectRef): void;
}

/** Why a key was deleted: for what it was retired, or because its resource went. */
export type DeletionCause = RetiredCause | "departed";

/** Why there is a new active key. */
type ActivationCause = "first" | "adopted" | RetiredCause;

export interface ManagedReporterOptions {
  readonly events?: { record(object: KubeObject, happening: Happening, signal: AbortSignal): Promise<void> };
  readonly observer?: RotationObserver;
  readonly audit?: Audit;
  readonly logger?: Logger;
  readonly nowAt: () => number;
}

/** A key that becomes the active one, and the state before it did. */
export interface Activation {
  readonly before: State;
  readonly key: KnownKey;
  readonly rule: RotationRule;
  /** It was there already, and is taken over. */
  readonly isAdopted: boolean;
}

/**
 * Tells people, metrics, the log and the audit log what happened to a managed resource: one event for a rotation, a
 * deletion, a failure, a Secret that was put right. Must not: carry key material, or tell of what has not happened.
 */
export class ManagedReporter {
  readonly #options: ManagedReporterOptions;

  constructor(options: ManagedReporterOptions) {
    this.#options = options;
  }

  /** Written down, and no event: what comes of it will be one. */
  keyIntended(object: KubeObject, { id, name }: Pending, reason: Reason): void {
    const note = `Key ${name} is to be the next one.`;
    this.#writeDown(object, { action: "KeyIntended", outcome: "intended", key: { id, name }, cause: reason, note });
  }

  /** The same: from here on consumers find it. */
  keyPublished(object: KubeObject, key: Pick<KnownKey, "id" | "name">, { namespace, name }: SecretAddress): void {
    const note = `The Secret ${namespace}/${name} holds key ${key.name} (${key.id}).`;
    this.#writeDown(object, { action: "KeyPublished", outcome: "done", key: { id: key.id, name: key.name }, note });
  }

  /** Told before the commit, of the state before it. */
  async keyActivated(object: KubeObject, what: Activation, signal: AbortSignal): Promise<void> {
    const { before, key, rule } = what;
    const { policy } = rule;
    const { cause, replaced } = historyOf(what);
    const dueAt = firstChance(before, rule);
    const startedAt = before.pending?.since ?? dueAt;
    const isDue = cause === "rotated" && startedAt >= dueAt;
    this.#options.observer?.activated(cause, isDue ? startedAt - dueAt : undefined, object.metadata);
    const deletedAt =
      replaced && deletionInstant(policy, { ...replaced, replacedAt: replaced.replacedAt ?? this.#options.nowAt() });
    const usual = activation(cause, key, replaced, deletedAt);
    const happening = before.pending?.reason === "NothingToAdopt" && cause === "first" ? notAdopted(usual) : usual;
    this.#writeDown(object, { ...stepOf(happening, key), cause });
    await this.#record(object, { ...happening, id: key.id }, signal);
  }

  /** Logged after the commit: then it is done. */
  keyCommitted(object: KubeObject, what: Activation, nextRotationAt: number): void {
    const { id: keyId, name: keyName } = what.key;
    const { cause } = historyOf(what);
    const next = Number.isFinite(nextRotationAt) && { nextRotation: formatInstant(nextRotationAt) };
    this.#options.logger?.info(COMMITTED[cause] ?? "a key was rotated", {
      ...whatIs(object),
      keyId,
      keyName,
      reason: cause,
      ...next,
    });
  }

  /** Asked of every resource again and again: no word is put together for it. */
  nothingToDo(key: string, reason: string, outcome: Outcome): void {
    this.#options.logger?.debug("nothing to do now", { key, reason, outcome });
  }

  async keyDeleted(
    object: KubeObject,
    key: Pick<RetiredKey, "id" | "name"> & { readonly cause: DeletionCause },
    signal: AbortSignal,
  ): Promise<void> {
    this.#options.observer?.deleted(key.cause);
    const note = `Key ${key.name} (${key.id}) was deleted.`;
    const happening = { type: "Normal", reason: "KeyDeleted", action: "Delete", note, id: key.id } as const;
    this.#writeDown(object, { ...stepOf(happening, key), cause: key.cause });
    await this.#record(object, happening, signal);
  }

  /** A key whose time is over is kept from now on. */
  async consumersBehind(
    object: KubeObject,
    what: { readonly key: RetiredKey; readonly heldFor: string; readonly policy: Policy },
    signal: AbortSignal,
  ): Promise<void> {
    const { key, heldFor, policy } = what;
    const latest = formatInstant(latestDeletion(policy, key));
    const note = `Key ${key.name} (${key.id}) is kept: ${notMoved(heldFor)}. It is deleted ${latest} at the latest.`;
    const happening = { type: "Warning", reason: "ConsumersBehind", action: "Hold", note, id: key.id } as const;
    this.#options.logger?.warn("a key is kept for a consumer", { ...whatIs(object), keyId: key.id, heldFor });
    this.#writeDown(object, { ...stepOf(happening, key), outcome: "held" });
    await this.#record(object, happening, signal);
  }

  /** Told before the deletion of a key that somebody still uses is written down. */
  async holdEnded(object: KubeObject, { id, name, heldFor = "" }: RetiredKey, signal: AbortSignal): Promise<void> {
    const note = `Key ${name} (${id}) was kept for as long as maxHold allows and is deleted, though ${notMoved(heldFor)}.`;
    const happening = { type: "Warning", reason: "HoldEnded", action: "Delete", note, id } as const;
    this.#options.logger?.warn("a key goes though a consumer uses it", { ...whatIs(object), keyId: id, heldFor });
    this.#writeDown(object, stepOf(happening, { id, name }));
    await this.#record(object, happening, signal);
  }

  async secretRestored(
    object: KubeObject,
    what: {
      readonly secret: SecretAddress;
      readonly version: string | undefined;
      /** What was wrong with it, where that is known. */
      readonly why?: string | undefined;
    },
    signal: AbortSignal,
  ): Promise<void> {
    this.#options.observer?.secretRestored();
    const { namespace, name } = what.secret;
    const why = what.why === undefined ? "" : ` (${what.why})`;
    const note = `The Secret ${namespace}/${name} did not hold the active key as it should${why}, and does again.`;
    const id = what.version ?? "";
    const happening = { type: "Normal", reason: "SecretRestored", action: "Publish", note, id } as const;
    this.#writeDown(object, stepOf(happening));
    await this.#record(object, happening, signal);
  }

  /** Keys that outlive the resource because it said so. */
  async keysOrphaned(object: KubeObject, ids: readonly string[], signal: AbortSignal): Promise<void> {
    const note = `These keys were set free and are nobody's now: ${[...ids].sort().join(", ")}`;
    const id = [...ids].sort().join();
    const happening = { type: "Normal", reason: "KeysOrphaned", action: "Orphan", note, id } as const;
    this.#writeDown(object, stepOf(happening));
    await this.#record(object, happening, signal);
  }

  /** Told once for each problem: the caller knows whether it is the one that was told last. */
  async failed(object: KubeObject, problem: unknown, signal: AbortSignal): Promise<void> {
    const code = problem instanceof KeyturnError ? problem.code : "ReconcileError";
    const note =
      problem instanceof KeyturnError ? problem.message : "An unexpected error; the operator's log tells more.";
    const id = `${object.metadata.resourceVersion} ${note}`;
    this.#writeDown(object, { action: "Refused", outcome: "refused", cause: code, note });
    await this.#record(object, { type: "Warning", reason: code, action: "Reconcile", note, id }, signal);
  }

  /** The same for a problem that nothing is tried again for; those that something is, the one who does logs. */
  async restsOn(object: KubeObject, problem: unknown, signal: AbortSignal): Promise<void> {
    this.#options.logger?.warn("something is wrong", { ...whatIs(object), error: problem });
    await this.failed(object, problem, signal);
  }

  /** Every failure counts, told or not. */
  countFailure(problem: unknown, resource: ObjectRef): void {
    this.#options.observer?.failed(problem instanceof KeyturnError ? problem.code : "ReconcileError", resource);
  }

  #writeDown(object: KubeObject, step: Parameters<typeof writeDown>[2]): void {
    writeDown(this.#options.audit, object, step);
  }

  async #record(object: KubeObject, happening: Happening, signal: AbortSignal): Promise<void> {
    await this.#options.events?.record(object, happening, signal);
  }
}

const whatIs = ({ kind, metadata }: KubeObject): LogFields => ({ kind, key: keyOf(metadata) });

function historyOf({ before, isAdopted }: Activation): {
  readonly cause: ActivationCause;
  readonly replaced: RetiredKey | undefined;
} {
  const replaced = before.retired.find((one) => one.id === before.active?.id);
  return { cause: isAdopted ? "adopted" : before.active ? (replaced?.cause ?? "found") : "first", replaced };
}

/** What an event tells, as something that was done. */
const stepOf = ({ reason, note }: Pick<Happening, "reason" | "note">, key?: Pick<KnownKey, "id" | "name">) => ({
  action: reason,
  outcome: "done" as const,
  ...(key && { key: { id: key.id, name: key.name } }),
  note,
});

const WORDS: Readonly<Record<ActivationCause, readonly [reason: string, why: string]>> = {
  first: ["KeyCreated", "the first one"],
  adopted: ["KeyAdopted", "taken over"],
  rotated: ["KeyRotated", "the next one"],
  forced: ["KeyRotated", "asked for by annotation"],
  compromised: ["KeyRotated", "since the one before was compromised"],
  duplicate: ["KeyRotated", "the next one"],
  abandoned: ["KeyRotated", "the next one"],
  found: ["KeyRotated", "found by its marks"],
  ill: ["KeyRotated", "since the one before had not been working for too long"],
  gone: ["KeyRotated", "since the one before was deleted outside"],
};

const COMMITTED: Partial<Readonly<Record<ActivationCause, string>>> = {
  first: "a first key was made",
  adopted: "a key was taken over",
};

function activation(
  cause: ActivationCause,
  { id, name }: KnownKey,
  replaced: RetiredKey | undefined,
  deletedAt: number | undefined,
): Omit<Happening, "id"> {
  const [reason, why] = WORDS[cause];
  const fate = replaced === undefined ? "" : fateOf(replaced, deletedAt);
  return {
    type: cause === "compromised" ? "Warning" : "Normal",
    reason,
    action: "Rotate",
    note: `Key ${name} (${id}) is active, ${why}.${fate}`,
  };
}

/** Somebody meant another key, which lives on by itself if it is called otherwise. */
const notAdopted = (happening: Omit<Happening, "id">): Omit<Happening, "id"> => ({
  ...happening,
  type: "Warning",
  note: `${happening.note} The annotation ${ANNOTATIONS.externalName} named no key that could be taken over.`,
});

function fateOf({ name, id, cause }: RetiredKey, deletedAt = Infinity): string {
  if (cause === "gone") return ` ${name} (${id}) is gone.`;
  if (!Number.isFinite(deletedAt)) return "";
  return ` ${name} (${id}) is retired and will be deleted ${formatInstant(deletedAt)}.`;
}
