import { type Clock, systemClock } from "../../src/base/clock.ts";
import { parseDuration } from "../../src/base/duration.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createListWatch } from "../../src/kube/list-watch.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { ResourceCache } from "../../src/kube/resource-cache.ts";
import type { Family } from "../families/family.ts";
import type { Place } from "./many-bindings.ts";

/**
 * Notes when the first rotation of each binding begins and ends, as a watch shows it: the intent in the status, and the
 * next key being the active one, both compared with the instant at which the rotation was due. What it tells is therefore
 * too late rather than too early, by the way to the server and back. Must not: keep the objects, of which there are many.
 */
export class LatenessWatch {
  /** From due to begun, by name. */
  readonly latenessMs = new Map<string, number>();
  /** From due to done, by name. */
  readonly doneMs = new Map<string, number>();
  readonly #underWay = new Map<string, { readonly sequence: number; readonly dueAt: number }>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #synced = Promise.withResolvers<void>();
  readonly #clock: Clock;
  readonly #family: Family;

  constructor({ kube, family }: Place, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#family = family;
    const listWatch = createListWatch({
      kube,
      type: family.type,
      clock,
      random: systemRandom,
      logger: silentLogger,
      cache: new ResourceCache<undefined>(),
      transform: (object) => this.#see(object),
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

  #see(binding: KubeObject): undefined {
    const { name } = binding.metadata;
    const status = this.#family.readStatus(binding);
    const rotation = this.#family.readRotation(binding);
    const begun = this.#underWay.get(name);
    if (begun && !status.isPending && status.sequence >= begun.sequence && !this.doneMs.has(name)) {
      this.doneMs.set(name, this.#clock.now() - begun.dueAt);
    }
    if (!status.isPending || !rotation || Number.isNaN(status.createdAt) || begun) return;
    const dueAt = status.createdAt + parseDuration(rotation.frequency);
    this.#underWay.set(name, { sequence: status.sequence, dueAt });
    this.latenessMs.set(name, this.#clock.now() - dueAt);
  }
}

/** The value that so many of all do not exceed: the nearest-rank percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
