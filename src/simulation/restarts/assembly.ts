import { seededRandom } from "../../base/random.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { type Entry, ResourceCache } from "../../kube/resource-cache.ts";
import { createRestartController } from "../../reconcile/restart/restart-controller.ts";
import { DEFAULT_RESTART_SETTINGS, type RestartSettings } from "../../reconcile/restart/restart-settings.ts";
import type { Source } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { Tampering } from "../assembly.ts";
import type { Process } from "../process.ts";
import type { WatchView } from "../watch-view.ts";
import { playWorkloads, type Sight } from "./played.ts";

/** What surrounds a process in the world of restarts. */
export interface Surroundings {
  /** The API itself, for what is read once and never changes. */
  readonly kube: Kube;
  readonly sight: Sight;
  /** The process takes another workload in hand. */
  taken(process: Process): void;
  /** Whatever it says to people. */
  said(text: string): void;
}

/** More restarts within an hour than this are a fight. */
export const MOST_PER_HOUR = 3;
const NEVER_MS = 365 * 86_400_000;

const RESTART: RestartSettings = {
  ...DEFAULT_RESTART_SETTINGS,
  defaults: {
    ...DEFAULT_RESTART_SETTINGS.defaults,
    pace: { ...DEFAULT_RESTART_SETTINGS.defaults.pace, perHour: MOST_PER_HOUR },
  },
  // One after the other.
  maxRolloutsPerNamespace: 1,
};

/**
 * The restart controller as production puts it together, on what a process has, and beside it those that make pods, which
 * nobody tampers with. A key that begins with `played ` is theirs.
 */
export function assembleRestarts(process: Process, surroundings: Surroundings, tampering: Tampering): Reconcile {
  const { clock, logger, watch } = process;
  const seen: Seen = (object) => tampering.restarts?.seen?.(object, process) ?? object;
  const followed = new FollowedCaches(watch, seen);
  const tampered = tampering.kube?.(process.kube, process) ?? process.kube;
  const honest = talking(identified(tampered, surroundings), surroundings);
  const kube = following({ ...honest, get: async (...input) => seen(await honest.get(...input)) as never }, () =>
    followed.follow(),
  );
  const controller = createRestartController({
    namespace: "default",
    instance: process.name,
    http: process.http,
    isSkewed: () => process.isSkewed,
    minFrequencyMs: NEVER_MS,
    minRotateAfterMs: NEVER_MS,
    driftCheckMs: NEVER_MS,
    childCheckMs: NEVER_MS,
    sweepMs: NEVER_MS,
    settleMs: NEVER_MS,
    overdueStartsPerSecond: 1,
    restart: RESTART,
  });
  const reconcile = controller.createReconcile({
    kube,
    clock,
    logger,
    random: seededRandom(1),
    // Whatever happens, all are asked for here.
    enqueue: () => {},
    isFresh: () => true,
    cacheOf: ({ source }) => followed.cacheOf(source),
  });
  const played = playWorkloads(process.kube, surroundings.sight);
  return async (key, signal) => {
    const [, name] = key.split("played ");
    if (name !== undefined) return played(name, signal);
    followed.follow();
    surroundings.taken(process);
    return reconcile(key, signal);
  };
}

type Seen = (object: KubeObject) => KubeObject;

/** Caches that know what the watches of a process have told it. */
class FollowedCaches {
  readonly #watch: WatchView;
  readonly #seen: Seen;
  readonly #caches = new Map<unknown, { readonly cache: unknown; follow(): void }>();
  #position = "";

  constructor(watch: WatchView, seen: Seen) {
    this.#watch = watch;
    this.#seen = seen;
  }

  cacheOf<R>(source: Source<R>): ResourceCache<R> {
    const known = this.#caches.get(source);
    if (known) return known.cache as ResourceCache<R>;
    const { indexes } = source;
    const cache = new ResourceCache<R>(indexes ? { indexes } : {});
    const records = new WeakMap<KubeObject, Entry<R>>();
    const follow = (): void => {
      const entries = this.#watch.list(source.type).flatMap((object) => {
        const entry = records.get(object) ?? this.#entryOf(source, object);
        if (entry) records.set(object, entry);
        return entry ?? [];
      });
      for (const delta of cache.deltasOfReplacement(new Map(entries.map((entry) => [entry.key, entry]))))
        cache.apply(delta);
      cache.advance(this.#watch.position);
    };
    this.#caches.set(source, { cache, follow });
    return cache;
  }

  /** As far as the watches have come. */
  follow(): void {
    if (this.#position === this.#watch.position) return;
    this.#position = this.#watch.position;
    for (const { follow } of this.#caches.values()) follow();
  }

  #entryOf<R>(source: Source<R>, stored: KubeObject): Entry<R> | undefined {
    const object = this.#seen(stored);
    const { apiVersion, kind, metadata } = object;
    const record = source.record(source.metadataOnly ? { apiVersion, kind, metadata } : object);
    const { namespace, name, uid = "", resourceVersion = "" } = metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    return record === undefined ? undefined : { key, uid, resourceVersion, record };
  }
}

/** Watches tell while a call is under way. */
function following(kube: Kube, follow: () => void): Kube {
  const then = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } finally {
      follow();
    }
  };
  return {
    ...kube,
    get: (type, ref, options) => then(kube.get(type, ref, options)),
    list: (type, options) => then(kube.list(type, options)),
    patch: (type, ref, patch, options) => then(kube.patch(type, ref, patch, options)),
    delete: (type, ref, options) => then(kube.delete(type, ref, options)),
  };
}

/** Nobody waits for an event to be written, so nothing can happen to it that matters. */
const talking = (kube: Kube, { said }: Surroundings): Kube => ({
  ...kube,
  create: async (type, object, options) => {
    if (type.kind !== "Event") return kube.create(type, object, options);
    said(JSON.stringify(object));
    return object as never;
  },
});

const isIdentity = (kind: string, name: string | undefined): boolean =>
  kind === "Namespace" || name === "keyturn-fingerprint-key";

/** Which cluster it is, and the key of its digests. */
const identified = (kube: Kube, { kube: direct }: Surroundings): Kube => ({
  ...kube,
  get: (type, ref, options) => (isIdentity(type.kind, ref.name) ? direct : kube).get(type, ref, options),
  create: (type, object, options) =>
    (isIdentity(type.kind, object.metadata.name) ? direct : kube).create(type, object, options),
});
