import { observedHttp } from "../../providers/observed-http.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { ClusterIdentity } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { ConfigKeeper } from "./config-keeper.ts";
import { Copies } from "./copies.ts";
import type { ManagedFamily } from "./family.ts";
import { FamilyCaches } from "./family-caches.ts";
import { FamilySource } from "./family-source.ts";
import { configOf, configWatch, credentialsWatch, instanceWatch, managedWatch, secretsOf } from "./family-watches.ts";
import { WorkloadWatches } from "./holds.ts";
import { type Assembly, commonOptions, reconcileOnceKnown } from "./managed-assembly.ts";
import { createManagedReconcile } from "./managed-controller.ts";
import { publishedWatch } from "./managed-watches.ts";
import { sweep } from "./sweep.ts";

/**
 * The controller of a family: the managed reconcile on its external system, its watches, and the care for its
 * ProviderConfigs. Must not: know a rule of the protocol; those are the engine's and the managed reconcile's.
 */
export function createFamilyController(family: ManagedFamily, settings: ControllerSettings): Controller {
  // Watches find the resources that a change concerns in the caches, which exist once the context does.
  let caches: FamilyCaches | undefined;
  const resources = managedWatch(family);
  const published = publishedWatch(family.kind);
  const configs = configWatch(family, (name) => caches?.usersOf(name) ?? []);
  const credentials = credentialsWatch(family, (secret) => caches?.usersOfSecret(secret) ?? []);
  const instances = instanceWatch(family, (name) => caches?.usersOfInstance(name) ?? []);
  const workloads = new WorkloadWatches(settings.knowledge);
  return {
    name: family.name,
    watches: [resources, published, configs, credentials, instances, ...workloads.watches],
    // An external system that does not answer keeps those waiting that are at it, and nobody else.
    laneOf: (key) => configOf(key) ?? caches?.configOf(key) ?? "",
    createReconcile: (context) => {
      caches = new FamilyCaches({
        resources: context.cacheOf(resources),
        published: context.cacheOf(published),
        configs: context.cacheOf(configs),
        credentials: context.cacheOf(credentials),
        instances: context.cacheOf(instances),
      });
      workloads.use(context);
      const { name, kind } = family;
      const assembly: FamilyAssembly = { name, kind, family, settings, context, caches, workloads };
      return reconcileOnceKnown(assembly, (identity) => assemble(assembly, identity));
    },
  };
}

interface FamilyAssembly extends Assembly {
  readonly family: ManagedFamily;
  readonly caches: FamilyCaches;
}

function assemble(assembly: FamilyAssembly, identity: ClusterIdentity): Reconcile {
  const { family, settings, context, caches } = assembly;
  const { clusterId, fingerprinter } = identity;
  const { kube, clock, logger } = context;
  const { metrics } = settings;
  const { kind, configType } = family;
  const source = new FamilySource(family, {
    kube,
    clock,
    http: metrics ? observedHttp(settings.http, clock, metrics.httpObserverOf(family.provider)) : settings.http,
    fingerprinter,
    knownVersion: (name) => caches.versionOf(name),
  });
  const reconcileResource = createManagedReconcile({
    ...commonOptions(assembly, identity),
    copies: family.parent && new Copies(kube, family.parent),
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
