import { customResources } from "../../src/api/custom-resources.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";

const CLUSTER_SCOPED = new Set([
  "Namespace",
  "CustomResourceDefinition",
  "ClusterRole",
  "ClusterRoleBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
]);

/** Where an object of an installation is served; kinds of ours by their own list. */
export function typeOf({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): ResourceType {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const own = customResources.find((each) => each.group === group && each.kind === kind);
  if (own) return own;
  const lower = kind.toLowerCase();
  const plural = lower.endsWith("y") ? `${lower.slice(0, -1)}ies` : `${lower}s`;
  return { group, version, kind, plural, namespaced: !CLUSTER_SCOPED.has(kind) };
}
