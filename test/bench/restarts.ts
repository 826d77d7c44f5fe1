import { type FanOutSizes, measureFanOut } from "./fan-out.ts";
import type { Findings } from "./figures.ts";
import { inRealWorld } from "./real-server.ts";
import { RestartWorld } from "./restart-world.ts";
import { measureScale, type ScaleSizes } from "./restarts-at-scale.ts";

export type RestartSizes = FanOutSizes & ScaleSizes;

export const FULL_SIZES: RestartSizes = {
  ...{ fanOut: 200, crowd: 500, lone: 20, rounds: 5 },
  ...{ workloads: 10_000, secrets: 4_000, unused: 100, starts: 3 },
  // An idle operator gives memory back at most every fifteen seconds.
  restMs: 20_000,
};

/** Enough to see that everything is measured; too little for the goals to mean anything. */
export const SMALL_SIZES: RestartSizes = {
  ...{ fanOut: 40, crowd: 100, lone: 5, rounds: 1 },
  ...{ workloads: 200, secrets: 80, unused: 10, starts: 1 },
  restMs: 500,
};

/** What is measured, part by part; each on a control plane that nobody has used before. */
export const restartParts: Readonly<Record<string, (world: RestartWorld, sizes: RestartSizes) => Promise<Findings>>> = {
  "fan-out": measureFanOut,
  scale: measureScale,
};

/** A part on a real control plane, with what `npm run build` made; everything is taken down again. */
export async function measureRestarts(part: string, sizes: RestartSizes): Promise<Findings> {
  const measure = restartParts[part];
  if (!measure) throw new Error(`there is no part "${part}"`);
  return inRealWorld(RestartWorld.open, (world) => measure(world, sizes));
}
