import type { Logger } from "../base/logger.ts";
import type { State } from "../engine/model.ts";
import { type KubeObject, keyOf } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { SendCommand } from "../providers/bind/ports.ts";
import type { HttpPort } from "../providers/http-port.ts";
import { SecretPublisher, secretType } from "../publish/secret-publisher.ts";
import { Copies } from "../reconcile/managed/copies.ts";
import type { ManagedFamily } from "../reconcile/managed/family.ts";
import { FamilySource, versionOf } from "../reconcile/managed/family-source.ts";
import { Holds } from "../reconcile/managed/holds.ts";
import { createManagedReconcile, type ManagedControllerOptions } from "../reconcile/managed/managed-controller.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import type { RotationObserver } from "../reconcile/managed/managed-reporter.ts";
import type { Known } from "../reconcile/managed/rest.ts";
import type { ParentFamily } from "../reconcile/parents/parent-family.ts";
import { ParentSource } from "../reconcile/parents/parent-source.ts";
import { ConsumersBehind } from "../reconcile/restart/consumers-behind.ts";
import type { RestartView } from "../reconcile/restart/restart-knowledge.ts";
import { EventRecorder } from "../report/event-recorder.ts";
import { deploymentType } from "../restart/workload-kinds.ts";
import type { Reconcile } from "../runtime/workers.ts";
import { knowledgeOf } from "./consumers/watched-workloads.ts";
import type { Family, KeyHolders, Outside, Parents } from "./families/family.ts";
import { FINGERPRINTER } from "./fingerprinter.ts";
import type { Process } from "./process.ts";
import { CLUSTER_ID, DRIFT_CHECK_MS } from "./scene.ts";
import type { WatchView } from "./watch-view.ts";

/** Guards that a mutant switches off: wrappers around what production code is built on. */
export interface Tampering {
  readonly kube?: (kube: Kube, process: Process) => Kube;
  readonly http?: (http: HttpPort) => HttpPort;
  /** Of every controller: whose options they are, their kind tells. */
  readonly options?: (options: ManagedControllerOptions, process: Process) => ManagedControllerOptions;
  /** What the controller of parents alone is built on. */
  readonly parents?: {
    readonly family?: (family: ParentFamily) => ParentFamily;
    readonly kube?: (kube: Kube, process: Process) => Kube;
    readonly watch?: (watch: WatchView) => WatchView;
    readonly options?: (options: ManagedControllerOptions) => ManagedControllerOptions;
  };
  /** What the controller of restarts alone is built on. */
  readonly restarts?: {
    /** Workloads and sources, as its watches tell of them. */
    readonly seen?: (object: KubeObject, process: Process) => KubeObject;
  };
  /** What the controllers of service credentials alone are built on. */
  readonly apps?: {
    /** Objects, as watches and live reads tell of them. */
    readonly seen?: (object: KubeObject) => KubeObject;
  };
  /** What the controller of RndcKeys alone is built on. */
  readonly rings?: {
    readonly send?: (send: SendCommand, process: Process) => SendCommand;
  };
  /** What is known of workloads that use Secrets. */
  readonly view?: (view: RestartView) => RestartView;
  /** Not at all, or without looking at who is alive. */
  readonly sweeps?: false | "blindly";
}

/** What the controllers of a world's processes are about. */
export interface Stage {
  readonly family: Family;
  readonly outside: Outside;
}

/**
 * All controllers of one process, put together as production does it, on what the process has; beside them, those of
 * children that are not ours, which nobody tampers with. Keys are those of the world: a kind and a place.
 */
export function assemble({ family, outside }: Stage, process: Process, tampering: Tampering): Reconcile {
  const parts: Parts = {
    process,
    kube: tampering.kube?.(process.kube, process) ?? process.kube,
    http: tampering.http?.(process.http) ?? process.http,
    tampering,
  };
  const { holders, parents } = family;
  const others = outside.play?.(process.kube, process.clock);
  const reconciles = new Map<string, Reconcile>([
    ...(parents ? [[parents.kind.type.kind, assembleParent(parents, parts)] as const] : []),
    ...(parents && others ? [[parents.children.type.kind, others] as const] : []),
    ...(holders ? [assembleFamily(holders, parts)] : []),
  ]);
  return async (key, signal) => {
    const [kind = "", place = ""] = key.split(" ");
    const reconcile = reconciles.get(kind);
    if (!reconcile) throw new RangeError(`nobody reconciles ${key}`);
    return reconcile(place, signal);
  };
}

