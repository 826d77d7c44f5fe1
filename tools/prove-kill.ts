import { parseArgs } from "node:util";
import { buildClusterTools, type ClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import { killRounds } from "../test/kill/kill-rounds.ts";
import { type RandomKillReport, randomKills } from "../test/rotation/random-kills.ts";
import type { Target } from "../test/support/target.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run prove:kill [-- --only server|operator --rounds N --kills N --planes N --seed N]`: the loops of `npm test`, more of
 * them. The embedded server is killed under writes a hundred times; the operator is killed at random moments of rotations
 * two hundred times, on real control planes that share the kills, with twenty resources of each kind on each.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "100" },
    kills: { type: "string", default: "200" },
    planes: { type: "string", default: "2" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});
const seed = Number(values.seed);

async function killServer(): Promise<readonly string[]> {
  const report = await killRounds({
    seed,
    rounds: Number(values.rounds),
    onRound: (round, acknowledged) => {
      if (round % 10 === 0) console.log(`round ${round}: ${acknowledged} writes acknowledged so far`);
    },
  });
  console.log(JSON.stringify(report, null, 2));
  writeEvidence("kill", { ...report });
  return report.problems;
}

async function killOperator(): Promise<readonly string[]> {
  const tools = await buildClusterTools((line) => console.log(line));
  const planes = Number(values.planes);
  const kills = Math.ceil(Number(values.kills) / planes);
  const reports = await Promise.all(
    Array.from({ length: planes }, (_, plane) => killOnPlane(tools, { seed: seed + plane, kills })),
  );
  console.log(JSON.stringify(reports, null, 2));
  writeEvidence("kill-random", { kills: kills * planes, planes: reports });
  return reports.flatMap(({ problems }) => problems);
}

async function killOnPlane(
  tools: ClusterTools,
  { seed, kills }: { readonly seed: number; readonly kills: number },
): Promise<RandomKillReport> {
  const cluster = await startControlPlane(tools);
  try {
    const { kubeconfig } = cluster;
    const target: Target = { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
    const onKill = (kill: number, underWay: number): void => {
      if (kill % 10 === 0) console.log(`seed ${seed}, kill ${kill}: ${underWay} rotations were under way`);
    };
    return await randomKills({ target, seed, kills, each: 20, onKill });
  } finally {
    await cluster.stop();
  }
}

const parts = { server: killServer, operator: killOperator };
const problems: string[] = [];
for (const [name, run] of Object.entries(parts)) {
  if (values.only === undefined || values.only === name) problems.push(...(await run()));
}
process.exitCode = problems.length > 0 ? 1 : 0;
