import { definitionOf, OWNER_LABELS } from "../api/custom-resource.ts";
import { isNamespaceOfCluster } from "../base/object-names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { admissionPolicies } from "./admission-policies.ts";
import { bindAdvicePolicies } from "./bind-advice.ts";
import { METRICS_PORT, operatorDeployment } from "./deployment.ts";
import { networkPolicy } from "./network-policy.ts";
import { needsOf, rights } from "./rights.ts";
import { secretProtection } from "./secret-protection.ts";
import { dashboardService, type WebDashboard } from "./web-dashboard.ts";

/**
 * Everything that a cluster needs to run the operator, in the order in which it is applied: what others refer to comes
 * first. The one source of truth for `keyturn manifests`, and for the data of the chart; `keyturn up` and `keyturn crds`
 * take their parts from the same place. Must not: talk to a cluster.
 */
export interface ManifestOptions {
  readonly namespace: string;
  readonly image: string;
  readonly controllers: readonly string[];
  /** Where the operator looks for what is in namespaces; none: everywhere. */
  readonly scopedNamespaces?: readonly string[];
  /** Nobody but the operator may change what it has published. */
  readonly protectSecrets?: boolean;
  /** The operator serves the dashboard; absent: it does not. */
  readonly dashboard?: WebDashboard | undefined;
}

const NAME = "keyturn";

export function manifests(options: ManifestOptions): readonly KubeObject[] {
  const { namespace, image, controllers, scopedNamespaces = [], protectSecrets = false, dashboard } = options;
  const selector = { "app.kubernetes.io/name": NAME };
  const labels = { ...OWNER_LABELS, ...selector };
  const metadata = { name: NAME, namespace, labels };
  return [
    ...definitionsFor(controllers),
    ...adviceFor(controllers),
    ...(protectSecrets ? secretProtection({ name: NAME, namespace }) : []),
    // What is the cluster's own is left as it is.
    ...(isNamespaceOfCluster(namespace) ? [] : [namespaceFor(namespace)]),
    // Of all that runs in the namespace only the operator's own pods ask for its token.
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    ...rights({ ...metadata, controllers, scopedNamespaces, lease: NAME, hasDashboard: dashboard !== undefined }),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector, ports: [{ name: "metrics", port: METRICS_PORT, targetPort: "metrics" }] },
    },
    ...(dashboard ? [dashboardService(metadata, selector)] : []),
    networkPolicy({ metadata, selector, controllers, metricsPort: METRICS_PORT }),
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
    },
    operatorDeployment({ ...metadata, image, controllers, scopedNamespaces, lease: NAME, dashboard }),
  ];
}

/** The kinds of these controllers. */
export const definitionsFor = (controllers: readonly string[]): readonly KubeObject[] =>
  kindsOf(controllers).map(definitionOf);

/** What warns of what will surprise, for the kinds of these controllers. */
export const adviceFor = (controllers: readonly string[]): readonly KubeObject[] => {
  const kinds = kindsOf(controllers);
  return [...admissionPolicies(kinds), ...bindAdvicePolicies(kinds)];
};

const kindsOf = (controllers: readonly string[]) => controllers.flatMap((controller) => needsOf(controller).kinds);

/** Pods that ask for more than the operator does are refused there. */
const namespaceFor = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name,
    labels: { ...OWNER_LABELS, "pod-security.kubernetes.io/enforce": "restricted" },
  },
});
