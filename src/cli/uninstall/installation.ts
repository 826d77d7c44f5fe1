import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { recordOf, recordsIn } from "../../kube/record.ts";
import { configMapType, deploymentType } from "../../restart/workload-kinds.ts";
import { policyBindingType, policyType, serviceType } from "../check/gather/kinds.ts";
import { isOurs } from "../check/judge/whose.ts";
import type { Item } from "./inventory.ts";

/** Which objects are those of an installation, told by what they say of themselves. Pure. */
const namespaced = (group: string, plural: string, kind: string, version = "v1"): ResourceType => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
});
const ofCluster = (group: string, plural: string, kind: string): ResourceType => ({
  ...namespaced(group, plural, kind),
  namespaced: false,
});

const RBAC = "rbac.authorization.k8s.io";
const roleType = namespaced(RBAC, "roles", "Role");
const roleBindingType = namespaced(RBAC, "rolebindings", "RoleBinding");
const clusterRoleType = ofCluster(RBAC, "clusterroles", "ClusterRole");
const clusterRoleBindingType = ofCluster(RBAC, "clusterrolebindings", "ClusterRoleBinding");
const MONITORING = "monitoring.coreos.com";
const ruleType = namespaced(MONITORING, "prometheusrules", "PrometheusRule");

/** What an installation consists of beside its definitions, in the order in which it goes: whoever refers to others first. */
export const installedTypes: readonly ResourceType[] = [
  deploymentType,
  namespaced("policy", "poddisruptionbudgets", "PodDisruptionBudget"),
  namespaced("networking.k8s.io", "networkpolicies", "NetworkPolicy"),
  namespaced(MONITORING, "servicemonitors", "ServiceMonitor"),
  ruleType,
  configMapType,
  serviceType,
  policyBindingType,
  policyType,
  clusterRoleBindingType,
  roleBindingType,
  clusterRoleType,
  roleType,
  namespaced("", "serviceaccounts", "ServiceAccount"),
];

/** Installed, and not made for a resource: a Bind9Cluster may be called as Keyturn is. */
export const isInstalled = (object: KubeObject): boolean =>
  isOurs(object) && (object.metadata.ownerReferences ?? []).length === 0;

/** Those of the installation in this namespace, among all that is installed. */
export function belongingsOf(
  installed: readonly Item[],
  namespace: string,
  operators: readonly KubeObject[],
): readonly Item[] {
  const others = new Set(operators.map(({ metadata }) => metadata.namespace).filter((name) => name !== namespace));
  const elsewhere = installed.filter(({ object }) => isBinding(object) && !isGrantedTo(object, namespace));
  const isMeant = ({ type, object }: Item): boolean => {
    const { name, namespace: within } = object.metadata;
    if (isBinding(object)) return isGrantedTo(object, namespace);
    if (type === roleType || type === clusterRoleType) {
      return !elsewhere.some(
        (binding) => binding.object.metadata.namespace === within && roleOf(binding.object) === `${type.kind} ${name}`,
      );
    }
    // Of policies there is one for all installations.
    if (!type.namespaced) return others.size === 0;
    // Where monitoring looks for them.
    if (type === ruleType || type === configMapType) return within === namespace || !others.has(within);
    return within === namespace;
  };
  return installed.filter(isMeant);
}

const isBinding = ({ subjects }: KubeObject): boolean => subjects !== undefined;

const isGrantedTo = ({ subjects }: KubeObject, namespace: string): boolean =>
  recordsIn(subjects).some((subject) => subject.namespace === namespace);

function roleOf({ roleRef }: KubeObject): string {
  const { kind, name } = recordOf(roleRef);
  return `${String(kind)} ${String(name)}`;
}
