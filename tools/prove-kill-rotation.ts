import { buildClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import { type KillReport, killRounds } from "../test/rotation/kill-rounds.ts";
import { castOf, killStories, longKillStories } from "../test/rotation/kill-stories.ts";
import type { KillPoint } from "../test/rotation/write-gate.ts";
import type { Target } from "../test/support/target.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run prove:kill-rotation`: on a real control plane, SIGKILL before and after every single write of the operator,
 * in every story of every kind; the suite of `npm run test:cluster` takes some of them, before and after by turns.
 */
const everyPoint = (writes: readonly string[]): readonly KillPoint[] =>
  writes.flatMap((write): readonly KillPoint[] => [
    { write, when: "before" },
    { write, when: "after" },
  ]);

const cluster = await startControlPlane(await buildClusterTools((line) => console.log(line)));
const reports: KillReport[] = [];
try {
  const { kubeconfig } = cluster;
  const target: Target = { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
  for (const story of [...killStories, ...longKillStories]) {
    for (const family of castOf(story)) {
      const onRound = ({ write, when }: KillPoint): void =>
        console.log(`${family.type.kind}: ${story.name}: ${when} ${write}`);
      reports.push(await killRounds({ target, family, story, pointsOf: everyPoint, onRound }));
    }
  }
} finally {
  await cluster.stop();
}
console.log(JSON.stringify(reports, null, 2));
writeEvidence("kill-rotation", { stories: reports });
process.exitCode = reports.some(({ problems, unreached }) => problems.length + unreached.length > 0) ? 1 : 0;
