import { seededRandom } from "../../base/random.ts";
import { createRndcKeyController } from "../../reconcile/bind/rndc-key-controller.ts";
import type { ControllerSettings } from "../../reconcile/controller-settings.ts";
import { createRestartController } from "../../reconcile/restart/restart-controller.ts";
import { RestartKnowledge } from "../../reconcile/restart/restart-knowledge.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../reconcile/restart/restart-settings.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { Tampering } from "../assembly.ts";
import { FollowedCaches, following } from "../followed-caches.ts";
import type { Process } from "../process.ts";
import { playWorkloads, type Sight } from "../restarts/played.ts";
import { DRIFT_CHECK_MS } from "../scene.ts";
import { type Surroundings, wiredKube } from "../wired-kube.ts";

const NEVER_MS = 365 * 86_400_000;

export interface RingSurroundings extends Surroundings {
  /** No two processes draw the same. */
  readonly seed: number;
  /** Where pods are made from a workload, and restarted for another key. */
  readonly sight: Sight | undefined;
}

/**
 * The controller of RndcKeys as production puts it together, on what a process has; where pods are restarted for a key,
 * that of restarts too, and beside it those that make pods. Keys that begin with a kind are of workloads, and those that
 * begin with `played ` of whoever nobody tampers with.
 */
export function assembleRings(process: Process, surroundings: RingSurroundings, tampering: Tampering): Reconcile {
  const { clock, logger, watch } = process;
  const { sight } = surroundings;
  const followed = new FollowedCaches(watch);
  const tampered = tampering.kube?.(process.kube, process) ?? process.kube;
  const kube = following(wiredKube(tampered, surroundings), () => followed.follow());
  const settings = settingsOf(process, sight !== undefined);
  const send = tampering.rings?.send?.(process.rndc, process) ?? process.rndc;
  const assembled = (controller: Controller): Reconcile =>
    controller.createReconcile({
      kube,
      clock,
      logger,
      random: seededRandom(surroundings.seed),
      // Whatever happens, all are asked for here.
      enqueue: () => {},
      isFresh: () => !watch.isBehind,
      cacheOf: ({ source }) => followed.cacheOf(source),
    });
  const restarts = sight && assembled(createRestartController(settings));
  const keys = assembled(createRndcKeyController(settings, { send }));
  const played = sight && playWorkloads(process.kube, sight);
  return async (key, signal) => {
    const [, name] = key.split("played ");
    if (played && name !== undefined) return played(name, signal);
    followed.follow();
    return restarts && key.split("/").length > 2 ? restarts(key, signal) : keys(key, signal);
  };
}

const settingsOf = (process: Process, hasRestarts: boolean): ControllerSettings => ({
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
  ...(hasRestarts && { knowledge: new RestartKnowledge(DEFAULT_RESTART_SETTINGS) }),
});
