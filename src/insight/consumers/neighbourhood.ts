import type { KubeObject, OwnerReference } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { recordOf } from "../../kube/record.ts";
import { controllerOf } from "../../reconcile/restart/restart-sources.ts";
import { workloadKey } from "../../reconcile/restart/workload-key.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import { type PlacedUse, placedUsesOf } from "../../restart/pod-uses.ts";
import {
  isOfKind,
  jobType,
  type PodTemplate,
  podStatusType,
  podType,
  replicaSetType,
  templateOfPod,
  type WorkloadKind,
  workloadKinds,
} from "../../restart/workload-kinds.ts";
import { listSeen, type Unseen } from "../resources/list-all.ts";
import { type LiveOptIn, liveOptIn } from "./live-opt-in.ts";
import { isFull } from "./rollout-slots.ts";

/** Something that runs pods, with those of them that have not ended. */
export interface LiveWorkload {
  /** Such as `Deployment`; of pods that nobody here can restart, the kind of their owner. */
  readonly kindName: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for a pod that stands alone, and for owners that cannot be restarted. */
  readonly kind: WorkloadKind | undefined;
  /** Undefined where only its pods could be looked at. */
  readonly object: KubeObject | undefined;
  /** What its next pods are made from; that of a pod where nothing else is known. */
  readonly template: PodTemplate;
  /** What those will use. */
  readonly uses: readonly PlacedUse[];
  readonly optIn: LiveOptIn;
  readonly pods: readonly LivePod[];
}

export interface LivePod {
  readonly object: KubeObject;
  /** By its own spec, which may be older than that of its workload. */
  readonly uses: readonly PlacedUse[];
}

/** What runs in a namespace, as far as whoever asks may see it. */
export interface Neighbourhood {
  readonly workloads: readonly LiveWorkload[];
  /** What the Secrets Store driver says that it has mounted; empty unless it was asked for. */
  readonly podStatuses: readonly KubeObject[];
  /** False: there may be pods that may not be listed. */
  readonly arePodsSeen: boolean;
  /** As many rollouts of ours are under way as there may be in the namespace, by its annotation or the usual number. */
  readonly isFull: boolean;
  readonly unseen: readonly Unseen[];
}

const ALIVE = "status.phase!=Succeeded,status.phase!=Failed";

/** One list for each kind, live. Must not: read a Secret. */
export async function lookAround(
  kube: Kube,
  namespace: string,
  { withPodStatuses = false }: { readonly withPodStatuses?: boolean } = {},
): Promise<Neighbourhood> {
  const unseen: Unseen[] = [];
  const [pods, podStatuses, ...all] = await Promise.all([
    listSeen(kube, podType, { namespace, fieldSelector: ALIVE }, unseen),
    withPodStatuses ? listSeen(kube, podStatusType, { namespace }, unseen) : [],
    ...workloadKinds.map(async (kind) => ({ kind, objects: await listSeen(kube, kind.type, { namespace }, unseen) })),
  ]);
  const hasJobs = pods.some(({ metadata }) => controllerOf(metadata)?.kind === jobType.kind);
  const jobs = hasJobs ? await listSeen(kube, jobType, { namespace, metadataOnly: true }, unseen) : [];
  const workloads = workloadsOf(namespace, all, podsByOwner(namespace, pods, [...replicaSetsIn(all), ...jobs]));
  return {
    workloads,
    podStatuses,
    arePodsSeen: unseen.every(({ what }) => what !== podType.kind),
    isFull: await isFull(kube, namespace, workloads),
    unseen: sorted(unseen),
  };
}

const replicaSetsIn = (all: readonly ListedKind[]): readonly KubeObject[] =>
  all.flatMap(({ kind, objects }) => (kind.type === replicaSetType ? objects : []));

const sorted = (unseen: readonly Unseen[]): readonly Unseen[] => [...unseen].sort((a, b) => (a.what < b.what ? -1 : 1));

interface OwnedPods {
  readonly kindName: string;
  readonly name: string;
  readonly pods: readonly LivePod[];
}

interface ListedKind {
  readonly kind: WorkloadKind;
  readonly objects: readonly KubeObject[];
}

