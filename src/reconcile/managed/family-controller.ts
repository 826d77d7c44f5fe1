import { observedHttp } from "../../providers/observed-http.ts";
import { SecretPublisher } from "../../publish/secret-publisher.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { Controller, ControllerContext } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import { type ClusterIdentity, establishIdentity } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { ConfigKeeper } from "./config-keeper.ts";
import type { ManagedFamily } from "./family.ts";
import { FamilyCaches } from "./family-caches.ts";
import { FamilySource } from "./family-source.ts";
import {
  configOf,
  configWatch,
  credentialsWatch,
  instanceWatch,
  managedWatch,
  publishedWatch,
  secretsOf,
} from "./family-watches.ts";
import { createManagedReconcile } from "./managed-controller.ts";
import { StartLimiter } from "./start-limiter.ts";
import { sweep } from "./sweep.ts";

/**
 * The controller of a family: the managed reconcile on its external system, its watches, and the care for its
 * ProviderConfigs. Must not: know a rule of the protocol; those are the engine's and the managed reconcile's.
 */
export function createFamilyController(family: ManagedFamily, settings: ControllerSettings): Controller {
  // Watches find the resources that a change concerns in the caches, which exist once the context does.
  let caches: FamilyCaches | undefined;
  const resources = managedWatch(family);
  const published = publishedWatch(family);
  const configs = configWatch(family, (name) => caches?.usersOf(name) ?? []);
  const credentials = credentialsWatch(family, (secret) => caches?.usersOfSecret(secret) ?? []);
  const instances = instanceWatch(family, (name) => caches?.usersOfInstance(name) ?? []);
  return {
    name: family.name,
    watches: [resources, published, configs, credentials, instances],
    createReconcile: (context) => {
      caches = new FamilyCaches({
        resources: context.cacheOf(resources),
        published: context.cacheOf(published),
        configs: context.cacheOf(configs),
        credentials: context.cacheOf(credentials),
        instances: context.cacheOf(instances),
      });
      settings.metrics?.addProbe({ kind: family.kind.type.kind, credentials: caches.credentialViews });
      return createReconcile({ family, settings, context, caches });
    },
  };
}

interface Assembly {
  readonly family: ManagedFamily;
  readonly settings: ControllerSettings;
  readonly context: ControllerContext;
  readonly caches: FamilyCaches;
}

/** What needs the cluster's identity is built when the first key comes: by then this process leads. */
function createReconcile(assembly: Assembly): Reconcile {
  const { kube, random } = assembly.context;
  const { namespace } = assembly.settings;
  let ready: Promise<Reconcile> | undefined;
  return async (key, signal) => {
    ready ??= establishIdentity({ kube, random, namespace, signal }).then((identity) => assemble(assembly, identity));
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

function assemble(
  { family, settings, context, caches }: Assembly,
  { clusterId, fingerprinter }: ClusterIdentity,
): Reconcile {
  const { kube, clock, logger } = context;
  const { metrics, instance } = settings;
  const { kind, configType } = family;
  const source = new FamilySource(family, {
    kube,
    clock,
    http: metrics ? observedHttp(settings.http, clock, metrics.httpObserverOf(family.provider)) : settings.http,
    fingerprinter,
    knownVersion: (name) => caches.versionOf(name),
  });
  const reconcileResource = createManagedReconcile({
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
    events: new EventRecorder({ kube, clock, logger, reporter: { controller: family.name, instance } }),
    observer: metrics?.observerOf(kind.type.kind),
    starts: new StartLimiter({ clock, perSecond: settings.overdueStartsPerSecond }),
    resolve: (object, spec, signal) => source.resolve(object, spec, signal),
    resolveDeparture: (object, spec, signal) => source.resolveDeparture(object, spec, signal),
  });
  const keeper = new ConfigKeeper({
    kind,
    configType,
    secretsOf: (config) => secretsOf(family, config),
    kube,
    clock,
    logger,
    index: caches,
    sweepMs: settings.sweepMs,
    sweep: async ({ metadata }, signal) => {
      const connection = await source.visit(metadata.name, signal);
      return sweep({ kind, kube, connection, clusterId, signal });
    },
  });
  return (key, signal) => {
    const config = configOf(key);
    return config === undefined ? reconcileResource(key, signal) : keeper.reconcile(config, signal);
  };
}
