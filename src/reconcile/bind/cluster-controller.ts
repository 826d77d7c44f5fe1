import type { InstanceWorkload } from "../../api/bind/bind-fields.ts";
import { bind9Cluster } from "../../api/bind/bind9-cluster.ts";
import { keyOf } from "../../kube/objects.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import type { Controller } from "../../runtime/controller.ts";
import { recordsOf } from "../managed/managed-watches.ts";
import type { BindCaches } from "./bind-caches.ts";
import { type BindSettings, createBindController, isOther, namespaceOf, ownersIn } from "./bind-controller.ts";
import { clusterKeyOf, type SecretRecord, type WorkloadRecord } from "./bind-sources.ts";
import { ClusterLook } from "./cluster-reconcile.ts";

export const createClusterController = (settings: BindSettings): Controller =>
  createBindController({
    name: "bind9-cluster",
    type: bind9Cluster,
    settings,
    find: (caches, key) => caches.cluster(key),
    concerns: {
      clusters: ({ key }) => [key],
      providers: (delta, caches) =>
        isOther(delta)
          ? recordsOf(delta).flatMap((provider) => caches.clustersOf(provider).map(({ metadata }) => keyOf(metadata)))
          : [],
      instances: (delta) => [...new Set([...recordsOf(delta).map(clusterKeyOf), ...namesake(delta.key)])],
      rndcKeys: (delta, caches) => {
        const namespace = namespaceOf(delta.key);
        const owners = ownersIn(delta, "Bind9Cluster").map((name) => keyOf({ namespace, name }));
        // One that comes or goes may have been in the way of any of them.
        const others = isOther(delta) ? caches.clustersIn(namespace).map(({ metadata }) => keyOf(metadata)) : [];
        return [...new Set([...owners, ...others])];
      },
      deployments: clustersOfWorkload("Deployment"),
      statefulSets: clustersOfWorkload("StatefulSet"),
      secrets: (delta) => makersIn(delta, "Bind9Cluster"),
    },
    createLooker: ({ caches, objects }) => new ClusterLook({ caches, objects, limits: settings }),
  });

/** The cluster that would make an instance of that name. */
function namesake(key: string): readonly string[] {
  const name = /^(.+)-(?:primary|secondary)-\d+$/.exec(key)?.[1];
  return name === undefined ? [] : [name];
}

/** Once pods have moved on from a Secret, a key may go. */
const clustersOfWorkload =
  (kind: InstanceWorkload) =>
  (delta: Delta<WorkloadRecord>, caches: BindCaches): readonly string[] => {
    const [old, now] = [recordsOf(delta)[0], recordsOf(delta).at(-1)];
    const isSame =
      delta.type === "updated" && old?.isRolledOut === now?.isRolledOut && old?.secrets.join() === now?.secrets.join();
    if (isSame) return [];
    const instance = caches.instance(delta.key);
    return [...(instance ? [instance] : []), ...caches.instancesUsing({ kind, key: delta.key })].map(clusterKeyOf);
  };

/** Those of a kind that have made the Secret. */
const makersIn = (delta: Delta<SecretRecord>, kind: string): readonly string[] =>
  recordsOf(delta).flatMap(({ maker }) =>
    maker?.startsWith(`${kind}/`) ? [`${namespaceOf(delta.key)}/${maker.slice(kind.length + 1)}`] : [],
  );
