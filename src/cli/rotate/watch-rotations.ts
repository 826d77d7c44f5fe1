import { type Logger, silentLogger } from "../../base/logger.ts";
import { createListWatch } from "../../kube/list-watch.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type Delta, ResourceCache } from "../../kube/resource-cache.ts";
import type { Output } from "../command.ts";
import type { ClusterCall } from "../open-cluster.ts";
import type { KindSelection } from "../resources/fetch-resources.ts";

export interface RotationWatchOptions {
  readonly call: ClusterCall;
  readonly selections: readonly KindSelection[];
  /** A resource has a new state; undefined when it is gone. */
  readonly onState: (uid: string, object: KubeObject | undefined) => void;
}

/** Watches the resources of a command until it is closed; survives what the operator's own watches survive. */
export class RotationWatch {
  readonly #stop = new AbortController();
  readonly #synced: readonly Promise<void>[];

  constructor({ call, selections, onState }: RotationWatchOptions) {
    const { kube, world } = call;
    const { clock, random } = world;
    const told = ({ uid, object }: { uid: string; object: KubeObject | undefined }): void => onState(uid, object);
    const synced: Promise<void>[] = [];
    const watches = selections.map(({ kind, selection }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      synced.push(promise);
      return createListWatch({
        kube,
        type: kind.type,
        clock,
        random,
        logger: tellTrouble(world.stderr),
        cache: new ResourceCache<KubeObject>(),
        selection,
        onDelta: (delta: Delta<KubeObject>) => told(stateIn(delta)),
        onSynced: resolve,
        // A kind that the cluster does not know has nothing that could change.
        observer: { onServed: (isServed) => isServed || resolve() },
      });
    });
    this.#synced = synced;
    for (const watch of watches) void watch.run(this.#stop.signal);
  }

  /** Resolves once nothing that happens from now on can be missed. */
  async started(): Promise<void> {
    await Promise.all(this.#synced);
  }

  close(): void {
    this.#stop.abort();
  }
}

/** Of all that a watch goes through, what does not pass by itself is worth a line. */
function tellTrouble(stderr: Output): Logger {
  const logger: Logger = {
    ...silentLogger,
    warn: (message, { error } = {}) => stderr.write(`keyturn: ${message}: ${error}\n`),
    with: () => logger,
  };
  return logger;
}

function stateIn(delta: Delta<KubeObject>): { uid: string; object: KubeObject | undefined } {
  return delta.type === "deleted"
    ? { uid: delta.old.uid, object: undefined }
    : { uid: delta.entry.uid, object: delta.entry.record };
}
