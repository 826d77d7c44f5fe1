import { createRestartController } from "../../reconcile/restart/restart-controller.ts";
import { DEFAULT_RESTART_SETTINGS, type RestartSettings } from "../../reconcile/restart/restart-settings.ts";
import { workloadKinds } from "../../restart/workload-kinds.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { Tampering } from "../assembly.ts";
import type { Process } from "../process.ts";
import { settingsOf, wiring } from "../wired-controllers.ts";
import type { Surroundings as Around } from "../wired-kube.ts";
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
  const assembled = wiring(process, {
    surroundings,
    tampering,
    seed: 1 + surroundings.keysLost,
    seen: (object) => tampering.restarts?.seen?.(object, process) ?? object,
    isFresh: () => true,
    isHeard: (type) => workloadKinds.some((kind) => kind.type === type),
  });
  const settings = { ...settingsOf(process), namespace: OPERATOR_NAMESPACE, restart: RESTART };
  const reconcile = assembled(createRestartController(settings));
  const played = playWorkloads(process.kube, surroundings.sight);
  return async (key, signal) => {
    const [, name] = key.split("played ");
    if (name !== undefined) return played(name, signal);
    surroundings.taken(process);
    return reconcile(key, signal);
  };
}
