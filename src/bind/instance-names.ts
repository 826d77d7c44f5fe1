import { roles } from "../api/bind/bind-fields.ts";
import type { KubeObject } from "../kube/objects.ts";
import { fieldAt } from "./fields.ts";

/** The instances that a cluster wants, by name: `<cluster>-primary-N` and `<cluster>-secondary-N`. */
export interface WantedInstance {
  readonly name: string;
  readonly role: (typeof roles)[number];
}

export const wantedInstances = (cluster: KubeObject): readonly WantedInstance[] =>
  roles.flatMap((role) =>
    Array.from({ length: replicasOf(cluster, role) }, (_, index) => ({
      role,
      name: `${cluster.metadata.name}-${role}-${index}`,
    })),
  );

/** None of a role that is not mentioned. */
function replicasOf(cluster: KubeObject, role: string): number {
  if (fieldAt(cluster, ["spec", role]) === undefined) return 0;
  const replicas = fieldAt(cluster, ["spec", role, "replicas"]);
  return typeof replicas === "number" ? Math.max(0, Math.trunc(replicas)) : 1;
}

/**
 * How much before the last one the key of an instance is rotated: primaries first, and none of them later than it is due,
 * since no key may be older than its period.
 */
export function rotationLeadMs(instance: KubeObject, cluster: KubeObject | undefined, delayMs: number): number {
  const names = cluster === undefined ? [] : wantedInstances(cluster).map(({ name }) => name);
  const index = names.indexOf(instance.metadata.name);
  return index < 0 ? 0 : (names.length - 1 - index) * delayMs;
}