function workloadsOf(
  namespace: string,
  all: readonly ListedKind[],
  owned: ReadonlyMap<string, OwnedPods>,
): readonly LiveWorkload[] {
  const listed = all.flatMap(({ kind, objects }) =>
    objects.filter((object) => isOnItsOwn(kind, object)).map((object) => liveWorkload(kind, object, owned)),
  );
  const seen = new Set(listed.map(({ kindName, name }) => workloadKey(kindName, namespace, name)));
  const others = [...owned].flatMap(([key, pods]) => (seen.has(key) ? [] : [knownByPods(namespace, pods)]));
  return [...listed, ...others];
}

/** A ReplicaSet that a Deployment made is that Deployment's affair. */
const isOnItsOwn = ({ type }: WorkloadKind, { metadata }: KubeObject): boolean =>
  type !== replicaSetType || controllerOf(metadata) === undefined;

function liveWorkload(kind: WorkloadKind, object: KubeObject, owned: ReadonlyMap<string, OwnedPods>): LiveWorkload {
  const { namespace = "", name } = object.metadata;
  const kindName = kind.type.kind;
  const pods = owned.get(workloadKey(kindName, namespace, name))?.pods ?? [];
  return { kindName, namespace, name, kind, object, ...readTemplate(object, kind.templateOf(object)), pods };
}

function knownByPods(namespace: string, { kindName, name, pods }: OwnedPods): LiveWorkload {
  const [pod] = pods as readonly [LivePod];
  const isAlone = kindName === podType.kind;
  const template = templateOfPod(pod.object);
  const object = isAlone ? pod.object : undefined;
  const kind = workloadKinds.find(({ type }) => type.kind === kindName);
  // A pod bears its annotations once.
  const read = readTemplate(object, isAlone ? { ...template, annotations: {} } : template);
  return { kindName, namespace, name, kind, object, ...read, pods };
}

const readTemplate = (
  object: KubeObject | undefined,
  template: PodTemplate,
): Pick<LiveWorkload, "template" | "uses" | "optIn"> => ({
  template,
  uses: placedUsesOf(template.spec),
  optIn: liveOptIn(annotationsOf(object?.metadata.annotations), template.annotations),
});

/** By the key of what makes them again; `between` are those that others may have made. */
function podsByOwner(
  namespace: string,
  pods: readonly KubeObject[],
  between: readonly KubeObject[],
): ReadonlyMap<string, OwnedPods> {
  const makers = new Map(between.map(({ metadata }) => [metadata.uid, controllerOf(metadata)]));
  const owned = new Map<string, OwnedPods & { readonly pods: LivePod[] }>();
  for (const pod of pods.filter(isRunning)) {
    const { kind: kindName, name } = ownerOf(pod, makers);
    const key = workloadKey(kindName, namespace, name);
    const known = owned.get(key) ?? { kindName, name, pods: [] };
    known.pods.push({ object: pod, uses: placedUsesOf(templateOfPod(pod).spec) });
    owned.set(key, known);
  }
  return owned;
}

/** From a ReplicaSet to its Deployment, from a Job to its CronJob; itself where nobody makes it again. */
function ownerOf(
  { metadata }: KubeObject,
  makers: ReadonlyMap<string | undefined, OwnerReference | undefined>,
): Pick<OwnerReference, "kind" | "name"> {
  const owner = controllerOf(metadata);
  if (!owner) return { kind: podType.kind, name: metadata.name };
  const maker = makers.get(owner.uid) ?? owner;
  return { kind: toldKind(maker), name: maker.name };
}

/** With its group where we have a kind of that name, and it is not that one. */
function toldKind(owner: OwnerReference): string {
  const alike = workloadKinds.find(({ type }) => type.kind === owner.kind);
  return !alike || isOfKind(owner, alike.type) ? owner.kind : `${owner.kind}.${owner.apiVersion.split("/")[0]}`;
}

/** Not every server knows the field selector. */
function isRunning({ status }: KubeObject): boolean {
  const { phase } = recordOf(status);
  return phase !== "Succeeded" && phase !== "Failed";
}
