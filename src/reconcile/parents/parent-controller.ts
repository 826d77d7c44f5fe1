import type { Controller } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { ClusterIdentity } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { WorkloadWatches } from "../managed/holds.ts";
import { type Assembly, commonOptions, reconcileOnceKnown } from "../managed/managed-assembly.ts";
import { createManagedReconcile } from "../managed/managed-controller.ts";
import { publishedWatch } from "../managed/managed-watches.ts";
import { ParentCaches } from "./parent-caches.ts";
import type { ParentFamily, WatchedChildren } from "./parent-family.ts";
import { ParentSource } from "./parent-source.ts";
import { childWatch, parentWatch } from "./parent-watches.ts";

/** A family whose children can be watched. */
export type WatchedFamily = ParentFamily & { readonly children: WatchedChildren };

/**
 * The controller of a kind of parents: the managed reconcile with children for keys, and the watches that tell when one of
 * them, or its Secret, has changed. Nothing is swept: children name their parent as their owner. Must not: know a rule of
 * the protocol, or an external system.
 */
export function createParentController(family: WatchedFamily, settings: ControllerSettings): Controller {
  const { name, kind } = family;
  // A Secret leads to its child's parent by the caches, which exist once the context does.
  let caches: ParentCaches | undefined;
  const resources = parentWatch(kind);
  const children = childWatch(kind, family.children);
  const published = publishedWatch(kind, (secret) => caches?.usersOfSecret(secret) ?? []);
  const workloads = new WorkloadWatches(settings.knowledge);
  return {
    name,
    watches: [resources, children, published, ...workloads.watches],
    createReconcile: (context) => {
      caches = new ParentCaches({
        resources: context.cacheOf(resources),
        children: context.cacheOf(children),
        published: context.cacheOf(published),
      });
      workloads.use(context);
      const assembly: ParentAssembly = { name, kind, settings, context, caches, workloads };
      return reconcileOnceKnown(assembly, (identity) => assemble(family, assembly, identity));
    },
  };
}

interface ParentAssembly extends Assembly {
  readonly caches: ParentCaches;
}

function assemble(family: ParentFamily, assembly: ParentAssembly, identity: ClusterIdentity): Reconcile {
  const { context, caches } = assembly;
  const source = new ParentSource(family, {
    kube: context.kube,
    fingerprinter: identity.fingerprinter,
    secretVersion: (child) => caches.secretVersion(child),
  });
  return createManagedReconcile({
    ...commonOptions(assembly, identity),
    isNear: true,
    hearsOutside: true,
    resolve: (object, spec, signal) => source.resolve(object, spec, signal),
    resolveDeparture: (object, spec, signal) => source.resolveDeparture(object, spec, signal),
  });
}
