import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createListWatch } from "../../src/kube/list-watch.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { type Delta, ResourceCache } from "../../src/kube/resource-cache.ts";
import { digestsAnnotation, OWN_PREFIX } from "../../src/restart/annotations.ts";
import { deploymentType, kindOf } from "../../src/restart/workload-kinds.ts";
import { PATIENCE_MS } from "./bench-flags.ts";

interface Waiter {
  readonly namespace: string;
  readonly count: number;
  readonly reached: () => void;
}

/**
 * Counts the restarts of Deployments, namespace by namespace, as a watch shows them. What it tells is therefore too late
 * rather than too early, by the way back from the server.
 */
export class RollWatch {
  readonly #counts = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  readonly #stopping = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  readonly #running: Promise<void>;

  constructor(kube: Kube) {
    const listWatch = createListWatch<string>({
      kube,
      type: deploymentType,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      cache: new ResourceCache<string>(),
      transform: rolledOut,
      onDelta: (delta) => this.#see(delta),
      onSynced: () => this.#synced.resolve(),
    });
    this.#running = listWatch.run(this.#stopping.signal);
  }

  /** Resolves when it watches. */
  async synced(): Promise<void> {
    await this.#synced.promise;
  }

  /** How many restarts it has seen in the namespace. */
  count(namespace: string): number {
    return this.#counts.get(namespace) ?? 0;
  }

  /** Resolves when it has seen so many; in vain only for so long. */
  async until(namespace: string, count: number): Promise<void> {
    if (this.count(namespace) >= count) return;
    const { promise, resolve: reached, reject } = Promise.withResolvers<void>();
    const giveUp = (): void =>
      reject(new Error(`not within ${PATIENCE_MS / 1000} s: ${count} restarts in ${namespace}`));
    const patience = setTimeout(giveUp, PATIENCE_MS);
    this.#waiters.add({ namespace, count, reached });
    await promise.finally(() => clearTimeout(patience));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #see(delta: Delta<string>): void {
    if (delta.type !== "updated" || delta.old.record === delta.entry.record) return;
    const namespace = delta.key.slice(0, delta.key.indexOf("/"));
    this.#counts.set(namespace, this.count(namespace) + 1);
    for (const waiter of this.#waiters) {
      if (waiter.namespace !== namespace || this.count(namespace) < waiter.count) continue;
      this.#waiters.delete(waiter);
      waiter.reached();
    }
  }
}

/** What the pod template says that it was last restarted for. */
const rolledOut = (deployment: KubeObject): string =>
  kindOf(deploymentType.kind)?.templateOf(deployment).annotations[digestsAnnotation(OWN_PREFIX)] ?? "";
