import { Forbidden, NotServed } from "../../kube/errors.ts";
import { describeType, type KubeObject, type ResourceType } from "../../kube/objects.ts";
import type { Kube, ListOptions } from "../../kube/port.ts";

const PAGE_SIZE = 500;

/** All objects of a selection, page by page. */
export async function* listAll(
  kube: Kube,
  type: ResourceType,
  options: Omit<ListOptions, "limit" | "continue">,
): AsyncIterable<KubeObject> {
  let next: string | undefined;
  do {
    const page = await kube.list(type, {
      ...options,
      limit: PAGE_SIZE,
      ...(next !== undefined && { continue: next }),
    });
    yield* page.items;
    next = page.continue === "" ? undefined : page.continue;
  } while (next !== undefined);
}

/** What could not be looked at, and why. */
export interface Unseen {
  /** Such as `Deployment.apps`. */
  readonly what: string;
  readonly why: string;
}

/** What may be listed. A kind that the cluster does not know has no objects; one that may not be listed is `unseen`. */
export async function listSeen(
  kube: Kube,
  type: ResourceType,
  options: Omit<ListOptions, "limit" | "continue">,
  unseen: Unseen[],
): Promise<readonly KubeObject[]> {
  try {
    return await Array.fromAsync(listAll(kube, type, options));
  } catch (error) {
    if (error instanceof NotServed) return [];
    if (!(error instanceof Forbidden)) throw error;
    unseen.push({ what: describeType(type), why: error.message });
    return [];
  }
}
