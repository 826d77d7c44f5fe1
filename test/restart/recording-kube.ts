import type { ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";

/** Notes every right that a call needs, as `verb group/plural`. */
export function recordingKube(kube: Kube, calls: Set<string>): Kube {
  const note = (verb: string, { group, plural }: ResourceType): void => {
    calls.add(`${verb} ${group}/${plural}`);
  };
  return {
    get: (type, ref, options) => {
      note("get", type);
      return kube.get(type, ref, options);
    },
    list: (type, options) => {
      note("list", type);
      return kube.list(type, options);
    },
    watch: (type, options) => {
      // Where a server does not know how to begin a watch with what is there, a list comes before it.
      note("list", type);
      note("watch", type);
      return kube.watch(type, options);
    },
    create: (type, object, options) => {
      note("create", type);
      return kube.create(type, object, options);
    },
    replace: (type, object, options) => {
      note("update", type);
      return kube.replace(type, object, options);
    },
    patch: (type, ref, patch, options) => {
      note("patch", type);
      return kube.patch(type, ref, patch, options);
    },
    delete: (type, ref, options) => {
      note("delete", type);
      return kube.delete(type, ref, options);
    },
    fetch: (path, options) => kube.fetch(path, options),
    discover: (group, version, options) => kube.discover(group, version, options),
    close: () => kube.close(),
  };
}
