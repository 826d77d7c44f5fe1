import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../support/eventually.ts";
import { changeRotation, createBindings, indexOf, inMs, listBindings, NOT_YET } from "./many-bindings.ts";
import { LatenessWatch, percentile } from "./punctuality.ts";
import { between, type RequestCounts, type RequestMeter, sandboxMeter } from "./request-counts.ts";
import type { RotationWorld } from "./rotation-world.ts";

export interface SpreadOutOptions {
  readonly count: number;
  /** From the change of the policies to the first due time: they must be in force by then. */
  readonly leadMs: number;
  /** From the first due time to the last. */
  readonly spreadMs: number;
  /** How long requests are counted while nothing is due. */
  readonly quietMs: number;
  readonly patienceMs: number;
  readonly kubeMeter: RequestMeter;
  /** The service instance of a binding, where it is not the one that all have. */
  readonly instanceOf?: (index: number) => string | undefined;
  /** When all is made and at rest, before the quiet time. */
  readonly onAtRest?: () => Promise<void>;
  /** When the quiet time is over, before the policies are changed. */
  readonly onQuietOver?: () => Promise<void>;
}

export interface SpreadOutResult {
  /** From the due time to when the intent was seen, over all bindings. */
  readonly lateness: {
    readonly count: number;
    readonly minMs: number;
    readonly medianMs: number;
    readonly p99Ms: number;
    readonly p999Ms: number;
    readonly maxMs: number;
  };
  /** What was asked for while nothing was due. */
  readonly quiet: { readonly kube: RequestCounts; readonly outside: RequestCounts };
}

const HOUR_MS = 3_600_000;

/** Bindings at rest, while what is asked for is counted; then they become due one after the other, evenly. */
export async function measureSpreadOut(world: RotationWorld, options: SpreadOutOptions): Promise<SpreadOutResult> {
  const { count, spreadMs, quietMs, patienceMs, kubeMeter, instanceOf } = options;
  await createBindings(world, { from: 0, count, rotationOf: () => NOT_YET, ...(instanceOf && { instanceOf }) });
  await world.untilHealthy(count, patienceMs);
  await world.untilIdle(patienceMs);
  await options.onAtRest?.();
  const quiet = await countQuietly(world, kubeMeter, quietMs);
  await options.onQuietOver?.();
  await spreadDueTimes(world, options);
  const latenessMs = await latenessOf(world, count, spreadMs + patienceMs);
  return { lateness: summary(latenessMs), quiet };
}

async function spreadDueTimes(world: RotationWorld, options: SpreadOutOptions): Promise<void> {
  const { count, leadMs, spreadMs, patienceMs } = options;
  const bindings = await listBindings(world);
  const firstDueAt = Date.now() + leadMs;
  await changeRotation(world, bindings, (binding) => {
    const dueAt = firstDueAt + (indexOf(binding) / count) * spreadMs;
    const frequencyMs = dueAt - world.family.readStatus(binding).createdAt;
    return { frequency: inMs(frequencyMs), ttl: inMs(frequencyMs + HOUR_MS) };
  });
  await world.untilIdle(patienceMs);
  if (Date.now() > firstDueAt) throw new Error("the policies were not in force in time: a longer lead is needed");
}

async function latenessOf(world: RotationWorld, count: number, patienceMs: number): Promise<readonly number[]> {
  const watch = new LatenessWatch(world);
  try {
    await watch.synced();
    await eventually("all rotations to begin", async () => watch.latenessMs.size === count || undefined, patienceMs);
    return [...watch.latenessMs.values()];
  } finally {
    await watch.stop();
  }
}

async function countQuietly(
  world: RotationWorld,
  kubeMeter: RequestMeter,
  quietMs: number,
): Promise<SpreadOutResult["quiet"]> {
  const outsideMeter = sandboxMeter(world);
  const [kubeBefore, outsideBefore] = [await kubeMeter(), await outsideMeter()];
  await sleep(quietMs);
  return {
    kube: between(kubeBefore, await kubeMeter()),
    outside: between(outsideBefore, await outsideMeter()),
  };
}

const summary = (latenessMs: readonly number[]): SpreadOutResult["lateness"] => ({
  count: latenessMs.length,
  minMs: Math.min(...latenessMs),
  medianMs: percentile(latenessMs, 0.5),
  p99Ms: percentile(latenessMs, 0.99),
  p999Ms: percentile(latenessMs, 0.999),
  maxMs: percentile(latenessMs, 1),
});
