import { OWN_PREFIX } from "../../restart/annotations.ts";
import type { PaceSettings } from "../../restart/pace.ts";

/** What the restart controller is told by whoever runs the operator. */
export interface RestartSettings {
  /** Under which workloads opt in; `keyturn.dev` is always among them, first. */
  readonly prefixes: readonly string[];
  /** Reloader's annotations are read too. */
  readonly reloader: boolean;
  /** What counts where a workload's annotations say nothing else. */
  readonly defaults: PaceSettings;
  /** How many rollouts may be under way in the cluster, and in each namespace; 0: no cap. */
  readonly maxRollouts: number;
  readonly maxRolloutsPerNamespace: number;
  /** A restart that somebody reverts before it is over is begun again, once. */
  readonly beginsAgain: boolean;
}

export const DEFAULT_RESTART_SETTINGS: RestartSettings = {
  prefixes: [OWN_PREFIX],
  reloader: false,
  defaults: { pace: { quietMs: 5000, longestWaitMs: 60_000, leastIntervalMs: 0, perHour: 12 }, windows: [] },
  maxRollouts: 50,
  maxRolloutsPerNamespace: 10,
  beginsAgain: true,
};
