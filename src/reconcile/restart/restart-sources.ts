import type { KubeObject, ObjectMeta, OwnerReference, ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import { type SourceMarks, sourceMarksOf } from "../../restart/opt-in.ts";
import { readRolloutCap } from "../../restart/pace.ts";
import {
  configMapType,
  daemonSetType,
  isOfKind,
  podStatusType,
  podType,
  replicaSetType,
  statefulSetType,
  type WorkloadKind,
  workloadKinds,
} from "../../restart/workload-kinds.ts";
import type { Source } from "../../runtime/controller.ts";
import { fieldsOf, itemsOf, textOf } from "../managed/read-fields.ts";
import { Interned } from "./interned.ts";
import type { RestartSettings } from "./restart-settings.ts";
import { ReadCounter } from "./shared-reads.ts";
import { isRolling, sourcesOf, WorkloadReader, type WorkloadRecord } from "./workload-record.ts";

/** A ReplicaSet that no Deployment made, or a pod that stands alone: its metadata, as far as anything is read from it. */
export interface BareRecord {
  readonly metadata: ObjectMeta;
}

/** What is mounted in a pod, as the driver says. */
export interface PodStatusRecord {
  readonly namespace: string;
  readonly className: string;
  readonly podName: string;
  readonly podUid: string | undefined;
  readonly objects: readonly MountedObject[];
}

interface MountedObject {
  readonly id: string;
  readonly version: string;
}

export interface RestartSources {
  readonly reader: WorkloadReader;
  /** By which the reader notes when a workload was seen. */
  readonly counter: ReadCounter;
  /** A source for each kind that is watched whole, by the name of the kind. */
  readonly workloads: ReadonlyMap<string, Source<WorkloadRecord>>;
  readonly replicaSets: Source<BareRecord>;
  readonly pods: Source<BareRecord>;
  readonly secrets: Source<SourceMarks>;
  readonly configMaps: Source<SourceMarks>;
  readonly podStatuses: Source<PodStatusRecord>;
  /** The caps of those Namespaces that have one of their own. */
  readonly namespaces: Source<NamespaceRecord>;
}

export const namespaceType: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};

/** What a Namespace says of the restarts in it. */
export interface NamespaceRecord {
  /** Undefined: it cannot be read, and what holds elsewhere holds here. */
  readonly cap: number | undefined;
  readonly problems: readonly string[];
}

/** Under this value of an index stands everything that is in it. */
export const EVERYWHERE = "*";

/**
 * What the restart controller looks at, and the little that it keeps of it: of a workload that has not opted in, nothing.
 * Made once for an operator, so that whoever else looks at workloads shares these watches.
 */
export function createRestartSources(settings: RestartSettings): RestartSources {
  const counter = new ReadCounter();
  const reader = new WorkloadReader(settings, counter);
  const wholeKinds = workloadKinds.filter(({ type }) => type !== replicaSetType);
  return {
    reader,
    counter,
    workloads: new Map(wholeKinds.map((kind) => [kind.type.kind, workloadSource(kind, reader)])),
    replicaSets: {
      type: replicaSetType,
      metadataOnly: true,
      record: ({ metadata }) => (controllerOf(metadata) ? undefined : { metadata: reader.slim(metadata) }),
    },
    pods: {
      type: podType,
      metadataOnly: true,
      record: (pod) => (isOfInterest(pod, reader) ? { metadata: reader.slim(pod.metadata) } : undefined),
    },
    // What Helm keeps is large, changes often, and is used by no pod.
    secrets: { ...markedSource(secretType, settings), selection: { fieldSelector: "type!=helm.sh/release.v1" } },
    configMaps: markedSource(configMapType, settings),
    podStatuses: podStatusSource(),
    namespaces: {
      type: namespaceType,
      metadataOnly: true,
      record: ({ metadata }) => {
        const { cap, problems } = readRolloutCap(annotationsOf(metadata.annotations), NO_CAP_OF_ITS_OWN);
        if (cap !== NO_CAP_OF_ITS_OWN) return { cap, problems };
        return problems.length === 0 ? undefined : { cap: undefined, problems };
      },
    },
  };
}

const NO_CAP_OF_ITS_OWN = -1;

const workloadSource = (kind: WorkloadKind, reader: WorkloadReader): Source<WorkloadRecord> => ({
  type: kind.type,
  record: (object) => reader.workload(kind, object),
  indexes: {
    source: (record) => sourcesOf(record).map((source) => `${record.namespace}/${source}`),
    rolling: (record) => (isRolling(record) ? [EVERYWHERE] : []),
    stopped: ({ stopped }) => (stopped === undefined ? [] : [EVERYWHERE]),
  },
});

/** Of Secrets and ConfigMaps alone: that they are there, in which version, and what they say of themselves. */
function markedSource(type: ResourceType, { reloader }: RestartSettings): Source<SourceMarks> {
  const interned = new Interned<SourceMarks>();
  return {
    type,
    metadataOnly: true,
    record: ({ metadata }) => {
      const marks = sourceMarksOf(annotationsOf(metadata.annotations), { reloader });
      return interned.of(JSON.stringify(marks), () => marks);
    },
  };
}

function podStatusSource(): Source<PodStatusRecord> {
  const interned = new Interned<readonly MountedObject[]>();
  return {
    type: podStatusType,
    record: (object) => {
      const { status, metadata } = object;
      const { secretProviderClassName, podName, objects } = fieldsOf(status);
      const className = textOf(secretProviderClassName);
      if (className === undefined) return undefined;
      const mounted = itemsOf(objects).map(({ id, version }) => ({ id: String(id), version: String(version) }));
      const { namespace = "" } = metadata;
      return {
        namespace,
        className,
        podName: textOf(podName) ?? "",
        podUid: metadata.ownerReferences?.find(({ kind }) => kind === "Pod")?.uid,
        objects: interned.of(JSON.stringify(mounted), () => mounted),
      };
    },
    indexes: { class: ({ namespace, className }) => [`${namespace}/${className}`] },
  };
}

/** A pod that has opted in and that no workload of the kinds above answers for, as far as the pod itself tells. */
const isOfInterest = (pod: KubeObject, reader: WorkloadReader): boolean =>
  !isAnsweredFor(pod.metadata) && reader.pod(pod) !== undefined;

/** Whom a ReplicaSet belongs to it alone knows; but what a Deployment made bears a label. */
function isAnsweredFor(metadata: ObjectMeta): boolean {
  const owner = controllerOf(metadata);
  if (!owner) return false;
  if (isOfKind(owner, replicaSetType)) return metadata.labels?.[OF_DEPLOYMENT] !== undefined;
  return isOfKind(owner, statefulSetType) || isOfKind(owner, daemonSetType);
}

const OF_DEPLOYMENT = "pod-template-hash";

export const controllerOf = ({ ownerReferences = [] }: ObjectMeta): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller === true);
