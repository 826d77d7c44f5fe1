import { parseArgs } from "node:util";
import { runLeaderElectionSchedules } from "../src/runtime/leader-election-schedules.ts";
import { writeEvidence } from "./evidence.ts";

/** `npm run prove:elections [-- --schedules N --seed N]`: the elections of `npm test`, many more of them. */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});
const [schedules, firstSeed] = [Number(values.schedules), Number(values.seed)];
const report = await runLeaderElectionSchedules({
  schedules,
  firstSeed,
  onProgress: (done) => {
    if (done % 5000 === 0) console.log(`${done} of ${schedules} schedules`);
  },
});
console.log(JSON.stringify(report, null, 2));
writeEvidence("elections", { firstSeed, ...report });
process.exitCode = report.failures.length > 0 ? 1 : 0;
