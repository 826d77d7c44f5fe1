import type { SendCommand } from "../../providers/bind/ports.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { ClusterIdentity } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { WorkloadWatches } from "../managed/holds.ts";
import { type Assembly, commonOptions, reconcileOnceKnown } from "../managed/managed-assembly.ts";
import { createManagedReconcile } from "../managed/managed-controller.ts";
import { publishedWatch } from "../managed/managed-watches.ts";
import { SpecProblem } from "../managed/spec-problem.ts";
import { createRndcKeyKind } from "./rndc-key-kind.ts";
import { rndcKeyObserver, rndcKeyViews } from "./rndc-key-observer.ts";
import { RndcKeySource } from "./rndc-key-source.ts";
import { RndcKeyTroubles } from "./rndc-key-troubles.ts";
import { RndcKeyCaches, ringWatch, rndcKeyWatch, serverWatch } from "./rndc-key-watches.ts";

export const RNDC_KEYS = "bind9-keys";

/** The way to named, where it is another than the control protocol over TCP. */
export interface RndcKeyPorts {
  readonly send?: SendCommand;
}

/**
 * The controller of RndcKeys: the managed reconcile with the rings of named servers for outside. Servers do not tell when
 * they have come to know a key, so they are asked: with growing pauses while one is to come or to go, and whenever a pod
 * of theirs has changed. Must not: know a rule of the protocol.
 */
export function createRndcKeyController(settings: ControllerSettings, ports: RndcKeyPorts = {}): Controller {
  const kind = createRndcKeyKind(settings);
  const troubles = new RndcKeyTroubles();
  // Who is concerned by a change is found in the caches, which exist once the context does.
  let caches: RndcKeyCaches | undefined;
  const resources = rndcKeyWatch(kind);
  const published = publishedWatch(kind);
  const rings = ringWatch(kind, resources.source);
  const servers = serverWatch(resources.source, (instance) => caches?.usersOf(instance) ?? []);
  const workloads = new WorkloadWatches(settings.knowledge);
  return {
    name: RNDC_KEYS,
    watches: [resources, published, rings, servers, ...workloads.watches],
    // Servers that do not answer keep nobody waiting but the key that they are to accept.
    laneOf: (key) => key,
    createReconcile: (context) => {
      caches = new RndcKeyCaches({
        resources: context.cacheOf(resources),
        published: context.cacheOf(published),
        rings: context.cacheOf(rings),
        servers: context.cacheOf(servers),
        troubles,
      });
      workloads.use(context);
      const assembly: RndcKeyAssembly = { name: RNDC_KEYS, kind, settings, context, caches, workloads };
      const { credentialViews, secretOf } = caches;
      settings.rndcKeyMetrics?.addProbe(() => rndcKeyViews(credentialViews(), secretOf));
      return reconcileOnceKnown(assembly, (identity) => assemble({ assembly, identity, troubles, ports }));
    },
  };
}

interface RndcKeyAssembly extends Assembly {
  readonly caches: RndcKeyCaches;
}

function assemble(parts: {
  readonly assembly: RndcKeyAssembly;
  readonly identity: ClusterIdentity;
  readonly troubles: RndcKeyTroubles;
  readonly ports: RndcKeyPorts;
}): Reconcile {
  const { assembly, identity, troubles, ports } = parts;
  const { kind, settings, context, caches } = assembly;
  const { kube, clock, random } = context;
  const source = new RndcKeySource({ kind, kube, clock, random, ...identity, troubles, send: ports.send });
  const common = commonOptions(assembly, identity);
  const { rndcKeyMetrics: metrics } = settings;
  const { observer: general } = common;
  const reconcile = createManagedReconcile({
    ...common,
    observer: metrics ? rndcKeyObserver({ metrics, general, secretOf: caches.secretOf }) : general,
    isNear: true,
    // The ring goes with its RndcKey.
    leavesOn: (error) => error instanceof SpecProblem,
    resolve: (object, _spec, signal) => source.resolve(object, signal),
    resolveDeparture: async (object) => source.resolveDeparture(object),
  });
  return async (key, signal) => {
    const outcome = await reconcile(key, signal);
    if (outcome.kind === "settled" && outcome.isOver) troubles.over(key);
    return troubles.sooner(key, outcome, clock.now());
  };
}
