import { setTimeout as sleep } from "node:timers/promises";
import { measureDueAtOnce } from "../test/bench/due-at-once.ts";
import { type Figure, figure, reportFigures } from "../test/bench/figures.ts";
import { changeRotation, createBindings, listBindings, NOT_YET } from "../test/bench/many-bindings.ts";
import { residentMegabytes } from "../test/bench/process-memory.ts";
import { measureRawWrites, WRITES_PER_ROTATION } from "../test/bench/raw-writes.ts";
import { onRealServer } from "../test/bench/real-server.ts";
import { apiServerMeter, isEvent, isWrite, type RequestCounts, sumOf } from "../test/bench/request-counts.ts";
import type { RotationWorld } from "../test/bench/rotation-world.ts";
import { buildDist } from "./build-dist.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run bench:rotation`: on a real control plane, 2,000 bindings that are due at the same instant. Rotations a second
 * beside what the same server takes from a plain client that writes the same mix, before and after, with the same watches
 * open; what a rotation asks of both servers, counted there; and the memory that 10,000 bindings take.
 */
const DUE = 2_000;
const HELD = 10_000;
const PATIENCE_MS = 600_000;
/** Drift checks and sweeps are left out, so that what is counted belongs to rotations; the rest is as in production. */
const FLAGS = [
  "--min-frequency",
  "1s",
  "--drift-check",
  "800000h",
  "--sweep-every",
  "800000h",
  "--overdue-rate",
  "100000",
];

await buildDist();
await onRealServer(async (world) => {
  await world.startOperator(FLAGS);
  await createBindings(world.kube, { from: 0, count: DUE, rotationOf: () => NOT_YET });
  await world.untilHealthy(DUE, PATIENCE_MS);
  const rawBefore = await rawWrites(world, "before");
  await world.startOperator(FLAGS);
  // A static one: the first request after a start needs a token, and what follows is to be an operator in full swing.
  await createBindings(world.kube, { from: DUE, count: 1 });
  await world.untilHealthy(DUE + 1, PATIENCE_MS);
  await world.untilIdle(PATIENCE_MS);
  console.log("making all of them due at once …");
  const measured = await measureDueAtOnce(world, {
    count: DUE,
    leadMs: 30_000,
    overlapMs: 90_000,
    leastAgeMs: 240_000,
    patienceMs: PATIENCE_MS,
    kubeMeter: apiServerMeter(world.kube),
  });
  const rawAfter = await rawWrites(world, "after");
  const memory = await memoryFigures(world);
  const rawRotations = (rawBefore + rawAfter) / 2 / WRITES_PER_ROTATION;
  const figures = [
    figure("raw writes/s, before", rawBefore),
    figure("raw writes/s, after", rawAfter),
    figure(`${DUE} due at once: rotations/s`, measured.rotationsPerSecond),
    figure("rotations/s / (raw writes/s / 5)", measured.rotationsPerSecond / rawRotations, ">= 0.5"),
    ...requestFigures(measured.kube, measured.serviceManager),
    ...memory,
  ];
  const requests = { kube: measured.kube, serviceManager: measured.serviceManager };
  writeEvidence("bench-rotation", { machine: "2 cores, shared", figures, requests });
  console.log(JSON.stringify(requests, null, 2));
  reportFigures("rotation", figures);
});

/** With the watches of an operator open that does nothing else. */
async function rawWrites(world: RotationWorld, run: string): Promise<number> {
  await world.startStandby(FLAGS);
  const perSecond = await measureRawWrites(world.kube, run);
  console.log(`raw writes/s, ${run}: ${Math.round(perSecond)}`);
  await world.stopOperator();
  return perSecond;
}

function requestFigures(kube: RequestCounts, serviceManager: RequestCounts): readonly Figure[] {
  const tokens = sumOf(serviceManager, (key) => key.includes("token"));
  const calls = sumOf(serviceManager, () => true) - tokens;
  const reads = sumOf(kube, (key) => key.startsWith("GET ") || key.startsWith("LIST "));
  return [
    figure("per rotation and deletion: Service Manager requests", calls / DUE, "<= 3"),
    figure("per rotation and deletion: token requests", tokens / DUE, "<= 0"),
    figure("per rotation and deletion: Kubernetes writes", sumOf(kube, isWrite) / DUE, "<= 7"),
    figure("per rotation and deletion: events among them", sumOf(kube, isEvent) / DUE, "<= 2"),
    figure("per rotation and deletion: Kubernetes reads", reads / DUE),
  ];
}

/** At rest, right after having made thousands of them, and after a start. */
async function memoryFigures(world: RotationWorld): Promise<readonly Figure[]> {
  await changeRotation(world.kube, await listBindings(world.kube), () => NOT_YET);
  const busy = await world.startOperator(FLAGS);
  await createBindings(world.kube, { from: DUE + 1, count: HELD - DUE - 1, rotationOf: () => NOT_YET });
  await world.untilHealthy(HELD, PATIENCE_MS);
  const afterWork = await residentAtRest(world, busy.processId);
  const fresh = await world.startOperator(FLAGS);
  await world.untilHealthy(HELD, PATIENCE_MS);
  const afterStart = await residentAtRest(world, fresh.processId);
  return [
    figure(`${HELD} bindings, after making most of them: RSS in MB`, afterWork, "<= 200"),
    figure(`${HELD} bindings, after a start: RSS in MB`, afterStart, "<= 200"),
  ];
}

async function residentAtRest(world: RotationWorld, processId: number): Promise<number> {
  await world.untilIdle(PATIENCE_MS);
  await sleep(5_000);
  return residentMegabytes(processId);
}
