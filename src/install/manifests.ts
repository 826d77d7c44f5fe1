import { definitionOf, OWNER_LABELS } from "../api/custom-resource.ts";
import { InvalidValue } from "../base/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import { admissionPolicies } from "./admission-policies.ts";
import { bindAdvicePolicies } from "./bind-advice.ts";
import { operatorDeployment } from "./deployment.ts";
import { controllerNeeds, ownRules, type PolicyRule, sharedRules } from "./permissions.ts";

/**
 * Everything that a cluster needs to run the operator, in the order in which it is applied: what others refer to comes
 * first. The one source of truth for `keyturn manifests`; `keyturn up` and `keyturn crds` take their parts from the same
 * place. Must not: talk to a cluster.
 */
export interface ManifestOptions {
  readonly namespace: string;
  readonly image: string;
  readonly controllers: readonly string[];
}

const NAME = "keyturn";
const RBAC = "rbac.authorization.k8s.io";

export function manifests({ namespace, image, controllers }: ManifestOptions): readonly KubeObject[] {
  const needs = controllers.map(needsOf);
  const kinds = needs.flatMap((each) => each.kinds);
  const labels = { ...OWNER_LABELS, "app.kubernetes.io/name": NAME };
  const own = { name: NAME, namespace, labels };
  return [
    ...kinds.map(definitionOf),
    ...admissionPolicies(kinds),
    ...bindAdvicePolicies(kinds),
    namespaceFor(namespace),
    { apiVersion: "v1", kind: "ServiceAccount", metadata: own },
    ...grant(
      "ClusterRole",
      { name: NAME, labels },
      eachOnce([...sharedRules, ...needs.flatMap(({ rules }) => rules)]),
      namespace,
    ),
    ...grant("Role", own, ownRules(NAME), namespace),
    operatorDeployment({ ...own, image, controllers, lease: NAME }),
  ];
}

/** Several controllers may need the same. */
const eachOnce = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values(),
];

function needsOf(controller: string) {
  const needs = controllerNeeds.get(controller);
  if (!needs) throw new InvalidValue(`there is no controller "${controller}"`);
  return needs;
}

/** Pods that ask for more than the operator does are refused there. */
const namespaceFor = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name,
    labels: { ...OWNER_LABELS, "pod-security.kubernetes.io/enforce": "restricted" },
  },
});

/** A role, and its binding to the operator's ServiceAccount. */
function grant(
  kind: "Role" | "ClusterRole",
  metadata: KubeObject["metadata"],
  rules: readonly PolicyRule[],
  namespace: string,
): readonly [KubeObject, KubeObject] {
  const apiVersion = `${RBAC}/v1`;
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name: NAME, namespace }],
    },
  ];
}