interface Parts {
  readonly process: Process;
  readonly kube: Kube;
  readonly http: HttpPort;
  readonly tampering: Tampering;
}

function assembleFamily(holders: KeyHolders, parts: Parts): readonly [string, Reconcile] {
  const { process, kube, http, tampering } = parts;
  const { clock, watch } = process;
  const managed = holders.create();
  const knownVersion = (config: string): string | undefined => versionIn(watch, holders, managed, config);
  const source = new FamilySource(managed, { kube, clock, http, fingerprinter: FINGERPRINTER, knownVersion });
  const { kind, name } = managed;
  const options: ManagedControllerOptions = {
    ...commonOptions(
      { kind, name },
      parts,
      watch.knownOf(kind.type, () => knownVersion("default") ?? ""),
    ),
    copies: managed.parent && new Copies(kube, managed.parent),
    resolve: (object, spec, abort) => source.resolve(object, spec, abort),
    resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
  };
  return [kind.type.kind, createManagedReconcile(tampering.options?.(options, process) ?? options)];
}

/** Of a ProviderConfig and its credentials, as the watches know them. */
function versionIn(
  watch: WatchView,
  { credentials }: KeyHolders,
  { configType }: ManagedFamily,
  name: string,
): string | undefined {
  const config = watch.find(configType, name)?.metadata.resourceVersion;
  const secret = watch.find(secretType, keyOf(credentials))?.metadata.resourceVersion;
  return config === undefined || secret === undefined ? undefined : versionOf(config, [secret]);
}

function assembleParent(parents: Parents, common: Parts): Reconcile {
  const { process, tampering } = common;
  const { clock } = process;
  const mutated = tampering.parents ?? {};
  const watch = mutated.watch?.(process.watch) ?? process.watch;
  const kube = mutated.kube?.(common.kube, process) ?? common.kube;
  const { family: plain, known, secretVersion, options: own } = parents.open({ kube, clock, watch });
  const family = mutated.family?.(plain) ?? plain;
  const source = new ParentSource(family, {
    kube,
    fingerprinter: FINGERPRINTER,
    ...(secretVersion && { secretVersion }),
  });
  const options: ManagedControllerOptions = {
    ...commonOptions(family, { ...common, kube }, known),
    ...own,
    isNear: true,
    resolve: (object, spec, abort) => source.resolve(object, spec, abort),
    resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
  };
  const tampered = tampering.options?.(options, process) ?? options;
  return createManagedReconcile(mutated.options?.(tampered) ?? tampered);
}

function commonOptions(
  { kind, name }: { readonly kind: ManagedKind; readonly name: string },
  { process, kube, tampering }: Parts,
  known: Known,
): Omit<ManagedControllerOptions, "resolve" | "resolveDeparture"> {
  const { clock, logger, watch } = process;
  const reporter = { controller: name, instance: process.name };
  return {
    kind: readingOnce(kind),
    kube,
    clock,
    logger,
    publisher: new SecretPublisher(kube, FINGERPRINTER, (uid) => watch.publishedOf(uid)),
    clusterId: CLUSTER_ID,
    startedAt: clock.now(),
    isSkewed: () => process.isSkewed,
    lookBy: process.lookBy,
    driftCheckMs: DRIFT_CHECK_MS,
    known,
    consumers: new ConsumersBehind({
      kube,
      clock,
      fingerprinter: FINGERPRINTER,
      knowledge: knowledgeOf(watch, tampering.view),
    }),
    holds: new Holds((workload) => {
      const [, key = ""] = workload.split(" ");
      return watch.find(deploymentType, key)?.metadata.resourceVersion;
    }),
    events: new EventRecorder({ kube, clock, logger, reporter }),
    observer: sayingAloud(logger),
  };
}

/** What metrics are told is heard, as everything is that is logged. */
function sayingAloud(logger: Logger): RotationObserver {
  const tell = (...told: readonly unknown[]): void => logger.debug("counted", { told });
  return { activated: tell, deleted: tell, secretRestored: tell, failed: tell };
}

const states = new WeakMap<KubeObject, State>();

/** Objects never change once they are read, so what one says is worked out once. */
export function readingOnce(kind: ManagedKind): ManagedKind {
  const readState = (object: KubeObject): State => {
    const known = states.get(object) ?? kind.readState(object);
    states.set(object, known);
    return known;
  };
  return { ...kind, readState };
}
