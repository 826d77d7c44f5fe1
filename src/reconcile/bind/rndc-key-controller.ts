import type { SendCommand } from "../../providers/bind/ports.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import { RESTART_STUCK } from "../../report/rndc-key-metrics.ts";
import type { Controller, ControllerContext } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { ClusterIdentity } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { WorkloadWatches } from "../managed/holds.ts";
import { type Assembly, commonOptions, reconcileOnceKnown } from "../managed/managed-assembly.ts";
import { createManagedReconcile } from "../managed/managed-controller.ts";
import { publishedWatch } from "../managed/managed-watches.ts";
import { SpecProblem } from "../managed/spec-problem.ts";
import { OwnerWalk } from "../restart/owner-walk.ts";
import { PodLister } from "../restart/pod-lister.ts";
import { WorkloadReader } from "../restart/workload-record.ts";
import { ForeignKeys } from "./foreign-keys.ts";
import type { KeyUsersParts } from "./key-users.ts";
import { RestartMarks } from "./restart-marks.ts";
import { ROLLOUT_PATIENCE_MS } from "./restart-progress.ts";
import { createRndcKeyKind } from "./rndc-key-kind.ts";
import { rndcKeyObserver, rndcKeyViews } from "./rndc-key-observer.ts";
import { RndcKeySource } from "./rndc-key-source.ts";
import { readRndcKeySpec } from "./rndc-key-spec.ts";
import { RndcKeyTroubles } from "./rndc-key-troubles.ts";
import { RndcKeyCaches, ringWatch, rndcKeyWatch, serverWatch } from "./rndc-key-watches.ts";
import { StuckRestarts } from "./stuck-restarts.ts";

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
      const troubles = new RndcKeyTroubles(context.clock);
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

/** Those that bear a mark for the Secret, as far as the watches know; nobody honours one while restarts are off. */
const markedFor = ({ knowledge }: ControllerSettings, { namespace, name }: SecretAddress): readonly string[] =>
  knowledge?.view?.markedFor(namespace, name) ?? [];

function usersParts(what: {
  readonly settings: ControllerSettings;
  readonly context: ControllerContext;
  readonly identity: ClusterIdentity;
  readonly marks: RestartMarks;
}): KeyUsersParts {
  const { settings, context, identity, marks } = what;
  const { restart, knowledge, rndcKeyMetrics, rolloutPatienceMs = ROLLOUT_PATIENCE_MS } = settings;
  const { kube, clock } = context;
  const stuck = new StuckRestarts(({ namespace, name }) => rndcKeyMetrics?.failed(namespace, name, RESTART_STUCK));
  return {
    kube,
    clock,
    fingerprinter: identity.fingerprinter,
    reader: new WorkloadReader(restart),
    reading: restart,
    pods: new PodLister(kube),
    owners: new OwnerWalk(kube),
    marks,
    isOn: knowledge !== undefined,
    patienceMs: rolloutPatienceMs,
    onStuck: (...told) => stuck.note(...told),
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
  const marks = new RestartMarks(kube);
  const users = usersParts({ settings, context, identity, marks });
  const common = commonOptions(assembly, identity);
  const foreign = new ForeignKeys(common);
  const { send } = ports;
  const source = new RndcKeySource({ kind, kube, clock, random, ...identity, troubles, users, foreign, send });
  const { rndcKeyMetrics: metrics } = settings;
  const { observer: general } = common;
  const reconcile = createManagedReconcile({
    ...common,
    observer: metrics ? rndcKeyObserver({ metrics, general, secretOf: caches.secretOf }) : general,
    isNear: true,
    // The ring goes with its RndcKey.
    leavesOn: (error) => error instanceof SpecProblem,
    resolve: async (object, _spec, signal) => {
      const { strategy, published } = readRndcKeySpec(object);
      const former = strategy === "Restart" ? [] : markedFor(settings, published);
      await marks.releaseFrom(former, published, signal);
      return source.resolve(object, signal);
    },
    resolveDeparture: async (object, _spec, signal) => {
      const { strategy, published } = readRndcKeySpec(object);
      if (strategy === "Restart") await marks.release(published, signal);
      return source.resolveDeparture(object);
    },
  });
  return troubles.watched(reconcile);
}
