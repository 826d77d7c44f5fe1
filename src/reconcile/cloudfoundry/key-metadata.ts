import type { ObjectMeta } from "../../kube/objects.ts";
import type { KeyMetadata } from "../../providers/contract.ts";

/** Those who write to a resource for their own ends: kubectl, Crossplane, and we ourselves. */
const NOT_CARRIED = ["crossplane.io", "kubectl.kubernetes.io", "keyturn.dev"];

/** The labels and annotations of a resource that stand on its keys too: what a person, or a tool of theirs, has put there. */
export const keyMetadata = ({ labels = {}, annotations = {} }: ObjectMeta): KeyMetadata => ({
  labels: carried(labels),
  annotations: carried(annotations),
});

const carried = (entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(entries).filter(([key]) => !isOurs(key)));

function isOurs(key: string): boolean {
  const slash = key.indexOf("/");
  const prefix = slash < 0 ? "" : key.slice(0, slash);
  return NOT_CARRIED.some((domain) => prefix === domain || prefix.endsWith(`.${domain}`));
}
