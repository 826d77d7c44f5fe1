import type { Logger } from "../../base/logger.ts";
import type { Delta, ResourceCache } from "../../kube/resource-cache.ts";
import { EventRecorder } from "../../report/event-recorder.ts";
import type { SourceKind } from "../../restart/model.ts";
import type { SourceMarks } from "../../restart/opt-in.ts";
import { podStatusType, workloadKinds } from "../../restart/workload-kinds.ts";
import type { Controller, ControllerContext, Source, Watch } from "../../runtime/controller.ts";
import type { Outcome, Reconcile } from "../../runtime/workers.ts";
import { type ClusterIdentity, FINGERPRINT_KEY_NAME, onceIdentified } from "../cluster-identity.ts";
import type { ControllerSettings } from "../controller-settings.ts";
import { BareReplicaSets } from "./bare-replica-sets.ts";
import { BareWorkloads } from "./bare-workloads.ts";
import { ClassReader } from "./class-reader.ts";
import { DepartureFinder } from "./departure-finder.ts";
import { Departures } from "./departures.ts";
import { LeftPods } from "./left-pods.ts";
import { OwnerWalk } from "./owner-walk.ts";
import { PodStatuses } from "./pod-statuses.ts";
import { RestartCaches } from "./restart-caches.ts";
import { RestartMemory } from "./restart-memory.ts";
import { RESTART } from "./restart-name.ts";
import { RestartReconciler } from "./restart-reconcile.ts";
import { RestartReporter } from "./restart-reporter.ts";
import {
  type BareRecord,
  createRestartSources,
  type NamespaceRecord,
  namespaceType,
  type PodStatusRecord,
  type RestartSources,
} from "./restart-sources.ts";
import { RestartWriter } from "./restart-writer.ts";
import { Slots } from "./slots.ts";
import { SourceReader, type SourceReaderOptions } from "./source-reader.ts";
import { SourceStates } from "./source-states.ts";
import { readWorkloadKey } from "./workload-key.ts";
import { isRolling, type WorkloadReader, type WorkloadRecord } from "./workload-record.ts";

/**
 * So many workloads of one namespace are written at a time. An API server on a few cores is busy with as many, and more
 * would only make everybody else wait: a change elsewhere, and whoever is not us.
 */
const LANE_WIDTH = 24;
/** While another namespace has something to be written too: what is in flight ahead of it is what it waits for. */
const LANE_WIDTH_BESIDE = 12;
/** Nobody is waited for but the API server: more at a time would have each of them take longer. */
const FULL_LANES = 2;

/** What the watches ask while they are at work; there once the caches are. */
interface Parts {
  readonly caches: RestartCaches;
  readonly slots: Slots;
  readonly memory: RestartMemory;
  readonly departures: Departures;
  /** There once the identity of the cluster is known: digests need its key. */
  podStatuses?: PodStatuses;
}

/**
 * Restarts workloads when what they use has changed. Its keys are `Kind/namespace/name`, and each namespace is a lane, so
 * that a change which concerns hundreds in one keeps nobody waiting in another. Must not: look at workloads that have not
 * opted in.
 */
export function createRestartController(settings: ControllerSettings): Controller {
  const sources = createRestartSources(settings.restart);
  settings.knowledge?.watches([...sources.workloads.values()]);
  let parts: Parts | undefined;
  const watches = createWatches(sources, `${settings.namespace}/${FINGERPRINT_KEY_NAME}`, () => parts);
  return {
    name: RESTART,
    watches: [
      ...watches.workloads.values(),
      watches.replicaSets,
      watches.pods,
      watches.secrets,
      watches.configMaps,
      watches.podStatuses,
      watches.namespaces,
    ],
    laneOf: (key) => readWorkloadKey(key).namespace,
    laneWidth: LANE_WIDTH,
    laneWidthBeside: LANE_WIDTH_BESIDE,
    fullLanes: FULL_LANES,
    createReconcile: (context) => {
      const { restart, restartMetrics } = settings;
      const caches = cachesOf(watches, sources.reader, context);
      const memory = new RestartMemory();
      const slots = new Slots({ clock: context.clock, caches, ...restart });
      parts = { caches, memory, slots, departures: new Departures() };
      settings.knowledge?.fill(caches);
      restartMetrics?.addProbe(
        {
          stopped: () => caches.stopped(),
          waiting: (reason) => memory.waiting(reason),
          rolloutsUnderWay: () => slots.underWay,
        },
        workloadKinds.map(({ type }) => type.kind),
      );
      const assembly = { settings, sources, context, parts };
      return onceIdentified({ ...context, namespace: settings.namespace }, (identity) => assemble(assembly, identity));
    },
  };
}

