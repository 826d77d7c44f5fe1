import { parseArgs } from "node:util";
import { killRounds } from "../test/kill/kill-rounds.ts";
import { writeEvidence } from "./evidence.ts";

/** `npm run prove:kill [-- --rounds N --seed N]`: the loop of `npm test`, a hundred rounds of it. */
const { values } = parseArgs({
  options: { rounds: { type: "string", default: "100" }, seed: { type: "string", default: String(Date.now() % 1e9) } },
});
const report = await killRounds({
  seed: Number(values.seed),
  rounds: Number(values.rounds),
  onRound: (round, acknowledged) => {
    if (round % 10 === 0) console.log(`round ${round}: ${acknowledged} writes acknowledged so far`);
  },
});
console.log(JSON.stringify(report, null, 2));
writeEvidence("kill", { ...report });
process.exitCode = report.problems.length > 0 ? 1 : 0;
