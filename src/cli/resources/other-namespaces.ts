import { KubeError } from "../../kube/errors.ts";
import type { Kube } from "../../kube/port.ts";
import type { KindSelection } from "./fetch-resources.ts";

/** The kinds that there are more of than was looked for, in other namespaces; only those that may be listed there. */
export async function kindsElsewhere(kube: Kube, selections: readonly KindSelection[]): Promise<readonly string[]> {
  const kinds: string[] = [];
  for (const { kind, selection } of selections) {
    const { namespace, ...rest } = selection;
    if (namespace === undefined) continue;
    try {
      const fieldSelector = `metadata.namespace!=${namespace}`;
      const { items } = await kube.list(kind.type, { ...rest, fieldSelector, metadataOnly: true, limit: 1 });
      if (items.length > 0) kinds.push(kind.type.kind);
    } catch (error) {
      // Who may not look there is told nothing of it.
      if (!(error instanceof KubeError)) throw error;
    }
  }
  return kinds;
}
