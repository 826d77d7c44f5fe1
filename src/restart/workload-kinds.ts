import type { KubeObject, ResourceType } from "../kube/objects.ts";
import { recordOf, type UnknownRecord } from "../kube/record.ts";
import { type Annotations, annotationsOf } from "./annotations.ts";

/** The body of an apply, or a part of it. */
export type Fields = Readonly<Record<string, unknown>>;

/** What pods are made from. */
export interface PodTemplate {
  readonly annotations: Annotations;
  readonly labels: Annotations;
  readonly spec: UnknownRecord;
}

/** What differs from kind to kind. */
export interface WorkloadKind {
  readonly type: ResourceType;
  readonly templateOf: (object: KubeObject) => PodTemplate;
  /** The part of an apply that sets annotations of the pod template, and nothing else. */
  readonly templateFields: (annotations: Annotations) => Fields;
  /** What a changed template leads to: a rollout, nothing until pods are deleted, nothing at all. */
  readonly rolls: "byItself" | "byDeletingPods" | "never";
}

const namespaced = (group: string, plural: string, kind: string, version = "v1"): ResourceType => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
});

/** Whether a reference is to an object of this kind: other groups have kinds of the same name. */
export const isOfKind = ({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">, type: ResourceType): boolean =>
  kind === type.kind && apiVersion.split("/").slice(0, -1).join() === type.group;

export const deploymentType = namespaced("apps", "deployments", "Deployment");
export const statefulSetType = namespaced("apps", "statefulsets", "StatefulSet");
export const daemonSetType = namespaced("apps", "daemonsets", "DaemonSet");
export const replicaSetType = namespaced("apps", "replicasets", "ReplicaSet");
export const cronJobType = namespaced("batch", "cronjobs", "CronJob");
export const jobType = namespaced("batch", "jobs", "Job");
export const podType = namespaced("", "pods", "Pod");
export const configMapType = namespaced("", "configmaps", "ConfigMap");
export const podStatusType = namespaced(
  "secrets-store.csi.x-k8s.io",
  "secretproviderclasspodstatuses",
  "SecretProviderClassPodStatus",
);
export const classType = namespaced("secrets-store.csi.x-k8s.io", "secretproviderclasses", "SecretProviderClass");

/** `path` leads from `spec` to the pod template. */
function workloadKind(type: ResourceType, path: readonly string[], rolls: WorkloadKind["rolls"]): WorkloadKind {
  return {
    type,
    rolls,
    templateOf: (object) => readTemplate(path.reduce<unknown>((at, name) => recordOf(at)[name], object)),
    templateFields: (annotations) =>
      path.reduceRight<Fields>((inner, name) => ({ [name]: inner }), { metadata: { annotations } }),
  };
}

function readTemplate(template: unknown): PodTemplate {
  const { metadata, spec } = recordOf(template);
  const { annotations, labels } = recordOf(metadata);
  return { annotations: annotationsOf(annotations), labels: annotationsOf(labels), spec: recordOf(spec) };
}

/** A Pod is its own template. */
export const templateOfPod = (pod: KubeObject): PodTemplate => readTemplate(pod);

export const workloadKinds: readonly WorkloadKind[] = [
  workloadKind(deploymentType, ["spec", "template"], "byItself"),
  workloadKind(statefulSetType, ["spec", "template"], "byItself"),
  workloadKind(daemonSetType, ["spec", "template"], "byItself"),
  workloadKind(cronJobType, ["spec", "jobTemplate", "spec", "template"], "never"),
  workloadKind(replicaSetType, ["spec", "template"], "byDeletingPods"),
];

const byName: ReadonlyMap<string, WorkloadKind> = new Map(workloadKinds.map((kind) => [kind.type.kind, kind]));

/** By the name of the kind, such as `Deployment`. */
export const kindOf = (name: string): WorkloadKind | undefined => byName.get(name);
