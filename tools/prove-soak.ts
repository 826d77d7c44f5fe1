import { parseArgs } from "node:util";
import { buildClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import { soak } from "../test/soak/soak.ts";
import { BUILT_MAIN } from "../test/support/keyturn-process.ts";
import { buildDist } from "./build-dist.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run prove:soak [-- --minutes N --resources N --seed N]`: on a real control plane, all controllers in one operator and
 * 5,000 resources of all kinds with policies of 1 to 5 minutes, for half an hour in which things go wrong all the time.
 * Evidence is written where it was as long and as much as that.
 */
const WHOLE = { minutes: "30", resources: "5000" };
const GROWTH = 0.05;
/** A process that has just begun still grows. */
const GROWTH_AT_FIRST = 0.5;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: WHOLE.minutes },
    resources: { type: "string", default: WHOLE.resources },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});

const isWhole = values.minutes === WHOLE.minutes && values.resources === WHOLE.resources;
await buildDist();
const cluster = await startControlPlane(await buildClusterTools((line) => console.log(line)));
try {
  const report = await soak({
    kubeconfig: cluster.kubeconfig,
    seed: Number(values.seed),
    minutes: Number(values.minutes),
    resources: Number(values.resources),
    policySeconds: [60, 300],
    growth: isWhole ? GROWTH : GROWTH_AT_FIRST,
    limitMs: 5_000,
    pauseSeconds: [6, 14],
    sampleEveryMs: 10_000,
    main: BUILT_MAIN,
    onProgress: (what) => console.log(what),
    onSample: ({ at, residentMegabytes, heapMegabytes, cpuSeconds, isReady, staleWatches }, { rotations, late }) => {
      const memory = `${Math.round(residentMegabytes)} MB (heap ${Math.round(heapMegabytes)})`;
      const state = `${isReady ? "ready" : "NOT READY"}, ${staleWatches.length} stale watches`;
      const work = `${rotations} rotations, ${late} late, ${Math.round(cpuSeconds)} s of CPU`;
      console.log(`${new Date(at).toISOString()} ${memory}, ${state}, ${work}`);
    },
  });
  console.log(JSON.stringify(report, null, 2));
  if (isWhole) writeEvidence("soak", { machine: "2 cores, shared", ...report });
  process.exitCode = report.problems.length > 0 ? 1 : 0;
} finally {
  await cluster.stop();
}
