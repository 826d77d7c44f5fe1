import type { KubeObject, ResourceType } from "./objects.ts";
import type { Kube, ListOptions, ObjectList } from "./port.ts";

/**
 * The cluster as seen by somebody who may look at some namespaces only: a list over all namespaces is one list after the
 * other, in order. Single objects are asked for as ever, and whether that is allowed is up to the server. Watches are of one
 * namespace each, and are left alone. Must not: hold anything back that the server would give.
 */
export function scopedKube(kube: Kube, namespaces: readonly string[]): Kube {
  if (namespaces.length === 0) return kube;
  return {
    get: (type, ref, options) => kube.get(type, ref, options),
    watch: (type, options) => kube.watch(type, options),
    create: (type, object, options) => kube.create(type, object, options),
    replace: (type, object, options) => kube.replace(type, object, options),
    patch: (type, ref, patch, options) => kube.patch(type, ref, patch, options),
    delete: (type, ref, options) => kube.delete(type, ref, options),
    fetch: (path, options) => kube.fetch(path, options),
    discover: (group, version, options) => kube.discover(group, version, options),
    close: () => kube.close(),
    list: <T extends KubeObject>(type: ResourceType, options: ListOptions = {}) =>
      type.namespaced && options.namespace === undefined
        ? listEach<T>(kube, type, { options, namespaces })
        : kube.list<T>(type, options),
  };
}

interface Scope {
  readonly options: ListOptions;
  readonly namespaces: readonly string[];
}

/** Whoever asks for no pages gets none. */
const listEach = <T extends KubeObject>(kube: Kube, type: ResourceType, scope: Scope): Promise<ObjectList<T>> =>
  scope.options.limit === undefined && scope.options.continue === undefined
    ? listWhole(kube, type, scope)
    : listPage(kube, type, scope);

/** The version of a list is that of its oldest part: everything up to it is in the list. */
async function listWhole<T extends KubeObject>(
  kube: Kube,
  type: ResourceType,
  { options, namespaces }: Scope,
): Promise<ObjectList<T>> {
  const lists: ObjectList<T>[] = [];
  for (const namespace of namespaces) lists.push(await kube.list<T>(type, { ...options, namespace }));
  return { items: lists.flatMap(({ items }) => items), resourceVersion: lists[0]?.resourceVersion ?? "" };
}

/** A page is of one namespace; the token says of which, how old the list is, and how it goes on there. */
async function listPage<T extends KubeObject>(
  kube: Kube,
  type: ResourceType,
  { options, namespaces }: Scope,
): Promise<ObjectList<T>> {
  const { continue: text, ...rest } = options;
  const { index, version, token } = readToken(text);
  const namespace = namespaces[index] ?? "";
  const page = await kube.list<T>(type, { ...rest, namespace, ...(token !== "" && { continue: token }) });
  const { items } = page;
  const resourceVersion = version === "" ? page.resourceVersion : version;
  if (page.continue) return { items, resourceVersion, continue: `${index} ${resourceVersion} ${page.continue}` };
  const next = index + 1;
  return { items, resourceVersion, ...(next < namespaces.length && { continue: `${next} ${resourceVersion} ` }) };
}

function readToken(text = "0  "): { readonly index: number; readonly version: string; readonly token: string } {
  const [index = "", version = "", ...token] = text.split(" ");
  return { index: Number(index), version, token: token.join(" ") };
}
