import { parseArgs } from "node:util";
import { buildClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import { proveFailover } from "../test/failover/failover.ts";
import { BUILT_MAIN } from "../test/support/keyturn-process.ts";
import type { Target } from "../test/support/target.ts";
import { buildDist } from "./build-dist.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run prove:failover [-- --kills N --default-kills N --each N --seed N]`: on a real control plane, two operators on one
 * Lease. The one that leads is killed in mid-rotation a hundred times at a Lease of 3 s, and three times at the default.
 * Evidence is written where all of that was done.
 */
const SHORT_LEASE_SECONDS = 3;
const DEFAULT_LEASE_SECONDS = 15;
const ALL = { kills: "100", defaultKills: "3" };

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: ALL.kills },
    "default-kills": { type: "string", default: ALL.defaultKills },
    each: { type: "string", default: "6" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});

await buildDist();
const cluster = await startControlPlane(await buildClusterTools((line) => console.log(line)));
try {
  const { kubeconfig } = cluster;
  const target: Target = { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
  const report = await proveFailover({
    target,
    seed: Number(values.seed),
    each: Number(values.each),
    main: BUILT_MAIN,
    spells: [
      { leaseSeconds: SHORT_LEASE_SECONDS, kills: Number(values.kills) },
      { leaseSeconds: DEFAULT_LEASE_SECONDS, kills: Number(values["default-kills"]) },
    ].filter(({ kills }) => kills > 0),
    onKill: ({ leaseSeconds, kill, tookMs, underWay }) =>
      console.log(`kill ${kill} at ${leaseSeconds} s: ${underWay} under way, the other one after ${tookMs} ms`),
  });
  console.log(JSON.stringify(report, null, 2));
  const isWhole = values.kills === ALL.kills && values["default-kills"] === ALL.defaultKills;
  if (isWhole) writeEvidence("failover", { ...report });
  process.exitCode = report.problems.length > 0 ? 1 : 0;
} finally {
  await cluster.stop();
}
