import { type Clock, delay } from "../../src/base/clock.ts";
import type { Kube } from "../../src/kube/port.ts";

/** What is written through it arrives late, by these lengths in turns: long after what it was decided on. */
export function lateKube(kube: Kube, clock: Clock, lateMs: readonly number[]): Kube {
  let writes = 0;
  const late = <T>(write: () => Promise<T>): Promise<T> =>
    delay(clock, lateMs[writes++ % lateMs.length] ?? 0).then(write);
  return {
    list: (type, options) => kube.list(type, options),
    watch: (type, options) => kube.watch(type, options),
    get: (type, ref, options) => kube.get(type, ref, options),
    create: (type, object, options) => kube.create(type, object, options),
    replace: (type, object, options) => kube.replace(type, object, options),
    fetch: (path, options) => kube.fetch(path, options),
    discover: (group, version, options) => kube.discover(group, version, options),
    close: () => kube.close(),
    patch: (type, ref, patch, options) => late(() => kube.patch(type, ref, patch, options)),
    delete: (type, ref, options) => late(() => kube.delete(type, ref, options)),
  };
}
