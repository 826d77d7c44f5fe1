import { Worker } from "node:worker_threads";
import type { Finding } from "../src/simulation/explore.ts";

/** What is to be explored, and from which seed on. */
export interface Exploration {
  readonly workers: number;
  readonly firstSeed: number;
  /** How many schedules are drawn from seeds. */
  readonly drawn: number;
  /** Of all single disturbances and of all pairs, every so many-th is played. */
  readonly everySingle: number;
  readonly everyPair: number;
  readonly withMutants: boolean;
  /** Of this one alone; of all when nothing is said. */
  readonly family?: string | undefined;
}

/** What one worker explores. */
export interface Share extends Exploration {
  readonly index: number;
  readonly of: number;
}

export interface ShareReport {
  readonly kind: "report";
  readonly singles: number;
  readonly pairs: number;
  readonly drawn: number;
  readonly findings: readonly Finding[];
  /** After how many schedules each mutant was noticed; null: never. */
  readonly mutants: Readonly<Record<string, number | null>>;
}

interface Progress {
  readonly kind: "progress";
  readonly schedules: number;
}

export interface Explored extends Omit<ShareReport, "kind"> {
  readonly schedules: number;
  readonly seconds: number;
  readonly perSecondAndWorker: number;
}

const TELL_EVERY_MS = 10_000;

/** Explores with several workers at once, tells how far it is, and adds up what they found. */
export async function exploreInShares(exploration: Exploration): Promise<Explored> {
  const { workers } = exploration;
  const startedAt = Date.now();
  let done = 0;
  let toldAt = startedAt;
  const progressed = ({ schedules }: Progress): void => {
    done += schedules;
    if (Date.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = Date.now();
    const seconds = (toldAt - startedAt) / 1000;
    console.log(`${done} schedules in ${seconds.toFixed(0)} s, ${(done / seconds).toFixed(0)} a second`);
  };
  const shares = Array.from({ length: workers }, (_, index): Share => ({ ...exploration, index, of: workers }));
  const reports = await Promise.all(shares.map((share) => explore(share, progressed)));
  const sum = (part: "singles" | "pairs" | "drawn"): number =>
    reports.reduce((total, report) => total + report[part], 0);
  const [singles, pairs, drawn] = [sum("singles"), sum("pairs"), sum("drawn")];
  const schedules = singles + pairs + drawn;
  const seconds = (Date.now() - startedAt) / 1000;
  return {
    schedules,
    singles,
    pairs,
    drawn,
    seconds: Math.round(seconds),
    perSecondAndWorker: Math.round(schedules / seconds / workers),
    findings: reports.flatMap((report) => report.findings),
    mutants: Object.assign({}, ...reports.map((report) => report.mutants)) as Explored["mutants"],
  };
}

function explore(share: Share, onProgress: (progress: Progress) => void): Promise<ShareReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./simulation-worker.ts", import.meta.url), { workerData: share });
    worker.on("message", (message: Progress | ShareReport) => {
      if (message.kind === "report") resolve(message);
      else onProgress(message);
    });
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`a worker ended with code ${code}`)));
  });
}

/** One line for each finding, as `npm run simulate` takes it back. */
export function tellFindings(findings: readonly Finding[]): void {
  for (const { origin, violations } of findings.slice(0, 50)) {
    const { seed, family, story, climate, disturbances } = origin;
    const disturbed = disturbances ? ` --disturb '${JSON.stringify(disturbances)}'` : "";
    const replay = `--seed ${seed} --family ${family} --story ${story} --climate ${climate}${disturbed}`;
    console.log(`✗ ${violations.join("; ")}\n  npm run simulate -- ${replay}`);
  }
}
