import { parseArgs } from "node:util";
import { findNamed } from "../test/bind-cluster/named-program.ts";
import { restartWindows } from "../test/bind-cluster/restart-window.ts";
import { type KillStrategy, missedPoints, type RingKillReport, ringKills } from "../test/bind-cluster/ring-kills.ts";
import { rotationsUnderLoad } from "../test/bind-cluster/rotations-under-load.ts";
import { buildClusterTools } from "../test/cluster/build.ts";
import { startControlPlane } from "../test/cluster/control-plane.ts";
import type { KillPoint } from "../test/rotation/write-gate.ts";
import type { Target } from "../test/support/target.ts";
import { writeEvidence } from "./evidence.ts";

/**
 * `npm run prove:bind [-- --only overlap|restart|kill --rotations N --restarts N]`: on a real control plane, with a named
 * in every pod (BIND's own where it is installed). A hundred rotations with overlap under constant rndc commands, signed
 * updates and queries, none of which may fail; how long they do fail with the strategy Restart; and SIGKILL before and
 * after every single step of a rotation.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rotations: { type: "string", default: "100" },
    restarts: { type: "string", default: "10" },
  },
});

const program = await findNamed();
const tellEvery = (every: number, what: string) => (count: number) => {
  if (count % every === 0) console.log(`${count} ${what}`);
};

const everyPoint = (steps: readonly string[]): readonly KillPoint[] =>
  steps.flatMap((write): readonly KillPoint[] => [
    { write, when: "before" },
    { write, when: "after" },
  ]);

const MOUNT_DELAY_MS = 300;

async function overlap(target: Target): Promise<Part> {
  const rotations = Number(values.rotations);
  const onRotation = tellEvery(10, "rotations with overlap");
  const figures = await rotationsUnderLoad({ target, program, rotations, mountDelayMs: MOUNT_DELAY_MS, onRotation });
  const failed = Object.values(figures.clients).reduce((sum, tally) => sum + tally.failed, 0);
  return { figures, hasFailed: failed > 0 || figures.rotations < rotations };
}

async function restart(target: Target): Promise<Part> {
  const onRotation = tellEvery(1, "rotations with a restart");
  const figures = await restartWindows({ target, program, rotations: Number(values.restarts), onRotation });
  return { figures, hasFailed: figures.problems.length > 0 };
}

async function kill(target: Target): Promise<Part> {
  const onRound = ({ write, when }: KillPoint): void => console.log(`${when} ${write}`);
  const figures: RingKillReport[] = [];
  const strategies: readonly KillStrategy[] = ["Overlap", "Restart"];
  for (const strategy of strategies) {
    figures.push(await ringKills({ target, program, strategy, points: everyPoint, onRound }));
  }
  return { figures, hasFailed: figures.some((report) => report.problems.length + missedPoints(report).length > 0) };
}

interface Part {
  readonly figures: object;
  readonly hasFailed: boolean;
}

const parts = { overlap, restart, kill };
const evidence: Record<string, object> = {};
let hasFailed = false;
const cluster = await startControlPlane(await buildClusterTools((line) => console.log(line)));
try {
  const { kubeconfig } = cluster;
  const target: Target = { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
  for (const [name, prove] of Object.entries(parts)) {
    if (values.only !== undefined && values.only !== name) continue;
    const part = await prove(target);
    evidence[name] = part.figures;
    hasFailed ||= part.hasFailed;
  }
} finally {
  await cluster.stop();
}
console.log(JSON.stringify(evidence, null, 2));
if (values.only === undefined) writeEvidence("bind", evidence);
process.exitCode = hasFailed ? 1 : 0;
