import { Conflict } from "../../kube/errors.ts";
import type { KubeObject, ObjectRef } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { podType, replicaSetType } from "../../restart/workload-kinds.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import { hashOf, isReady, madeFor, NAMESPACE, podOf, type Workload } from "./shop.ts";

/** What the played controllers see, without a call. */
export interface Sight {
  workload(name: string): KubeObject | undefined;
  pods(): readonly KubeObject[];
  /** What the pod needs to start is there, and nothing else keeps it from starting. */
  canStart(pod: KubeObject): boolean;
}

/** Whose doing a call is that is not the operator's. */
export const PLAYED = "system:controller";

const STEPS_AT_A_TIME = 3;

/** As the API takes it from them: no pod is made from a template that is no longer there, however late it is asked for. */
export const upToDate = (kube: Kube, sight: Pick<Sight, "workload">): Kube => ({
  ...kube,
  create: async (type, object, options) => {
    const { labels = {} } = object.metadata;
    const workload = sight.workload(labels.app ?? "") as Workload | undefined;
    const isOld = options?.as === PLAYED && labels.hash !== hashOf(workload?.spec.template ?? {});
    if (isOld) throw new Conflict("it would be made from a template of before");
    return kube.create(type, object, options);
  },
});

/** Each pod template of a Deployment has its ReplicaSet, which is nowhere but in what is read. */
export const withReplicaSets = (kube: Kube, { workload }: Pick<Sight, "workload">): Kube => ({
  ...kube,
  get: async <T extends KubeObject>(...[type, ref, options]: Parameters<Kube["get"]>): Promise<T> => {
    const at = ref.name.lastIndexOf("-");
    const [name, hash] = [ref.name.slice(0, at), ref.name.slice(at + 1)];
    const owner = type.kind === replicaSetType.kind ? workload(name) : undefined;
    if (at < 0 || !owner) return kube.get<T>(type, ref, options);
    const { apiVersion, kind } = owner;
    const { uid = "" } = owner.metadata;
    const metadata = {
      ...ref,
      uid: `${uid}-${hash}`,
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    };
    // Whoever asks for a ReplicaSet is given one.
    return { apiVersion, kind: type.kind, metadata } as KubeObject as T;
  },
});

/** What makes pods come and go: the controllers of Deployments and ReplicaSets, and a kubelet. */
export function playWorkloads(kube: Kube, sight: Sight): Reconcile {
  return async (name) => {
    for (let steps = 0; steps < STEPS_AT_A_TIME; steps++) {
      const step = nextStep(name, sight);
      if (!step) break;
      await step(kube);
    }
    return { kind: "settled" };
  };
}

type Step = (kube: Kube) => Promise<unknown>;

/** One at a time; undefined where everything is as it should be. */
function nextStep(name: string, sight: Sight): Step | undefined {
  const workload = sight.workload(name) as Workload | undefined;
  const pods = sight.pods().filter(({ metadata }) => metadata.labels?.app === name);
  const leaving = pods.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (leaving) return removal(leaving, 0);
  const orphan = pods.find((pod) => madeFor(pod) !== workload?.metadata.uid);
  if (orphan) return removal(orphan);
  const idle = pods.find((pod) => !isReady(pod) && sight.canStart(pod));
  if (idle) return start(idle);
  return workload && (movement(workload, pods) ?? report(workload, pods));
}

/** A pod too few, a pod too many, or an old one whose successor is there. */
function movement(workload: Workload, pods: readonly KubeObject[]): Step | undefined {
  const { replicas } = workload.spec;
  const isBare = workload.kind === replicaSetType.kind;
  const hash = hashOf(workload.spec.template);
  const fresh = pods.filter(({ metadata }) => isBare || metadata.labels?.hash === hash);
  const old = pods.filter((pod) => !fresh.includes(pod));
  const spare = fresh.length > replicas ? fresh.at(-1) : undefined;
  const isSucceeded = fresh.every(isReady) && pods.length > replicas;
  const gone = spare ?? (isSucceeded ? old[0] : undefined);
  if (gone) return removal(gone);
  return fresh.length < replicas && pods.length <= replicas ? creation(workload, pods) : undefined;
}

const creation =
  (workload: Workload, pods: readonly KubeObject[]): Step =>
  (kube) => {
    const numbers = pods.map(({ metadata }) => Number(metadata.name.slice(metadata.name.lastIndexOf("-") + 1)));
    const name = `${workload.metadata.name}-${Math.max(0, ...numbers) + 1}`;
    return kube.create(podType, podOf(workload, name), { as: PLAYED });
  };

const removal =
  (pod: KubeObject, gracePeriodSeconds?: number): Step =>
  (kube) =>
    kube.delete(podType, refOf(pod), {
      as: PLAYED,
      uid: pod.metadata.uid ?? "",
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    });

const start =
  (pod: KubeObject): Step =>
  (kube) => {
    const conditions = [{ type: "Ready", status: "True" }];
    const body = { status: { phase: "Running", conditions } };
    return kube.patch(podType, refOf(pod), { type: "merge", body }, { as: PLAYED, subresource: "status" });
  };

function report(workload: Workload, pods: readonly KubeObject[]): Step | undefined {
  const { kind, metadata, spec } = workload;
  const hash = hashOf(spec.template);
  const ready = pods.filter(isReady).length;
  const common = { observedGeneration: metadata.generation, replicas: pods.length, readyReplicas: ready };
  const updated = pods.filter((pod) => pod.metadata.labels?.hash === hash).length;
  const isBare = kind === replicaSetType.kind;
  const status = isBare ? common : { ...common, updatedReplicas: updated, availableReplicas: ready };
  const known = (workload.status ?? {}) as Readonly<Record<string, unknown>>;
  if (Object.entries(status).every(([field, value]) => (known[field] ?? 0) === value)) return undefined;
  const type = { ...replicaSetType, kind, plural: `${kind.toLowerCase()}s` };
  return (kube) =>
    kube.patch(type, refOf(workload), { type: "merge", body: { status } }, { as: PLAYED, subresource: "status" });
}

const refOf = ({ metadata }: KubeObject): ObjectRef => ({ namespace: NAMESPACE, name: metadata.name });
