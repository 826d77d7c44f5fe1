import { createRndcKeyController } from "../../reconcile/bind/rndc-key-controller.ts";
import { createRestartController } from "../../reconcile/restart/restart-controller.ts";
import { RestartKnowledge } from "../../reconcile/restart/restart-knowledge.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../reconcile/restart/restart-settings.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { Tampering } from "../assembly.ts";
import type { Process } from "../process.ts";
import { playWorkloads, type Sight } from "../restarts/played.ts";
import { settingsOf, wiring } from "../wired-controllers.ts";
import type { Surroundings } from "../wired-kube.ts";

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
  const { sight, seed } = surroundings;
  const assembled = wiring(process, { surroundings, tampering, seed });
  const knowledge = sight && new RestartKnowledge(DEFAULT_RESTART_SETTINGS);
  const settings = { ...settingsOf(process), ...(knowledge && { knowledge }) };
  const send = tampering.rings?.send?.(process.rndc, process) ?? process.rndc;
  const restarts = sight && assembled(createRestartController(settings));
  const keys = assembled(createRndcKeyController(settings, { send }));
  const played = sight && playWorkloads(process.kube, sight);
  return async (key, signal) => {
    const [, name] = key.split("played ");
    if (played && name !== undefined) return played(name, signal);
    return restarts && key.split("/").length > 2 ? restarts(key, signal) : keys(key, signal);
  };
}
