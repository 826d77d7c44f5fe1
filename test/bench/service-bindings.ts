import { btp } from "../families/btp.ts";
import { PATIENCE_MS, ROTATIONS_ONLY } from "./bench-flags.ts";
import { measureDueAtOnce } from "./due-at-once.ts";
import { type Figure, type Findings, figure } from "./figures.ts";
import { changeRotation, createBindings, listBindings, NOT_YET } from "./many-bindings.ts";
import { restingMegabytes } from "./process-memory.ts";
import { measureRawWrites, WRITES_PER_ROTATION } from "./raw-writes.ts";
import { onRealServer } from "./real-server.ts";
import { apiServerMeter, sumOf } from "./request-counts.ts";
import { kubeFigures } from "./request-figures.ts";
import type { RotationWorld } from "./rotation-world.ts";

/**
 * 2,000 service bindings of BTP that are due at the same instant. Rotations a second beside what the same server takes
 * from a plain client that writes the same mix, before and after, with the same watches open; what a rotation asks of
 * both servers, counted there; and the memory that 10,000 bindings take.
 */
const DUE = 2_000;
const HELD = 10_000;

export const measureServiceBindings = (): Promise<Findings> =>
  onRealServer({ family: btp }, async (world) => {
    await world.startOperator(ROTATIONS_ONLY);
    await createBindings(world, { from: 0, count: DUE, rotationOf: () => NOT_YET });
    await world.untilHealthy(DUE, PATIENCE_MS);
    const rawBefore = await rawWrites(world, "before");
    await world.startOperator(ROTATIONS_ONLY);
    console.log("making all of them due at once …");
    const measured = await measureDueAtOnce(world, {
      count: DUE,
      everyMinutes: 4,
      overlapMs: 80_000,
      patienceMs: PATIENCE_MS,
      kubeMeter: apiServerMeter(world.kube),
    });
    const rawAfter = await rawWrites(world, "after");
    const memory = await memoryFigures(world);
    const rawRotations = (rawBefore + rawAfter) / 2 / WRITES_PER_ROTATION;
    const tokens = sumOf(measured.outside, (key) => key.includes("token"));
    const calls = sumOf(measured.outside, () => true) - tokens;
    const figures = [
      figure("raw writes/s, before", rawBefore),
      figure("raw writes/s, after", rawAfter),
      figure(`${DUE} due at once: rotations/s`, measured.rotationsPerSecond),
      figure("rotations/s / (raw writes/s / 5)", measured.rotationsPerSecond / rawRotations, ">= 0.5"),
      figure("per rotation and deletion: Service Manager requests", calls / DUE, "<= 3"),
      figure("per rotation and deletion: token requests", tokens / DUE, "<= 0"),
      ...kubeFigures({ ...measured, count: DUE }, { mostWrites: 7 }),
      ...memory,
    ];
    return { figures, details: { requests: { kube: measured.kube, serviceManager: measured.outside } } };
  });

/** With the watches of an operator open that does nothing else. */
async function rawWrites(world: RotationWorld, run: string): Promise<number> {
  await world.startStandby(ROTATIONS_ONLY);
  const perSecond = await measureRawWrites(world, run);
  console.log(`raw writes/s, ${run}: ${Math.round(perSecond)}`);
  await world.stopOperator();
  return perSecond;
}

/** At rest, right after having made thousands of them, and after a start. */
async function memoryFigures(world: RotationWorld): Promise<readonly Figure[]> {
  await changeRotation(world, await listBindings(world), () => NOT_YET);
  const busy = await world.startOperator(ROTATIONS_ONLY);
  await createBindings(world, { from: DUE, count: HELD - DUE, rotationOf: () => NOT_YET });
  await world.untilHealthy(HELD, PATIENCE_MS);
  const afterWork = await residentAtRest(world, busy.processId);
  const fresh = await world.startOperator(ROTATIONS_ONLY);
  await world.untilHealthy(HELD, PATIENCE_MS);
  const afterStart = await residentAtRest(world, fresh.processId);
  return [
    figure(`${HELD} bindings, after making most of them: RSS in MB`, afterWork, "<= 200"),
    figure(`${HELD} bindings, after a start: RSS in MB`, afterStart, "<= 200"),
  ];
}

async function residentAtRest(world: RotationWorld, processId: number): Promise<number> {
  await world.untilIdle(PATIENCE_MS);
  return restingMegabytes(processId);
}
