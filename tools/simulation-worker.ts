import { parentPort, workerData } from "node:worker_threads";
import { Cluster } from "../src/simulation/cluster.ts";
import {
  type Exploration,
  explorePairs,
  exploreSeeds,
  exploreSingles,
  type Finding,
} from "../src/simulation/explore.ts";
import { CLIMATES, STORIES } from "../src/simulation/stories.ts";

/** What one worker explores: its share of the stories, and seeds of its own. */
export interface Share {
  readonly index: number;
  readonly of: number;
  readonly firstSeed: number;
  readonly seeds: number;
}

export interface ShareReport {
  readonly singles: number;
  readonly pairs: number;
  readonly drawn: number;
  readonly findings: readonly Finding[];
}

const share = workerData as Share;
const findings: Finding[] = [];
const exploration: Exploration = {
  cluster: new Cluster(),
  stories: STORIES.filter((_, index) => index % share.of === share.index),
  climates: CLIMATES,
  onFinding: (finding) => findings.push(finding),
};
const singles = await exploreSingles(exploration);
const pairs = await explorePairs(exploration);
const seeds = Array.from({ length: share.seeds }, (_, index) => share.firstSeed + index * share.of + share.index);
const drawn = await exploreSeeds({ ...exploration, stories: STORIES }, seeds);
const report: ShareReport = { singles, pairs, drawn, findings };
parentPort?.postMessage(report);
