import { parseArgs } from "node:util";
import { buildClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import { driftKillStories } from "../test/rotation/kill-drift-stories.ts";
import { type KillReport, killRounds } from "../test/rotation/kill-rounds.ts";
import { castOf, killStories, longKillStories } from "../test/rotation/kill-stories.ts";
import type { KillPoint } from "../test/rotation/write-gate.ts";
import type { Target } from "../test/support/target.ts";
import { circumstances, readEvidence, writeEvidence } from "./evidence.ts";

/**
 * `npm run prove:kill-rotation [-- --kind KIND --story NAME --planes N]`: on a real control plane, SIGKILL before and after
 * every single write of the operator, in every story of every kind, or of those that are named; the suite of `npm run
 * test:cluster` takes some of them, before and after by turns. A round mostly waits, so that several control planes play
 * side by side. The evidence holds the last run of each story, with the commit it was run on.
 */
const { values } = parseArgs({
  options: {
    kind: { type: "string", multiple: true, default: [] },
    story: { type: "string", multiple: true, default: [] },
    planes: { type: "string", default: "3" },
  },
});

const everyPoint = (writes: readonly string[]): readonly KillPoint[] =>
  writes.flatMap((write): readonly KillPoint[] => [
    { write, when: "before" },
    { write, when: "after" },
  ]);

const stories = [...killStories, ...longKillStories, ...driftKillStories];
const all = stories.flatMap((story) => castOf(story).map((family) => ({ story, family })));
const isWanted = (wanted: readonly string[], name: string): boolean => wanted.length === 0 || wanted.includes(name);
const casts = all.filter(
  ({ story, family }) => isWanted(values.kind, family.type.kind) && isWanted(values.story, story.name),
);
if (casts.length === 0) {
  console.error(
    `there is no such story; there are\n${all.map(({ story, family }) => `${family.type.kind}: ${story.name}`).join("\n")}`,
  );
  process.exit(2);
}
const tools = await buildClusterTools((line) => console.log(line));
const waiting = [...casts];
const reports: KillReport[] = [];

async function playOnOnePlane(): Promise<void> {
  const cluster = await startControlPlane(tools);
  try {
    const { kubeconfig } = cluster;
    const target: Target = { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
    for (let cast = waiting.shift(); cast; cast = waiting.shift()) {
      const { story, family } = cast;
      const title = `${family.type.kind}: ${story.name}`;
      const startedAt = Date.now();
      const onRound = ({ write, when }: KillPoint): void => console.log(`${title}: ${when} ${write}`);
      const report = await killRounds({ target, family, story, pointsOf: everyPoint, onRound });
      reports.push(report);
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      console.log(`${title}: ${report.kills} kills in ${seconds} s, ${report.problems.length} problems`);
    }
  } finally {
    await cluster.stop();
  }
}

await Promise.all(Array.from({ length: Math.min(Number(values.planes), casts.length) }, playOnOnePlane));
console.log(JSON.stringify(reports, null, 2));
keepEvidence();
process.exitCode = reports.some(({ problems, unreached }) => problems.length + unreached.length > 0) ? 1 : 0;

/** The reports of this run, and those of earlier ones about other stories. */
function keepEvidence(): void {
  const { commit, at } = circumstances();
  const fresh = reports.map((report) => ({ ...report, commit, at }));
  const titleOf = ({ kind, story }: Pick<KillReport, "kind" | "story">): string => `${kind}: ${story}`;
  const titles = new Set(fresh.map(titleOf));
  const { stories = [] } = readEvidence("kill-rotation") as { readonly stories?: typeof fresh };
  const kept = [...stories.filter((report) => !titles.has(titleOf(report))), ...fresh];
  const kills = kept.reduce((sum, report) => sum + report.kills, 0);
  console.log(`${kills} kills in ${kept.length} stories`);
  writeEvidence("kill-rotation", { kills, stories: kept });
}
