import { parentPort, workerData } from "node:worker_threads";
import { Cluster } from "../src/simulation/cluster.ts";
import {
  type Exploration,
  explorePairs,
  exploreSeeds,
  exploreSingles,
  type Finding,
} from "../src/simulation/explore.ts";
import { hunt } from "../src/simulation/hunt.ts";
import { MUTANTS } from "../src/simulation/mutants/mutants.ts";
import { repertoireOf } from "../src/simulation/repertoires.ts";
import type { Share, ShareReport } from "./simulation-shares.ts";

/** One worker's share: of the stories for what is systematic, of the seeds for what is drawn, of the mutants. */
const share = workerData as Share;
const PROGRESS_EVERY = 200;

// Hundreds of errors are thrown a second, and nobody reads where from.
Error.stackTraceLimit = 0;

const findings: Finding[] = [];
let told = 0;
const exploration: Exploration = {
  cluster: new Cluster(),
  ...(share.family !== undefined && { repertoires: [repertoireOf(share.family)] }),
  onFinding: (finding) => findings.push(finding),
  isEnough: (count) => {
    // A sample passes by what it does not play, so the same count may come several times.
    if (count !== told && count % PROGRESS_EVERY === 0)
      parentPort?.postMessage({ kind: "progress", schedules: PROGRESS_EVERY });
    told = count;
    return false;
  },
};
const isMine = (_: unknown, index: number): boolean => index % share.of === share.index;
const systematic = { ...exploration, isMine: (scene: number) => scene % share.of === share.index };
const singles = await exploreSingles({ ...systematic, every: share.everySingle });
const pairs = await explorePairs({ ...systematic, every: share.everyPair });
const seeds = Array.from({ length: share.drawn }, (_, index) => share.firstSeed + index).filter(isMine);
const drawn = await exploreSeeds(exploration, seeds);
const mutants: Record<string, number | null> = {};
const meant = MUTANTS.filter(({ family = "btp" }) => family === (share.family ?? family));
for (const mutant of share.withMutants ? meant.filter(isMine) : []) {
  const { finding, schedules } = await hunt(mutant, exploration.cluster);
  mutants[mutant.name] = finding ? schedules : null;
}
const report: ShareReport = { kind: "report", singles, pairs, drawn, findings, mutants };
parentPort?.postMessage(report);