interface Watches {
  readonly workloads: ReadonlyMap<string, Watch<WorkloadRecord>>;
  readonly replicaSets: Watch<BareRecord>;
  readonly pods: Watch<BareRecord>;
  readonly secrets: Watch<SourceMarks>;
  readonly configMaps: Watch<SourceMarks>;
  readonly podStatuses: Watch<PodStatusRecord>;
  readonly namespaces: Watch<NamespaceRecord>;
}

function createWatches(sources: RestartSources, ownKey: string, parts: () => Parts | undefined): Watches {
  const own =
    (kind: string) =>
    ({ key }: Delta<unknown>): readonly string[] => [`${kind}/${key}`];
  return {
    workloads: new Map(
      Array.from(sources.workloads, ([kind, source]) => [kind, workloadWatch(kind, source, parts)] as const),
    ),
    replicaSets: { source: sources.replicaSets, keysOf: own("ReplicaSet") },
    pods: { source: sources.pods, keysOf: own("Pod") },
    secrets: guardedWatch(usedWatch("secret", sources.secrets, parts), ownKey),
    configMaps: usedWatch("configmap", sources.configMaps, parts),
    podStatuses: {
      source: sources.podStatuses,
      // Whether it is news cannot be told yet; whoever is given the key looks first.
      keysOf: (delta) => parts()?.podStatuses?.keysOf(delta) ?? [`${podStatusType.kind}/${delta.key}`],
    },
    // A cap that was lifted lets those begin that wait.
    namespaces: {
      source: sources.namespaces,
      keysOf: (delta) => [...mistakenIn(delta), ...(parts()?.slots.admitted() ?? [])],
    },
  };
}

/** A Namespace that says what cannot be understood: people are told. */
const mistakenIn = (delta: Delta<NamespaceRecord>): readonly string[] =>
  delta.type !== "deleted" && delta.entry.record.problems.length > 0 ? [`${namespaceType.kind}/${delta.key}`] : [];

const workloadWatch = (
  kind: string,
  source: Source<WorkloadRecord>,
  parts: () => Parts | undefined,
): Watch<WorkloadRecord> => ({
  source,
  keysOf: (delta) => {
    const key = `${kind}/${delta.key}`;
    const { departures, slots } = parts() ?? {};
    departures?.note(key, delta);
    // A rollout that is over makes room for those who wait.
    return [key, ...(isEndOfRollout(delta) ? (slots?.admitted() ?? []) : [])];
  },
  isWish: (delta) => delta.type !== "updated" || isOtherWish(delta.old.record, delta.entry.record),
});

/** By the status alone, and by what we write down ourselves, nobody asks for anything. */
const isOtherWish = (old: WorkloadRecord, now: WorkloadRecord): boolean =>
  old.optIn !== now.optIn ||
  old.pace !== now.pace ||
  old.uses !== now.uses ||
  old.stopped !== now.stopped ||
  old.again !== now.again;

const isEndOfRollout = (delta: Delta<WorkloadRecord>): boolean =>
  delta.type !== "added" && isRolling(delta.old.record) && (delta.type === "deleted" || !isRolling(delta.entry.record));

const usedWatch = (
  kind: SourceKind,
  source: Source<SourceMarks>,
  parts: () => Parts | undefined,
): Watch<SourceMarks> => ({
  source,
  keysOf: ({ key }) => {
    const slash = key.indexOf("/");
    return parts()?.caches.usersOf(key.slice(0, slash), `${kind}/${key.slice(slash + 1)}`) ?? [];
  },
});

/** Kind of the key under which the Secret with the key of the digests is written again. */
const LOST_KEY = "LostKey";

/** Without that Secret, the next start would have another key, under which nothing that is known can be compared. */
const guardedWatch = ({ source, keysOf }: Watch<SourceMarks>, ownKey: string): Watch<SourceMarks> => ({
  source,
  keysOf: (delta) => (delta.key === ownKey && delta.type === "deleted" ? [`${LOST_KEY}/${ownKey}`] : keysOf(delta)),
});

