import { korifiControllers } from "../../reconcile/korifi/korifi-controllers.ts";
import type { Reconcile } from "../../runtime/workers.ts";
import type { Tampering } from "../assembly.ts";
import type { Process } from "../process.ts";
import { settingsOf, wiring } from "../wired-controllers.ts";
import type { Surroundings } from "../wired-kube.ts";

/**
 * The controllers of service credentials as production puts them together, on what a process has. Keys are those of the
 * world: the name of a controller, and a place.
 */
export function assembleApps(process: Process, surroundings: Surroundings, tampering: Tampering): Reconcile {
  const seen = tampering.apps?.seen;
  const assembled = wiring(process, { surroundings, tampering, seed: 1, ...(seen && { seen }) });
  const settings = { ...settingsOf(process), korifi: "on" } as const;
  const reconciles = new Map(korifiControllers.map(({ name, create }) => [name, assembled(create(settings))]));
  return async (key, signal) => {
    const [controller = "", place = ""] = key.split(" ");
    const reconcile = reconciles.get(controller);
    if (!reconcile) throw new RangeError(`nobody reconciles ${key}`);
    return reconcile(place, signal);
  };
}
