import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createListWatch } from "../../src/kube/list-watch.ts";
import { type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { ResourceCache } from "../../src/kube/resource-cache.ts";
import { isOlder } from "../../src/kube/resource-version.ts";
import { eventually } from "../support/eventually.ts";

/**
 * The objects of one kind as a watch shows them, so that stories can look as often as they like and cost the server
 * nothing. Tells of every state that an object was in. Must not: be asked what is there right now; only what was.
 */
export class Mirror {
  readonly #cache = new ResourceCache<KubeObject>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #synced: Promise<void>;

  constructor(kube: Kube, type: ResourceType, onState: (object: KubeObject) => void) {
    const synced = Promise.withResolvers<void>();
    this.#synced = synced.promise;
    const listWatch = createListWatch({
      kube,
      type,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      cache: this.#cache,
      onDelta: (delta) => {
        if (delta.type !== "deleted") onState(delta.entry.record);
      },
      onSynced: () => synced.resolve(),
    });
    this.#running = listWatch.run(this.#stopping.signal);
  }

  /** Resolves when everything there is has been seen. */
  async synced(): Promise<void> {
    await this.#synced;
  }

  /** Resolves when the mirror shows this state of an object or a later one: a story must see what it has done itself. */
  async shows({ metadata }: KubeObject): Promise<void> {
    const { resourceVersion = "" } = metadata;
    await eventually(`the watch to show version ${resourceVersion} of ${metadata.name}`, async () => {
      return !isOlder(this.#cache.position, resourceVersion) || undefined;
    });
  }

  get(ref: ObjectRef): KubeObject | undefined {
    return this.#cache.get(keyOf(ref));
  }

  list(): readonly KubeObject[] {
    return this.#cache.list();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
