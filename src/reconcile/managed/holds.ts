import type { ResourceCache } from "../../kube/resource-cache.ts";
import type { ControllerContext, Source, Watch } from "../../runtime/controller.ts";
import type { Known } from "./rest.ts";

/**
 * Which resources keep keys because of which workloads, so that a change of one leads to the others at once. In memory
 * alone: whoever forgets it asks again within a minute. Must not: decide whether a workload has moved on.
 */
export class Holds {
  readonly #workloadsOf = new Map<string, ReadonlySet<string>>();
  readonly #holdersOf = new Map<string, Set<string>>();
  readonly #versionOf: (workload: string) => string | undefined;

  /** `versionOf` tells the resourceVersion of a workload, as far as a watch knows. */
  constructor(versionOf: (workload: string) => string | undefined = () => undefined) {
    this.#versionOf = versionOf;
  }

  /** From now on the resource keeps keys because of these, such as `Deployment shop/web`, and of no others. */
  note(key: string, workloads: Iterable<string>): void {
    for (const workload of this.#workloadsOf.get(key) ?? []) {
      const holders = this.#holdersOf.get(workload);
      holders?.delete(key);
      if (holders?.size === 0) this.#holdersOf.delete(workload);
    }
    const noted = new Set(workloads);
    if (noted.size === 0) this.#workloadsOf.delete(key);
    else this.#workloadsOf.set(key, noted);
    for (const workload of noted) {
      const holders = this.#holdersOf.get(workload) ?? new Set();
      this.#holdersOf.set(workload, holders.add(key));
    }
  }

  /** The resources that keep keys because of a workload. */
  holdersOf(workload: string): readonly string[] {
    return [...(this.#holdersOf.get(workload) ?? [])];
  }

  /** Differs when one of the workloads that a resource waits for has changed. */
  version(key: string): string {
    const workloads = [...(this.#workloadsOf.get(key) ?? [])];
    return workloads.map((workload) => `${workload} ${this.#versionOf(workload) ?? ""}`).join();
  }
}

/** A workload that has changed is a reason to look again. */
export const knownWithHolds = (known: Known, holds: Holds): Known => ({
  resource: (key) => known.resource(key),
  secret: (address) => known.secret(address),
  secretPosition: () => known.secretPosition(),
  ...(known.seesSecrets !== undefined && { seesSecrets: known.seesSecrets }),
  inputs: (key) => `${known.inputs(key)} ${holds.version(key)}`,
});

const describe = (kind: string, key: string): string => `${kind} ${key}`;

/** Watches of workloads, shared with the restart controller, that wake whoever keeps a key because of one. */
export class WorkloadWatches {
  readonly watches: readonly Watch[];
  readonly #caches: { readonly kind: string; readonly cache: ResourceCache<unknown> }[] = [];
  readonly holds: Holds = new Holds((workload) => this.#versionOf(workload));

  /** Without knowledge nobody is waited for, and nothing is watched. */
  constructor(knowledge: { readonly workloads: readonly Source[] } | undefined) {
    this.watches = (knowledge?.workloads ?? []).map((source) => ({
      source,
      keysOf: ({ key }) => this.holds.holdersOf(describe(source.type.kind, key)),
      // Keys are rotated whether workloads may be watched or not.
      isHint: true,
    }));
  }

  /** Once the caches exist. */
  use(context: Pick<ControllerContext, "cacheOf">): void {
    for (const watch of this.watches)
      this.#caches.push({ kind: watch.source.type.kind, cache: context.cacheOf(watch) });
  }

  #versionOf(workload: string): string | undefined {
    const space = workload.indexOf(" ");
    const [kind, key] = [workload.slice(0, space), workload.slice(space + 1)];
    return this.#caches.find((one) => one.kind === kind)?.cache.entry(key)?.resourceVersion;
  }
}
