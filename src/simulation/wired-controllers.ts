import { seededRandom } from "../base/random.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { ControllerSettings } from "../reconcile/controller-settings.ts";
import { DEFAULT_RESTART_SETTINGS } from "../reconcile/restart/restart-settings.ts";
import type { Controller } from "../runtime/controller.ts";
import type { Reconcile } from "../runtime/workers.ts";
import type { Tampering } from "./assembly.ts";
import { FollowedCaches, following } from "./followed-caches.ts";
import type { Process } from "./process.ts";
import { DRIFT_CHECK_MS } from "./scene.ts";
import { type Surroundings, wiredKube } from "./wired-kube.ts";

interface Wiring {
  readonly surroundings: Surroundings;
  readonly tampering: Tampering;
  /** What controllers draw from. */
  readonly seed: number;
  /** Objects, as live reads and watches tell of them. */
  readonly seen?: (object: KubeObject) => KubeObject;
  readonly isFresh?: () => boolean;
  /** Kinds of which a controller is told every change by itself, as far as it is known. */
  readonly isHeard?: (type: ResourceType) => boolean;
}

/** Makes controllers as production does, on what a process has: their caches know what its watches have told. */
export function wiring(process: Process, options: Wiring): (controller: Controller) => Reconcile {
  const { surroundings, tampering, seed, seen, isFresh = () => !process.watch.isBehind, isHeard } = options;
  const { clock, logger, watch } = process;
  const followed = new FollowedCaches(watch, seen);
  const tampered = tampering.kube?.(process.kube, process) ?? process.kube;
  const kube = following(seeing(wiredKube(tampered, surroundings), seen), () => followed.follow());
  return (controller) => {
    const reconcile = controller.createReconcile({
      kube,
      clock,
      logger,
      random: seededRandom(seed),
      // Whatever happens, all are asked for here.
      enqueue: () => {},
      lookBy: process.lookBy,
      isFresh,
      cacheOf: (watch) => {
        // What follows from a change is asked for anyway; what a controller sees in it counts.
        const heard = isHeard?.(watch.source.type)
          ? (delta: Parameters<typeof watch.keysOf>[0]) => void watch.keysOf(delta)
          : undefined;
        return followed.cacheOf(watch.source, heard);
      },
    });
    return (key, signal) => {
      followed.follow();
      return reconcile(key, signal);
    };
  };
}

const seeing = (kube: Kube, seen: Wiring["seen"]): Kube =>
  seen ? { ...kube, get: async (...input) => seen(await kube.get(...input)) as never } : kube;

const NEVER_MS = 365 * 86_400_000;

/** What the controllers of a process are told, where it does not matter to what is simulated. */
export const settingsOf = (process: Process): ControllerSettings => ({
  namespace: "default",
  instance: process.name,
  http: process.http,
  isSkewed: () => process.isSkewed,
  minFrequencyMs: 0,
  minRotateAfterMs: 0,
  driftCheckMs: DRIFT_CHECK_MS,
  childCheckMs: NEVER_MS,
  sweepMs: NEVER_MS,
  settleMs: NEVER_MS,
  overdueStartsPerSecond: 1000,
  restart: DEFAULT_RESTART_SETTINGS,
});
