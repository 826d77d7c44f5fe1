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
import { depart } from "./departure.ts";
import type { ManagedKind, ManagedSpec } from "./managed-kind.ts";
import { type Outside, Pass } from "./pass.ts";
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
  /** Finds the external system that a resource means. Throws `SpecProblem` and `ProviderError`. */
  readonly resolve: (object: KubeObject, spec: ManagedSpec, signal: AbortSignal) => Promise<Outside>;
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
  const lastLook = new Map<string, number>();

  async function attempt(object: KubeObject, signal: AbortSignal): Promise<Outcome> {
    const { kind, publisher, clock } = options;
    const spec = kind.readSpec(object);
    const outside = await options.resolve(object, spec, signal);
    const { uid = "" } = object.metadata;
    if (kind.readState(object).isDeleting) return depart({ ...options, object, spec, outside, signal });
    const secret = spec.secret && (await publisher.read(spec.secret, uid, signal));
    const lookedAt = lastLook.get(uid);
    // The first check after a start comes within the period, spread by UID, so that a restart is not a stampede.
    const driftCheckAt =
      lookedAt === undefined ? options.startedAt + jitter(uid, options.driftCheckMs) : lookedAt + options.driftCheckMs;
    const pass = new Pass({ ...options, statusWriter, object, spec, outside, secret, driftCheckAt, signal });
    const result = await pass.run();
    if (result.hasLooked) lastLook.set(uid, clock.now());
    const hold = holdOf(result.decision);
    await statusWriter.write(result.object, { state: kind.readState(result.object), spec, hold, signal });
    return result.outcome;
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
