import { OWNER_LABELS } from "../../../api/custom-resource.ts";
import type { KubeObject } from "../../../kube/objects.ts";

/** What Keyturn has installed says so. */
export const isOurs = ({ metadata }: Pick<KubeObject, "metadata">): boolean =>
  Object.entries(OWNER_LABELS).every(([label, value]) => metadata.labels?.[label] === value);

/** The one who has installed an object, as far as it tells. */
export function installerOf({ metadata }: Pick<KubeObject, "metadata">): string {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  const revision = ownerReferences.find(({ kind }) => kind === "ProviderRevision" || kind === "ConfigurationRevision");
  if (revision) return `the Crossplane package ${revision.name}`;
  const [owner] = ownerReferences;
  if (owner) return `${owner.kind} ${owner.name}`;
  const release = annotations["meta.helm.sh/release-name"];
  if (release !== undefined)
    return `the Helm release ${annotations["meta.helm.sh/release-namespace"] ?? ""}/${release}`;
  const part = labels["app.kubernetes.io/part-of"] ?? labels["app.kubernetes.io/name"];
  return part ?? labels["app.kubernetes.io/managed-by"] ?? "somebody else";
}
