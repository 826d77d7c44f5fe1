import { customResources } from "../api/custom-resources.ts";
import type { PolicyRule } from "./permissions.ts";

/**
 * What `keyturn uninstall` needs where it is run by a release that goes, instead of by a person: to stop the operator, and to
 * take its finalizers off. The rest is Helm's. Must not: be granted for longer than that takes.
 */
const groups = [...Map.groupBy(customResources, ({ group }) => group)];

const onKinds = (verbs: readonly string[]): readonly PolicyRule[] =>
  groups.map(([group, kinds]) => ({ apiGroups: [group], resources: kinds.map(({ plural }) => plural), verbs }));

const definitions = {
  apiGroups: ["apiextensions.k8s.io"],
  resources: ["customresourcedefinitions"],
  resourceNames: customResources.map(({ group, plural }) => `${plural}.${group}`),
};

export const uninstallRights = {
  /** In the whole cluster, to leave keys where they are. */
  keep: [
    { ...definitions, verbs: ["get"] },
    ...onKinds(["list", "patch"]),
    // A finalizer may be on any Secret that a ProviderConfig has named.
    { apiGroups: [""], resources: ["secrets"], verbs: ["list", "patch"] },
    // Whether another operator runs, which would put finalizers back.
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list"] },
  ],
  /** The same, to delete them, and then their definitions. */
  delete: [
    { ...definitions, verbs: ["delete"] },
    ...onKinds(["delete"]),
    { apiGroups: [""], resources: ["secrets"], verbs: ["delete"] },
  ],
  /** In the operator's own namespace; NAME is what the release calls everything. */
  own: [
    { apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["NAME"], verbs: ["patch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["NAME"], verbs: ["delete"] },
  ],
} satisfies Readonly<Record<string, readonly PolicyRule[]>>;
