import type { ResourceType } from "../../src/kube/objects.ts";
import type { Kube, Selection } from "../../src/kube/port.ts";

/** A cluster as if one namespace were all that is in it: stories that are told there at the same time do not meet. */
export function inNamespace(kube: Kube, namespace: string): Kube {
  const narrowed = <O extends Selection>(type: ResourceType, options: O): O => {
    if (type.namespaced) return { ...options, namespace };
    return type.kind === "Namespace" ? { ...options, fieldSelector: `metadata.name=${namespace}` } : options;
  };
  return {
    list: (type, options = {}) => kube.list(type, narrowed(type, options)),
    watch: (type, options) => kube.watch(type, narrowed(type, options)),
    get: (type, ref, options) => kube.get(type, ref, options),
    create: (type, object, options) => kube.create(type, object, options),
    replace: (type, object, options) => kube.replace(type, object, options),
    patch: (type, ref, patch, options) => kube.patch(type, ref, patch, options),
    delete: (type, ref, options) => kube.delete(type, ref, options),
    fetch: (path, options) => kube.fetch(path, options),
    discover: (group, version, options) => kube.discover(group, version, options),
    close: () => kube.close(),
  };
}
