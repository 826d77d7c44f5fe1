import { providerConfig } from "../api/btp/provider-config.ts";
import { serviceBinding } from "../api/btp/service-binding.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Controller, Watch } from "../runtime/controller.ts";

/** What is kept of an object: enough to know which state of it was seen. */
interface Seen {
  readonly generation: number;
  readonly isDeleting: boolean;
}

const seen = ({ metadata }: KubeObject): Seen => ({
  generation: metadata.generation ?? 0,
  isDeleting: metadata.deletionTimestamp !== undefined,
});

const bindings: Watch = { type: serviceBinding, record: seen, keysOf: ({ key }) => [key] };
const configurations: Watch = { type: providerConfig, record: seen, keysOf: () => [] };

/**
 * BTP service bindings. This version observes: it keeps up with every binding and says in its log what it saw, and makes
 * or changes nothing, neither in the cluster nor at the Service Manager.
 */
export const btpController: Controller = {
  name: "btp",
  watches: [bindings, configurations],
  createReconcile: ({ cacheOf, logger }) => {
    const cache = cacheOf(bindings);
    return async (key) => {
      const record = cache.get(key);
      logger.info(record === undefined ? "binding is gone" : "binding observed", {
        key,
        ...(record as Seen | undefined),
      });
      return { kind: "settled" };
    };
  },
};
