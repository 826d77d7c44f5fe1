import { parseArgs } from "node:util";
import { writeEvidence } from "./evidence.ts";
import { exploreInShares, tellFindings } from "./simulation-shares.ts";

/**
 * `npm run prove:simulation [-- --schedules N --every N --seed N --workers N]`: so many schedules drawn from fresh seeds; of
 * all single disturbances at every call of every story every so many-th, and as even a sample of all pairs of crashes and
 * lost answers at writing calls; and each mutant.
 */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    every: { type: "string", default: "16" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
    workers: { type: "string", default: "2" },
  },
});
const firstSeed = Number(values.seed);
const every = Number(values.every);
const explored = await exploreInShares({
  workers: Number(values.workers),
  firstSeed,
  drawn: Number(values.schedules),
  everySingle: every,
  // A pair is drawn twice: its first and its second.
  everyPair: Math.ceil(Math.sqrt(every)),
  withMutants: true,
});
const report = { firstSeed, ...explored, findings: explored.findings.slice(0, 50) };
console.log(JSON.stringify({ ...report, findings: report.findings.length }, null, 2));
tellFindings(report.findings);
writeEvidence("simulation", report);
const isCaught = Object.values(report.mutants).every((schedules) => schedules !== null);
process.exitCode = report.findings.length === 0 && isCaught ? 0 : 1;
