import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";

const PAGE_SIZE = 500;

/** All objects of a kind in a namespace, live, page by page. */
export async function listInNamespace(
  kube: Kube,
  type: ResourceType,
  where: { readonly namespace: string; readonly labelSelector?: string | undefined; readonly signal: AbortSignal },
): Promise<KubeObject[]> {
  const { namespace, labelSelector, signal } = where;
  const items: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await kube.list(type, {
      namespace,
      limit: PAGE_SIZE,
      signal,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(next !== undefined && { continue: next }),
    });
    items.push(...page.items);
    next = page.continue === "" ? undefined : page.continue;
  } while (next !== undefined);
  return items;
}
