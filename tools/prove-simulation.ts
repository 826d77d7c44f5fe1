import { parseArgs } from "node:util";
import { writeEvidence } from "./evidence.ts";
import { exploreInShares, tellFindings } from "./simulation-shares.ts";

/**
 * `npm run prove:simulation [-- --schedules N --seed N --workers N]`: so many schedules drawn from fresh seeds, every single
 * disturbance at every call of every story, all pairs of crashes and lost answers at writing calls, and each mutant.
 */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
    workers: { type: "string", default: "2" },
  },
});
const firstSeed = Number(values.seed);
const explored = await exploreInShares({
  workers: Number(values.workers),
  firstSeed,
  drawn: Number(values.schedules),
  everySingle: 1,
  everyPair: 1,
  withMutants: true,
});
const report = { firstSeed, ...explored, findings: explored.findings.slice(0, 50) };
console.log(JSON.stringify({ ...report, findings: report.findings.length }, null, 2));
tellFindings(report.findings);
writeEvidence("simulation", report);
const isCaught = Object.values(report.mutants).every((schedules) => schedules !== null);
process.exitCode = report.findings.length === 0 && isCaught ? 0 : 1;
