import { UsageError } from "../../base/errors.ts";
import { listAll } from "../../insight/resources/list-all.ts";
import { NotServed } from "../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { describeType } from "../../kube/objects.ts";
import type { Bench } from "./bench.ts";
import type { ImportWish } from "./source.ts";

/** All objects of a kind that are meant, in the order of their names; of one without namespaces by `pickOf`. Throws `UsageError` for a name that is not there. */
export async function pick(
  bench: Bench,
  type: ResourceType,
  wish: Pick<ImportWish, "names" | "namespace">,
): Promise<readonly KubeObject[]> {
  const { namespace } = wish;
  const within = type.namespaced && namespace !== undefined ? { namespace } : {};
  return pickOf(await listed(bench, type, within), type, wish);
}

const isWithin = ({ metadata }: KubeObject, namespace: string): boolean => metadata.namespace === namespace;

/** Those of them that are meant. Throws `UsageError` for a name that is not there. */
export function pickOf(
  all: readonly KubeObject[],
  type: ResourceType,
  { names, namespace }: Pick<ImportWish, "names" | "namespace">,
  isIn = isWithin,
): readonly KubeObject[] {
  const here = namespace === undefined ? all : all.filter((object) => isIn(object, namespace));
  if (!names) return here;
  return names.flatMap((name) => {
    const found = here.filter(({ metadata }) => metadata.name === name);
    if (found.length > 0) return found;
    throw new UsageError(
      `there is no ${type.kind} "${name}"${namespace === undefined ? "" : ` in namespace ${namespace}`}`,
    );
  });
}

export async function listed(
  bench: Bench,
  type: ResourceType,
  within: { readonly namespace?: string; readonly labelSelector?: string } = {},
): Promise<readonly KubeObject[]> {
  try {
    const all = await Array.fromAsync(listAll(bench.kube, type, { ...within, signal: bench.signal }));
    return all.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  } catch (error) {
    if (!(error instanceof NotServed)) throw error;
    throw new UsageError(`the cluster does not know ${describeType(type)}: there is nothing to take over`, error);
  }
}

const placeOf = ({ metadata: { namespace = "", name } }: KubeObject): string => `${namespace}/${name}`;
