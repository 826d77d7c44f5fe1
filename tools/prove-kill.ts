import { parseArgs } from "node:util";
import { buildClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import { killRounds } from "../test/kill/kill-rounds.ts";
import { randomKills } from "../test/rotation/random-kills.ts";
import type { Target } from "../test/support/target.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run prove:kill [-- --only server|operator --rounds N --kills N --seed N]`: the loops of `npm test`, more of them.
 * The embedded server is killed under writes a hundred times; the operator is killed at random moments of rotations two
 * hundred times, on a real control plane, with twenty resources of each kind.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "100" },
    kills: { type: "string", default: "200" },
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
  const cluster = await startControlPlane(await buildClusterTools((line) => console.log(line)));
  try {
    const { kubeconfig } = cluster;
    const target: Target = { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
    const report = await randomKills({
      target,
      seed,
      kills: Number(values.kills),
      each: 20,
      onKill: (kill, underWay) => {
        if (kill % 10 === 0) console.log(`kill ${kill}: ${underWay} rotations were under way`);
      },
    });
    console.log(JSON.stringify(report, null, 2));
    writeEvidence("kill-random", { ...report });
    return report.problems;
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
