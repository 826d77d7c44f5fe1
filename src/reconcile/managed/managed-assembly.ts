import { SecretPublisher } from "../../publish/secret-publisher.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { ControllerContext } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import { type ClusterIdentity, establishIdentity } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
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
}

/** What needs the cluster's identity is built when the first key comes: by then this process leads. */
export function reconcileOnceKnown(
  { settings, context, kind, caches }: Assembly,
  assemble: (identity: ClusterIdentity) => Reconcile,
): Reconcile {
  const { kube, random } = context;
  const { namespace, metrics } = settings;
  metrics?.addProbe({ kind: kind.type.kind, credentials: caches.credentialViews });
  let ready: Promise<Reconcile> | undefined;
  return async (key, signal) => {
    ready ??= establishIdentity({ kube, random, namespace, signal }).then(assemble);
    let reconcile: Reconcile;
    try {
      reconcile = await ready;
    } catch (error) {
      ready = undefined;
      throw error;
    }
    return reconcile(key, signal);
  };
}

/** The options of the managed reconcile but for those that lead outside. */
export function commonOptions(
  { name, kind, settings, context, caches }: Assembly,
  { clusterId, fingerprinter }: ClusterIdentity,
): Omit<ManagedControllerOptions, "resolve" | "resolveDeparture"> {
  const { kube, clock, logger } = context;
  const { metrics, instance } = settings;
  return {
    kind,
    kube,
    clock,
    logger,
    clusterId,
    publisher: new SecretPublisher(kube, fingerprinter, (uid) => caches.publishedOf(uid)),
    startedAt: clock.now(),
    isSkewed: settings.isSkewed,
    driftCheckMs: settings.driftCheckMs,
    known: caches,
    events: new EventRecorder({ kube, clock, logger, reporter: { controller: name, instance } }),
    observer: metrics?.observerOf(kind.type.kind),
    starts: new StartLimiter({ clock, perSecond: settings.overdueStartsPerSecond }),
  };
}
