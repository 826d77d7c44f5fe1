import type { Controller } from "../../../runtime/controller.ts";
import type { Reconcile } from "../../../runtime/workers.ts";
import type { ClusterIdentity } from "../../cluster-identity.ts";
import type { ControllerSettings } from "../../controller-settings.ts";
import { WorkloadWatches } from "../../managed/holds.ts";
import { type Assembly, commonOptions, reconcileOnceKnown } from "../../managed/managed-assembly.ts";
import { createManagedReconcile } from "../../managed/managed-controller.ts";
import { ParentSource } from "../parent-source.ts";
import { classWatch, GenericCaches, resourceWatch } from "./generic-caches.ts";
import { createGenericFamily, leavesOn, ROTATING_RESOURCE } from "./generic-family.ts";
import { createRotatingResourceKind } from "./rotating-resource-kind.ts";

/**
 * The controller of RotatingResources: the managed reconcile with children of any kind for keys. The operator has no right
 * to watch those, so they are looked at: with growing pauses while one is to come, and regularly when all are at rest.
 * Must not: know a rule of the protocol, or one of a class.
 */
export function createRotatingResourceController(settings: ControllerSettings): Controller {
  const kind = createRotatingResourceKind(settings);
  // Who is concerned by a change is found in the caches, which exist once the context does.
  let caches: GenericCaches | undefined;
  const resources = resourceWatch(kind);
  const classes = classWatch((name) => caches?.usersOf(name) ?? []);
  const workloads = new WorkloadWatches(settings.knowledge);
  return {
    name: ROTATING_RESOURCE,
    watches: [resources, classes, ...workloads.watches],
    createReconcile: (context) => {
      caches = new GenericCaches({ resources: context.cacheOf(resources), classes: context.cacheOf(classes) });
      workloads.use(context);
      const assembly: GenericAssembly = { name: ROTATING_RESOURCE, kind, settings, context, caches, workloads };
      return reconcileOnceKnown(assembly, (identity) => assemble(assembly, identity));
    },
  };
}

interface GenericAssembly extends Assembly {
  readonly caches: GenericCaches;
}

function assemble(assembly: GenericAssembly, identity: ClusterIdentity): Reconcile {
  const { kind, settings, context, caches } = assembly;
  const { kube, clock } = context;
  const { fingerprinter } = identity;
  const family = createGenericFamily({ kind, kube, clock, fingerprinter, classOf: (name) => caches.classOf(name) });
  const source = new ParentSource(family, { kube, fingerprinter });
  return createManagedReconcile({
    ...commonOptions(assembly, identity),
    driftCheckMs: settings.childCheckMs,
    isNear: true,
    leavesOn: (error, object) => leavesOn(error, object, clock.now()),
    resolve: (object, spec, signal) => source.resolve(object, spec, signal),
    resolveDeparture: (object, spec, signal) => source.resolveDeparture(object, spec, signal),
  });
}
