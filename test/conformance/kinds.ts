import type { ResourceType } from "../../src/kube/objects.ts";

const core = (kind: string, plural: string, namespaced = true): ResourceType => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced,
});

const apps = (kind: string, plural: string): ResourceType => ({
  group: "apps",
  version: "v1",
  plural,
  kind,
  namespaced: true,
});

export const configMaps = core("ConfigMap", "configmaps");
export const secrets = core("Secret", "secrets");
export const pods = core("Pod", "pods");
export const services = core("Service", "services");
export const serviceAccounts = core("ServiceAccount", "serviceaccounts");
export const events = core("Event", "events");
export const namespaces = core("Namespace", "namespaces", false);
export const deployments = apps("Deployment", "deployments");
export const replicaSets = apps("ReplicaSet", "replicasets");
export const statefulSets = apps("StatefulSet", "statefulsets");
export const daemonSets = apps("DaemonSet", "daemonsets");

export const jobs: ResourceType = { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true };

export const cronJobs: ResourceType = { ...jobs, plural: "cronjobs", kind: "CronJob" };

export const leases: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

export const customResourceDefinitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

export const policies: ResourceType = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: "validatingadmissionpolicies",
  kind: "ValidatingAdmissionPolicy",
  namespaced: false,
};

export const policyBindings: ResourceType = {
  ...policies,
  plural: "validatingadmissionpolicybindings",
  kind: "ValidatingAdmissionPolicyBinding",
};
