import type { Clock } from "../../base/clock.ts";
import { decideDeletion } from "../../engine/decide-deletion.ts";
import type { SeenKey } from "../../engine/model.ts";
import { Conflict, NotFound } from "../../kube/errors.ts";
import type { KubeObject, ObjectRef } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { Connection } from "../../providers/contract.ts";
import { ProviderError } from "../../providers/provider-error.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { ANNOTATIONS, type DepartureSpec, FINALIZER, type ManagedKind } from "./managed-kind.ts";
import type { ManagedReporter } from "./managed-reporter.ts";
import { marksOf, ownerOf, seenKey } from "./marks.ts";
import { findNamed } from "./named-keys.ts";
import { united } from "./united.ts";

/** The external system as a resource on its way out sees it. */
export interface FormerOutside {
  readonly connection: Connection;
  /** Undefined when the spec names none that can be found. */
  readonly instanceId: string | undefined;
}

export interface DepartureOptions {
  readonly kind: ManagedKind;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly clusterId: string;
  readonly startedAt: number;
  readonly isSkewed: () => boolean;
  readonly reporter: ManagedReporter;
  readonly object: KubeObject;
  readonly spec: DepartureSpec;
  readonly outside: FormerOutside;
  readonly signal: AbortSignal;
}

const MAX_STEPS = 20;

/**
 * A resource on its way out: its keys are removed, or set free, and then its finalizer goes. All keys of a step are
 * tried before the first error is thrown. Must not: let go while anything of ours may still be outside.
 */
export async function depart(options: DepartureOptions): Promise<Outcome> {
  const { kind, clock, object, spec, outside, signal } = options;
  let seen: readonly SeenKey[] | undefined;
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = decideDeletion({
      state: kind.readState(object),
      outside: seen,
      policy: spec.deletionPolicy === "orphan" || !spec.may.delete ? "orphan" : "delete",
      now: clock.now(),
      settledAt: settledAt(options),
      isPaused: object.metadata.annotations?.[ANNOTATIONS.paused] === "true",
      isSkewed: options.isSkewed(),
    });
    switch (next.kind) {
      case "look":
        seen = await look(options);
        break;
      case "remove":
        seen = await removeAll(next.ids, seen ?? [], options);
        break;
      case "unmark":
        for (const id of next.ids) {
          await ensureNotRemade(options);
          await outside.connection.mark(id, undefined, signal);
        }
        await options.reporter.keysOrphaned(object, next.ids, signal);
        seen = (seen ?? []).filter((key) => !next.ids.includes(key.id));
        break;
      case "wait":
        return Number.isFinite(next.until) ? { kind: "recheck", at: next.until } : { kind: "settled" };
      case "release":
        await release(options);
        return { kind: "settled", isOver: true };
    }
  }
  return { kind: "recheck", at: clock.now() + 10_000 };
}

/** The later of the request to delete and our own start, and then as long as a create may take to land. */
function settledAt({ kind, object, startedAt }: DepartureOptions): number {
  const deletedAt = Date.parse(object.metadata.deletionTimestamp ?? "") || 0;
  return Math.max(deletedAt, startedAt) + kind.settleMs;
}

/**
 * All keys with our marks, and the one under the pending name, which may have none yet; those that the status knows and no
 * list shows are asked for by id, since lists may lag. An instance that is gone has taken its keys along, but not those of
 * another one that the resource had before.
 */
async function look({ kind, object, clusterId, outside, signal }: DepartureOptions): Promise<readonly SeenKey[]> {
  const { connection, instanceId = "" } = outside;
  const instance = await observeInstance(outside, signal);
  const owner = ownerOf(kind, object);
  const { active, pending, retired } = kind.readState(object);
  const marked = await connection.listMarked({ clusterId, owner }, signal);
  const marks = marksOf(owner, clusterId, pending?.sequence ?? 0);
  const isNameAsked = pending !== undefined && instance === "present";
  const named = isNameAsked ? await findNamed({ connection, instanceId, name: pending.name, marks, signal }) : [];
  const keys = new Map([...marked, ...named].map((key) => [key.id, key]));
  for (const id of [active?.id, pending?.id, ...retired.map((key) => key.id)]) {
    const unlisted = id === undefined || keys.has(id) ? undefined : await connection.observe(id, signal);
    if (unlisted) keys.set(unlisted.id, unlisted);
  }
  const left = [...keys.values()].filter((key) => instance !== "gone" || key.instanceId !== instanceId);
  return left.map((key) => seenKey(key, { clusterId, owner }));
}

/** What can be no instance at all is none that is gone: the marks tell whether there is a key. */
async function observeInstance(
  { connection, instanceId }: FormerOutside,
  signal: AbortSignal,
): Promise<"present" | "gone" | "none"> {
  if (instanceId === undefined) return "none";
  try {
    return await connection.observeInstance(instanceId, signal);
  } catch (error) {
    if (error instanceof ProviderError && error.code === "ProviderRefused") return "none";
    throw error;
  }
}

/**
 * Another resource may bear the name by now, with the keys that this one had: a backup was restored. They are that one's
 * then. Of one that is gone altogether, the keys are nobody's.
 */
async function ensureNotRemade({ kind, kube, object, signal }: DepartureOptions): Promise<void> {
  const { name, uid } = object.metadata;
  try {
    const live = await kube.get(kind.type, refOf(object), { signal });
    if (live.metadata.uid !== uid) throw new Conflict(`${name} was made anew`);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

async function removeAll(
  ids: readonly string[],
  seen: readonly SeenKey[],
  options: DepartureOptions,
): Promise<readonly SeenKey[]> {
  const { object, outside, reporter, clock, signal } = options;
  const gone = new Set<string>();
  const leaving = new Set<string>();
  const problems: unknown[] = [];
  for (const id of ids) {
    await ensureNotRemade(options);
    try {
      const result = await outside.connection.delete(id, signal);
      (result === "gone" ? gone : leaving).add(id);
    } catch (error) {
      problems.push(error);
    }
  }
  const removed = seen.filter((key) => gone.has(key.id));
  for (const { id, name } of removed) await reporter.keyDeleted(object, { id, name, cause: "departed" }, signal);
  if (problems.length > 0) throw united(problems);
  return seen
    .filter((key) => !gone.has(key.id))
    .map((key) => (leaving.has(key.id) ? { ...key, state: "deleting", leavingSince: clock.now() } : key));
}

/** Takes our finalizer off; nothing of ours may be left outside. */
export async function release({
  kind,
  kube,
  object,
  signal,
}: Pick<DepartureOptions, "kind" | "kube" | "object" | "signal">): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const kept = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  if (kept.length === finalizers.length) return;
  await kube.patch(
    kind.type,
    refOf(object),
    { type: "merge", body: { metadata: { resourceVersion, finalizers: kept } } },
    { signal },
  );
}

const refOf = ({ metadata: { name, namespace } }: KubeObject): ObjectRef => ({
  name,
  ...(namespace !== undefined && { namespace }),
});
