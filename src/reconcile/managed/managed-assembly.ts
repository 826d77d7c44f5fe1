import { SecretPublisher } from "../../publish/secret-publisher.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { ControllerContext } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import { type ClusterIdentity, onceIdentified } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { ConsumersBehind } from "../restart/consumers-behind.ts";
import type { WorkloadWatches } from "./holds.ts";
import type { ManagedCaches } from "./managed-caches.ts";
import type { ManagedControllerOptions } from "./managed-controller.ts";
import type { ManagedKind } from "./managed-kind.ts";
import type { Known } from "./rest.ts";
import { StartLimiter } from "./start-limiter.ts";

/** What every controller of a managed kind is put together from, whatever its outside is. */
export interface Assembly {
  /** The controller's name. */
  readonly name: string;
  readonly kind: ManagedKind;
  readonly settings: ControllerSettings;
  readonly context: ControllerContext;
  readonly caches: Known & Pick<ManagedCaches, "publishedOf" | "credentialViews">;
  readonly workloads: WorkloadWatches;
}

/** With metrics of what the watches know; see `onceIdentified`. */
export function reconcileOnceKnown(
  { settings, context, kind, caches }: Assembly,
  assemble: (identity: ClusterIdentity) => Reconcile,
): Reconcile {
  const { namespace, metrics } = settings;
  metrics?.addProbe({ kind: kind.type.kind, credentials: caches.credentialViews });
  return onceIdentified({ ...context, namespace }, assemble);
}

/** The options of the managed reconcile but for those that lead outside. */
export function commonOptions(
  { name, kind, settings, context, caches, workloads }: Assembly,
  { clusterId, fingerprinter }: ClusterIdentity,
): Omit<ManagedControllerOptions, "resolve" | "resolveDeparture"> {
  const { kube, clock, logger } = context;
  const { metrics, instance, knowledge, audit } = settings;
  return {
    kind,
    kube,
    clock,
    logger,
    clusterId,
    publisher: new SecretPublisher(kube, fingerprinter, (uid) => caches.publishedOf(uid)),
    startedAt: clock.now(),
    isSkewed: settings.isSkewed,
    onCompared: settings.onCompared,
    lookBy: context.lookBy,
    driftCheckMs: settings.driftCheckMs,
    known: caches,
    consumers: knowledge && new ConsumersBehind({ kube, clock, fingerprinter, knowledge }),
    holds: workloads.holds,
    events: new EventRecorder({ kube, clock, logger, reporter: { controller: name, instance } }),
    observer: metrics?.observerOf(kind.type.kind),
    audit: audit && { trail: audit, controller: name },
    starts: new StartLimiter({ clock, perSecond: settings.overdueStartsPerSecond }),
  };
}
