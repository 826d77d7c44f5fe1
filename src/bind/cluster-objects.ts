import { BINDY_GROUP, BINDY_VERSION } from "../api/bind/names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { isOwnedBy, ownerReference } from "../kube/ownership.ts";
import { type WantedInstance, wantedInstances } from "./instance-names.ts";
import { MADE_BY_US } from "./ownership.ts";
import type { Problem } from "./problems.ts";

/**
 * The instances that a Bind9Cluster makes. One says no more than whose it is: what it is run with is looked up, so that
 * what users put on it counts, and what changes above it reaches it. Must not: touch an instance that somebody else has
 * made.
 */
const API_VERSION = `${BINDY_GROUP}/${BINDY_VERSION}`;

/** The Service of an instance has its name, and a Service is less free in that than others. */
const SERVICE_NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const MAX_SERVICE_NAME = 63;

export function clusterInstances(cluster: KubeObject): {
  readonly instances: readonly KubeObject[];
  readonly problems: readonly Problem[];
} {
  const names = wantedInstances(cluster);
  const isImpossible = names.some(({ name }) => name.length > MAX_SERVICE_NAME || !SERVICE_NAME.test(name));
  if (isImpossible) {
    const message =
      "its instances and their Services are named after it: choose one of small letters, digits and -, that begins with a letter and leaves room for -secondary-N within 63";
    return { instances: [], problems: [{ field: "metadata.name", message }] };
  }
  return { instances: names.map((wanted) => instanceOf(cluster, wanted)), problems: [] };
}

const instanceOf = (cluster: KubeObject, { name, role }: WantedInstance): KubeObject => ({
  apiVersion: API_VERSION,
  kind: "Bind9Instance",
  metadata: {
    name,
    namespace: cluster.metadata.namespace ?? "",
    labels: { ...MADE_BY_US, "app.kubernetes.io/part-of": cluster.metadata.name, "app.kubernetes.io/component": role },
    ownerReferences: [ownerReference(cluster)],
  },
  spec: { clusterRef: cluster.metadata.name, role },
});

/** The instances that the cluster has made and wants no more. */
export function surplusInstances(cluster: KubeObject, existing: readonly KubeObject[]): readonly KubeObject[] {
  const { instances, problems } = clusterInstances(cluster);
  const wanted = new Set(instances.map(({ metadata }) => metadata.name));
  // A spec that cannot be followed is no reason to take a server away.
  if (problems.length > 0) return [];
  return existing.filter((instance) => isOwnedBy(instance, cluster) && !wanted.has(instance.metadata.name));
}
