import { BINDY_GROUP, BINDY_VERSION } from "../api/bind/names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { isOwnedBy, ownerReference } from "../kube/ownership.ts";
import { type Fields, fieldAt, isFields } from "./fields.ts";
import { MADE_BY_US } from "./ownership.ts";

/**
 * The Bind9Cluster that a ClusterBind9Provider makes: of its name, in its namespace, with all that it says but for the
 * keys. Those are inherited, so that what the cluster says of them itself goes before, and so that no key is written down
 * a second time.
 */
const KEY_SETTINGS: ReadonlySet<string> = new Set(["rndcKeys", "rndcKey", "rndcSecretRef"]);
const LEVELS = ["global", "primary", "secondary"] as const;

const namespaceOf = (provider: KubeObject, operatorNamespace: string): string => {
  const namespace = fieldAt(provider, ["spec", "namespace"]);
  return typeof namespace === "string" ? namespace : operatorNamespace;
};

export function providerCluster(provider: KubeObject, operatorNamespace: string): KubeObject {
  const spec = isFields(provider.spec) ? provider.spec : {};
  const { namespace: _, ...own } = spec;
  const levels = LEVELS.filter((level) => isFields(own[level])).map((level) => [
    level,
    withoutKeys(own[level] as Fields),
  ]);
  return {
    apiVersion: `${BINDY_GROUP}/${BINDY_VERSION}`,
    kind: "Bind9Cluster",
    metadata: {
      name: provider.metadata.name,
      namespace: namespaceOf(provider, operatorNamespace),
      labels: MADE_BY_US,
      ownerReferences: [ownerReference(provider)],
    },
    spec: { ...own, ...Object.fromEntries(levels) },
  };
}

const withoutKeys = (level: Fields): Fields =>
  Object.fromEntries(Object.entries(level).filter(([name]) => !KEY_SETTINGS.has(name)));

/**
 * Whether the cluster is the very one that the provider makes. An owner reference alone does not show it: whoever may
 * write a cluster can write one that names any provider, and would be given its key.
 */
export const isMadeBy = (cluster: KubeObject, provider: KubeObject, operatorNamespace: string): boolean =>
  isOwnedBy(cluster, provider) &&
  cluster.metadata.name === provider.metadata.name &&
  cluster.metadata.namespace === namespaceOf(provider, operatorNamespace);
