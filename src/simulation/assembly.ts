import { Redacted } from "../base/redacted.ts";
import type { State } from "../engine/model.ts";
import { type KubeObject, keyOf } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { HttpPort } from "../providers/http-port.ts";
import { Fingerprinter } from "../publish/fingerprint.ts";
import { SecretPublisher, secretType } from "../publish/secret-publisher.ts";
import type { ManagedFamily } from "../reconcile/managed/family.ts";
import { FamilySource, versionOf } from "../reconcile/managed/family-source.ts";
import { createManagedReconcile, type ManagedControllerOptions } from "../reconcile/managed/managed-controller.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import type { Known } from "../reconcile/managed/rest.ts";
import type { WatchedFamily } from "../reconcile/parents/parent-controller.ts";
import { ParentSource } from "../reconcile/parents/parent-source.ts";
import { childWatch } from "../reconcile/parents/parent-watches.ts";
import { EventRecorder } from "../report/event-recorder.ts";
import type { Reconcile } from "../runtime/workers.ts";
import type { Family } from "./families/family.ts";
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
    readonly family?: (family: WatchedFamily) => WatchedFamily;
    readonly kube?: (kube: Kube, process: Process) => Kube;
    readonly options?: (options: ManagedControllerOptions) => ManagedControllerOptions;
  };
  /** Not at all, or without looking at who is alive. */
  readonly sweeps?: false | "blindly";
}

export const FINGERPRINTER = new Fingerprinter(new Redacted(new Uint8Array(32).fill(7)));

/**
 * All controllers of one process, put together as production does it, on what the process has. Keys are those of the
 * world: a kind and a name.
 */
export function assemble(family: Family, process: Process, tampering: Tampering): Reconcile {
  const parts: Parts = {
    process,
    kube: tampering.kube?.(process.kube, process) ?? process.kube,
    http: tampering.http?.(process.http) ?? process.http,
    tampering,
  };
  const parent = family.createParent?.();
  const reconciles = new Map<string, Reconcile>([
    ...(parent ? [[parent.kind.type.kind, assembleParent(parent, parts)] as const] : []),
    ...[assembleFamily(family, parts)],
  ]);
  return async (key, signal) => {
    const [kind = "", name = ""] = key.split(" ");
    const reconcile = reconciles.get(kind);
    if (!reconcile) throw new RangeError(`nobody reconciles ${key}`);
    return reconcile(name, signal);
  };
}

interface Parts {
  readonly process: Process;
  readonly kube: Kube;
  readonly http: HttpPort;
  readonly tampering: Tampering;
}

function assembleFamily(family: Family, parts: Parts): readonly [string, Reconcile] {
  const { process, kube, http, tampering } = parts;
  const { clock, watch } = process;
  const managed = family.createManaged();
  const knownVersion = (config: string): string | undefined => versionIn(watch, family, managed, config);
  const source = new FamilySource(managed, { kube, clock, http, fingerprinter: FINGERPRINTER, knownVersion });
  const { kind, name } = managed;
  const options: ManagedControllerOptions = {
    ...commonOptions(
      { kind, name },
      parts,
      watch.knownOf(kind.type, () => knownVersion("default") ?? ""),
    ),
    resolve: (object, spec, abort) => source.resolve(object, spec, abort),
    resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
  };
  return [kind.type.kind, createManagedReconcile(tampering.options?.(options, process) ?? options)];
}

/** Of a ProviderConfig and its credentials, as the watches know them. */
function versionIn(
  watch: WatchView,
  { credentials }: Family,
  { configType }: ManagedFamily,
  name: string,
): string | undefined {
  const config = watch.find(configType, name)?.metadata.resourceVersion;
  const secret = watch.find(secretType, keyOf(credentials))?.metadata.resourceVersion;
  return config === undefined || secret === undefined ? undefined : versionOf(config, [secret]);
}

function assembleParent(plain: WatchedFamily, common: Parts): Reconcile {
  const { process, tampering } = common;
  const { watch } = process;
  const { parents = {} } = tampering;
  const family = parents.family?.(plain) ?? plain;
  const kube = parents.kube?.(common.kube, process) ?? common.kube;
  const parts = { ...common, kube };
  const { kind, children } = family;
  const { record } = childWatch(kind, children).source;
  const secretVersion = (child: KubeObject): string | undefined => {
    const address = children.secretOf(child);
    return address && watch.publishedVersion(address);
  };
  const inputs = (key: string): string =>
    watch
      .list(children.type)
      .filter((child) => record(child).parents.includes(key))
      .map((child) => `${child.metadata.uid} ${child.metadata.resourceVersion} ${secretVersion(child) ?? ""}`)
      .sort()
      .join();
  const source = new ParentSource(family, {
    kube,
    fingerprinter: FINGERPRINTER,
    secretVersion: (ref) => {
      const child = watch.find(children.type, keyOf(ref));
      return child && secretVersion(child);
    },
  });
  const options: ManagedControllerOptions = {
    ...commonOptions(family, parts, watch.knownOf(kind.type, inputs)),
    isNear: true,
    hearsOutside: true,
    resolve: (object, spec, abort) => source.resolve(object, spec, abort),
    resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
  };
  const tampered = tampering.options?.(options, process) ?? options;
  return createManagedReconcile(parents.options?.(tampered) ?? tampered);
}

function commonOptions(
  { kind, name }: { readonly kind: ManagedKind; readonly name: string },
  { process, kube }: Parts,
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
    driftCheckMs: DRIFT_CHECK_MS,
    known,
    events: new EventRecorder({ kube, clock, logger, reporter }),
  };
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