function tellOfNamespace(name: string, caches: RestartCaches, reporter: RestartReporter, signal: AbortSignal): Outcome {
  const entry = caches.namespace(name);
  if (entry) {
    const { uid, resourceVersion, record } = entry;
    const subject = { type: namespaceType, metadata: { name, uid, resourceVersion } };
    reporter.invalidAnnotation(subject, record.problems, signal);
  }
  return { kind: "settled", isOver: true };
}

async function restoreKey(
  { restoreKey: restore }: ClusterIdentity,
  logger: Logger,
  signal: AbortSignal,
): Promise<Outcome> {
  const isRestored = await restore(signal);
  if (isRestored) logger.warn("the Secret with the key of the digests was deleted, and is written again");
  return { kind: "settled", isOver: true };
}

function cachesOf(watches: Watches, reader: WorkloadReader, { cacheOf, isFresh }: ControllerContext): RestartCaches {
  const workloads = new Map<string, ResourceCache<WorkloadRecord>>();
  for (const [kind, watch] of watches.workloads) workloads.set(kind, cacheOf(watch));
  return new RestartCaches({
    workloads,
    replicaSets: cacheOf(watches.replicaSets),
    pods: cacheOf(watches.pods),
    secrets: cacheOf(watches.secrets),
    configMaps: cacheOf(watches.configMaps),
    podStatuses: cacheOf(watches.podStatuses),
    namespaces: cacheOf(watches.namespaces),
    reader,
    isFresh,
  });
}

interface Assembly {
  readonly settings: ControllerSettings;
  readonly sources: RestartSources;
  readonly context: ControllerContext;
  readonly parts: Parts;
}

function assemble({ settings, sources, context, parts }: Assembly, identity: ClusterIdentity): Reconcile {
  const { fingerprinter } = identity;
  const { kube, clock, logger, enqueue } = context;
  const { caches, slots, memory, departures } = parts;
  const { reader, counter } = sources;
  const { instance, restart, restartMetrics: metrics } = settings;
  const audit = settings.audit && { trail: settings.audit, controller: RESTART };
  const events = new EventRecorder({ kube, clock, logger, reporter: { controller: RESTART, instance } });
  const reporter = new RestartReporter({ events, metrics, audit, logger, clock });
  const writer = new RestartWriter(kube, caches);
  const owners = new OwnerWalk(kube);
  const bare = new BareWorkloads({ kube, caches, reader });
  const versionOf: SourceReaderOptions["versionOf"] = (namespace, source) =>
    caches.source(namespace, source)?.resourceVersion;
  const states = new SourceStates({
    caches,
    fingerprinter,
    sources: new SourceReader({ kube, clock, fingerprinter, reloader: restart.reloader, versionOf, counter }),
    classes: new ClassReader({ kube, clock, fingerprinter, owners }),
  });
  const onDone = (key: string): void => {
    slots.giveBack(key);
    for (const admitted of slots.admitted()) enqueue(admitted);
  };
  const replicaSets = new BareReplicaSets({ kube, clock, writer, replicasOf: (key) => bare.replicasOf(key), onDone });
  const reconciler = new RestartReconciler({
    kube,
    clock,
    caches,
    reader,
    states,
    bare,
    owners,
    replicaSets,
    leftPods: new LeftPods({ kube, owners, ...restart }),
    departures: new DepartureFinder({ kube, fingerprinter, departures }),
    writer,
    slots,
    memory,
    reporter,
  });
  const isNewsTo: SourceStates["isNewsTo"] = (record, status) => states.isNewsTo(record, status);
  const podStatuses = new PodStatuses({ kube, caches, owners, reader, reporter, enqueue, isNewsTo });
  parts.podStatuses = podStatuses;
  return async (key, signal) => {
    const { kind, namespace } = readWorkloadKey(key);
    if (kind === LOST_KEY) return restoreKey(identity, logger, signal);
    if (kind === namespaceType.kind) return tellOfNamespace(namespace, caches, reporter, signal);
    return kind === podStatusType.kind ? podStatuses.reconcile(key, signal) : reconciler.reconcile(key, signal);
  };
}
