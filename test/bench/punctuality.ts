import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { parseDuration } from "../../src/base/duration.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createListWatch } from "../../src/kube/list-watch.ts";
import type { Kube } from "../../src/kube/port.ts";
import { ResourceCache } from "../../src/kube/resource-cache.ts";
import { type BindingObject, createdAt } from "./many-bindings.ts";

/**
 * Notes when the first rotation of each binding begins, as a watch shows it: the intent in the status, compared with the
 * instant at which it was due. What it tells is therefore too late rather than too early, by the way to the server and
 * back. Must not: keep the objects, of which there are many.
 */
export class LatenessWatch {
  readonly latenessMs = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #synced = Promise.withResolvers<void>();
  readonly #clock: Clock;

  constructor(kube: Kube, clock: Clock = systemClock) {
    this.#clock = clock;
    const listWatch = createListWatch({
      kube,
      type: serviceBinding,
      clock,
      random: systemRandom,
      logger: silentLogger,
      cache: new ResourceCache<undefined>(),
      transform: (object) => this.#see(object as BindingObject),
      onDelta: () => {},
      onSynced: () => this.#synced.resolve(),
    });
    this.#running = listWatch.run(this.#stopping.signal);
  }

  /** Resolves when it watches. */
  async synced(): Promise<void> {
    await this.#synced.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #see(binding: BindingObject): undefined {
    const { name } = binding.metadata;
    const { status, spec } = binding;
    const bornAt = createdAt(binding);
    if (!status?.pending || !spec.rotation || Number.isNaN(bornAt) || this.latenessMs.has(name)) return;
    this.latenessMs.set(name, this.#clock.now() - bornAt - parseDuration(spec.rotation.frequency));
  }
}

/** The value that so many of all do not exceed: the nearest-rank percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
