import { inlineSecret } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import { findProgram } from "../rndc/stages.ts";
import { BindLoad, type Failure, type LoadSort } from "./bind-load.ts";
import type { BindScene } from "./bind-scene.ts";
import { BindStage } from "./bind-stage.ts";
import type { LoadedOptions } from "./rotations-under-load.ts";

/** One rotation with the strategy Restart: how long whoever has the new key is turned away. */
export interface RestartWindow {
  /** From the first request that failed to the end of the last one; 0 where none did. */
  readonly failingMs: number;
  /** From asking for the rotation to the end of the rollout, with everybody let in. */
  readonly rolloutMs: number;
  readonly failed: Readonly<Record<string, number>>;
}

export interface RestartReport {
  readonly named: string;
  readonly servers: number;
  readonly windows: readonly RestartWindow[];
  /** Why queries failed, which need no key: those that were under way to a pod when it ended. */
  readonly failedQueries: readonly string[];
  readonly problems: readonly string[];
}

const SERVERS = 2;
const SECRET = "load";

/** Rotations with the strategy Restart under the load that those with overlap do not notice. */
export async function restartWindows(options: LoadedOptions): Promise<RestartReport> {
  const { target, program, rotations, onRotation } = options;
  const stage = await BindStage.set({ target, program });
  try {
    const scene = await stage.scene("restart");
    stage.guard.excuse(`${scene.namespace}/${SECRET}`);
    await stage.startOperator().ready();
    const rndcKeys = { autoRotate: true, rotateAfter: "1h", strategy: "Restart", secret: inlineSecret(SECRET) };
    await scene.create("Bind9Cluster", "dns", { spec: { global: { rndcKeys }, primary: { replicas: SERVERS } } });
    await scene.atRest(SECRET, SERVERS);
    const load = new BindLoad({ scene, secret: SECRET, holdMs: 0, rndc: await findProgram("rndc") });
    const windows: RestartWindow[] = [];
    const problems: string[] = [];
    for (let count = 1; count <= rotations; count++) {
      const before = load.failures.length;
      const rolloutMs = await rotateOnce(scene).catch((error: unknown) => {
        problems.push(error instanceof Error ? error.message : String(error));
        return -1;
      });
      windows.push({ rolloutMs, ...windowOf(load.failures.slice(before)) });
      onRotation?.(count);
    }
    await load.stop();
    const failedQueries = load.failures.filter(({ sort }) => sort === "queries").map(({ why }) => why);
    return { named: program.name, servers: SERVERS, windows, failedQueries, problems };
  } finally {
    await stage.strike();
  }
}

async function rotateOnce(scene: BindScene): Promise<number> {
  const sequence = await scene.sequenceOf(SECRET);
  const beganAt = Date.now();
  await scene.age(SECRET);
  await scene.pastSequence(SECRET, sequence);
  await scene.until(
    "the rollout to be over",
    async () => (await isRolledOut(scene)) && scene.isAtRest(SECRET, SERVERS),
  );
  return Date.now() - beganAt;
}

async function isRolledOut(scene: BindScene): Promise<boolean> {
  for (let index = 0; index < SERVERS; index++) {
    const deployment = await scene.get("Deployment", `dns-primary-${index}`);
    const numbers = ["replicas", "updatedReplicas", "availableReplicas"].map((field) =>
      fieldAt(deployment, ["status", field]),
    );
    if (numbers.some((number) => number !== 1)) return false;
  }
  return true;
}

function windowOf(failures: readonly Failure[]): Pick<RestartWindow, "failingMs" | "failed"> {
  const failed: Partial<Record<LoadSort, number>> = {};
  for (const { sort } of failures) failed[sort] = (failed[sort] ?? 0) + 1;
  if (failures.length === 0) return { failingMs: 0, failed };
  const beganAt = Math.min(...failures.map((failure) => failure.beganAt));
  const endedAt = Math.max(...failures.map((failure) => failure.endedAt));
  return { failingMs: endedAt - beganAt, failed };
}
