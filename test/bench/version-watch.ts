import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createListWatch } from "../../src/kube/list-watch.ts";
import { type KubeObject, keyOf } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { recordOf } from "../../src/kube/record.ts";
import { type Delta, ResourceCache } from "../../src/kube/resource-cache.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { PATIENCE_MS } from "./bench-flags.ts";
import { versionsIn, versionText } from "./bound-services.ts";

/**
 * Tells when each of these Secrets says one version of the credentials, wholly: once for a binding, once for each service
 * in VCAP_SERVICES. It goes by a watch, and is therefore too late rather than too early. Must not: keep the Secrets.
 */
export class VersionWatch {
  readonly #times: ReadonlyMap<string, number>;
  readonly #versions = new Map<string, string>();
  readonly #stopping = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #goal: { readonly version: string; left: number; readonly reached: () => void } | undefined;

  constructor(kube: Kube, times: ReadonlyMap<string, number>) {
    this.#times = times;
    const listWatch = createListWatch<string>({
      kube,
      type: secretType,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      cache: new ResourceCache<string>(),
      transform: (secret) => this.#versionOf(secret),
      onDelta: (delta) => this.#see(delta),
      onSynced: () => this.#synced.resolve(),
    });
    this.#running = listWatch.run(this.#stopping.signal);
  }

  /** Resolves when it watches. */
  async synced(): Promise<void> {
    await this.#synced.promise;
  }

  /** Resolves when all say this version; in vain only for so long. */
  async until(number: number): Promise<void> {
    const version = versionText(number);
    const left = [...this.#times.keys()].filter((key) => this.#versions.get(key) !== version).length;
    if (left === 0) return;
    const { promise, resolve: reached, reject } = Promise.withResolvers<void>();
    const goal = { version, left, reached };
    this.#goal = goal;
    const giveUp = (): void => reject(new Error(`${goal.left} Secrets without ${version} after ${PATIENCE_MS} ms`));
    const patience = setTimeout(giveUp, PATIENCE_MS);
    await promise.finally(() => clearTimeout(patience));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Undefined for those that are not meant; empty where it is mixed, or something is missing. */
  #versionOf({ metadata, data }: KubeObject): string | undefined {
    const times = this.#times.get(keyOf(metadata));
    if (times === undefined) return undefined;
    const { password, VCAP_SERVICES: services } = recordOf(data);
    const said = versionsIn(Buffer.from(String(password ?? services ?? ""), "base64").toString());
    const [first = ""] = said;
    return said.length === times && said.every((version) => version === first) ? first : "";
  }

  #see(delta: Delta<string>): void {
    const version = delta.type === "deleted" ? "" : delta.entry.record;
    const before = this.#versions.get(delta.key);
    this.#versions.set(delta.key, version);
    const goal = this.#goal;
    if (goal === undefined || before === version) return;
    if (version === goal.version) goal.left--;
    else if (before === goal.version) goal.left++;
    if (goal.left === 0) goal.reached();
  }
}
