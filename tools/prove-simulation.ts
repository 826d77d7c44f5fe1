import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { Cluster } from "../src/simulation/cluster.ts";
import { hunt } from "../src/simulation/hunt.ts";
import { MUTANTS } from "../src/simulation/mutants.ts";
import { writeEvidence } from "./evidence.ts";
import type { Share, ShareReport } from "./simulation-worker.ts";

/**
 * `npm run prove:simulation [-- --schedules N --seed N --workers N]`: every single disturbance, every pair of crashes and
 * lost answers at writing calls, then drawn schedules with fresh seeds until there are at least so many, and each mutant.
 */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
    workers: { type: "string", default: "2" },
  },
});
const [wanted, firstSeed, workers] = [Number(values.schedules), Number(values.seed), Number(values.workers)];
/** About what singles and pairs come to; the rest is drawn. */
const SYSTEMATIC = 75_000;
const seeds = Math.max(5000, Math.ceil((wanted - SYSTEMATIC) / workers));

const explore = (share: Share): Promise<ShareReport> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./simulation-worker.ts", import.meta.url), { workerData: share });
    worker.once("message", resolve);
    worker.once("error", reject);
  });

const startedAt = Date.now();
const shares = Array.from({ length: workers }, (_, index) => explore({ index, of: workers, firstSeed, seeds }));
const reports = await Promise.all(shares);
const sum = (part: "singles" | "pairs" | "drawn"): number => reports.reduce((total, report) => total + report[part], 0);
const findings = reports.flatMap((report) => report.findings);
const seconds = (Date.now() - startedAt) / 1000;

const cluster = new Cluster();
const mutants: Record<string, string> = {};
for (const mutant of MUTANTS) {
  const { finding, schedules } = await hunt(mutant, cluster, 5000);
  mutants[mutant.name] = finding ? `caught after ${schedules} schedules` : "NOT CAUGHT";
}
const report = {
  firstSeed,
  schedules: sum("singles") + sum("pairs") + sum("drawn"),
  singles: sum("singles"),
  pairs: sum("pairs"),
  drawn: sum("drawn"),
  seconds: Math.round(seconds),
  findings: findings.slice(0, 50),
  mutants,
};
console.log(JSON.stringify(report, null, 2));
writeEvidence("simulation", report);
const isCaught = Object.values(mutants).every((result) => result !== "NOT CAUGHT");
process.exitCode = findings.length === 0 && isCaught && report.schedules >= wanted ? 0 : 1;
