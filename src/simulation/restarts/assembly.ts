import { seededRandom } from "../../base/random.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { createRestartController } from "../../reconcile/restart/restart-controller.ts";
import { DEFAULT_RESTART_SETTINGS, type RestartSettings } from "../../reconcile/restart/restart-settings.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { Tampering } from "../assembly.ts";
import { FollowedCaches, following } from "../followed-caches.ts";
import type { Process } from "../process.ts";
import { type Surroundings as Around, wiredKube } from "../wired-kube.ts";
import { playWorkloads, type Sight } from "./played.ts";

/** What surrounds a process in the world of restarts. */
export interface Surroundings extends Around {
  readonly sight: Sight;
  /** The process takes another workload in hand. */
  taken(process: Process): void;
  /** How many keys of the digests were lost so far: the next one is another. */
  readonly keysLost: number;
}

export const OPERATOR_NAMESPACE = "default";
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
  const seen = (object: KubeObject): KubeObject => tampering.restarts?.seen?.(object, process) ?? object;
  const followed = new FollowedCaches(watch, seen);
  const tampered = tampering.kube?.(process.kube, process) ?? process.kube;
  const honest = wiredKube(tampered, surroundings);
  const kube = following({ ...honest, get: async (...input) => seen(await honest.get(...input)) as never }, () =>
    followed.follow(),
  );
  const controller = createRestartController({
    namespace: OPERATOR_NAMESPACE,
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
    random: seededRandom(1 + surroundings.keysLost),
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
