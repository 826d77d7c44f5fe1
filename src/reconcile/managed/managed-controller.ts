import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Decision } from "../../engine/model.ts";
import { Conflict, NotFound } from "../../kube/errors.ts";
import type { KubeObject, ObjectRef } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretPublisher } from "../../publish/secret-publisher.ts";
import { jitter } from "../../runtime/due-times.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import type { Hold } from "./conditions.ts";
import { depart, type FormerOutside, release } from "./departure.ts";
import { keyName } from "./key-name.ts";
import type { DepartureSpec, ManagedKind, ManagedSpec } from "./managed-kind.ts";
import { ownerOf } from "./marks.ts";
import { type Outside, Pass, type PassOptions } from "./pass.ts";
import { StatusWriter } from "./status-writer.ts";

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
  /** How often the outside is looked at though nothing asks for it. */
  readonly driftCheckMs: number;
  /** As in `PassOptions`. */
  readonly decide?: PassOptions["decide"];
  /** Finds the external system that a resource means. Throws `SpecProblem` and `ProviderError`. */
  readonly resolve: (object: KubeObject, spec: ManagedSpec, signal: AbortSignal) => Promise<Outside>;
  /** The same for a resource on its way out, whatever else is wrong with its spec. */
  readonly resolveDeparture: (object: KubeObject, spec: DepartureSpec, signal: AbortSignal) => Promise<FormerOutside>;
}

const HOLDS: ReadonlySet<string> = new Set<Hold>([
  "Frozen",
  "ClockSkewed",
  "WindowClosed",
  "TooManyForced",
  "AdoptionRefused",
  "Paused",
]);

/** The reconcile of one managed kind: gather, one pass of the protocol, report. */
export function createManagedReconcile(options: ManagedControllerOptions): Reconcile {
  const statusWriter = new StatusWriter(options);
  /** On the clock that never goes back: a wall clock that was wrong for a while must not put off the next look. */
  const lastLook = new Map<string, number>();
  const startedTick = options.clock.monotonic();

  async function attempt(object: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { kind, publisher, clock } = options;
    if (object.metadata.deletionTimestamp !== undefined) return leave(object, signal);
    const spec = kind.readSpec(object);
    const outside = await options.resolve(object, spec, signal);
    const { uid = "" } = object.metadata;
    const secret = spec.secret && (await publisher.read(spec.secret, ownerOf(kind, object), signal));
    const driftCheckAt = driftCheckOf(object, spec);
    const pass = new Pass({ ...options, statusWriter, object, spec, outside, secret, driftCheckAt, signal });
    const result = await pass.run();
    if (result.hasLooked) lastLook.set(uid, clock.monotonic());
    const hold = holdOf(result.decision);
    await statusWriter.write(result.object, { state: kind.readState(result.object), spec, hold, signal });
    return result.outcome;
  }

  /** A resource for which nothing was ever intended needs nobody outside to go. */
  async function leave(object: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { kind } = options;
    const { sequence, active, pending, retired } = kind.readState(object);
    if (sequence === 0 && !active && !pending && retired.length === 0) {
      await release({ ...options, object, signal });
      return { kind: "settled" };
    }
    const spec = kind.readDeparture(object);
    const outside = await options.resolveDeparture(object, spec, signal);
    return depart({ ...options, object, spec, outside, signal });
  }

  /** The first check after a start comes within the period, spread by UID, so that a restart is not a stampede. */
  function driftCheckOf(object: KubeObject, { baseName }: ManagedSpec): number {
    const { kind, driftCheckMs, clock } = options;
    const { uid = "" } = object.metadata;
    const wallTimeOf = (tick: number): number => clock.now() + tick - clock.monotonic();
    const lookedTick = lastLook.get(uid);
    if (lookedTick !== undefined) return wallTimeOf(lookedTick + driftCheckMs);
    const { active } = kind.readState(object);
    // A status that speaks of a name from under another UID was restored: what it says is compared before it is used.
    const isRestored = active !== undefined && active.name !== keyName(baseName, uid, active.sequence);
    return wallTimeOf(startedTick + (isRestored ? 0 : jitter(uid, driftCheckMs)));
  }

  /** What went wrong is said on the resource itself, once; the same problem again writes nothing. */
  async function report(ref: ObjectRef, problem: unknown, signal: AbortSignal): Promise<void> {
    const { kind, kube, logger } = options;
    try {
      const object = await kube.get(kind.type, ref, { signal });
      const spec = specOf(kind, object);
      await statusWriter.write(object, { state: kind.readState(object), spec, problem, signal });
    } catch (error) {
      if (!(error instanceof Conflict) && !(error instanceof NotFound))
        logger.warn("a problem could not be reported", { error });
    }
  }

  return async (key, signal) => {
    const ref = refOf(key);
    let object: KubeObject;
    try {
      object = await options.kube.get(options.kind.type, ref, { signal });
    } catch (error) {
      if (error instanceof NotFound) return { kind: "settled" };
      throw error;
    }
    try {
      return await attempt(object, signal);
    } catch (error) {
      if (!(error instanceof Conflict) && !signal.aborted) await report(ref, error, signal);
      throw error;
    }
  };
}

function holdOf(decision: Decision): Hold | undefined {
  return decision.kind === "wait" && HOLDS.has(decision.reason) ? (decision.reason as Hold) : undefined;
}

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
