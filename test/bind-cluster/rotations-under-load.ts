import { inlineSecret } from "../../src/bind/bind-objects.fixture.ts";
import { findProgram } from "../rndc/stages.ts";
import type { Target } from "../support/target.ts";
import { BindLoad, type Failure, type Tally } from "./bind-load.ts";
import type { BindScene } from "./bind-scene.ts";
import { BindStage } from "./bind-stage.ts";
import type { NamedProgram } from "./named-program.ts";

export interface LoadedOptions {
  readonly target: Target;
  readonly program: NamedProgram;
  readonly rotations: number;
  /** How late mounts are. */
  readonly mountDelayMs?: number;
  readonly onRotation?: (count: number) => void;
}

export interface OverlapReport {
  readonly named: string;
  readonly servers: number;
  readonly rotations: number;
  readonly seconds: number;
  readonly mountDelayMs: number;
  readonly clients: Readonly<Record<string, Tally>>;
  /** How often the guard was let in besides. */
  readonly logins: number;
  /** The first of them. */
  readonly failures: readonly Failure[];
}

const SERVERS = 2;
const SECRET = "load";
/** Less than the overlap, which is what users are promised. */
const HOLD_MS = 1_000;
const BY_PLAN = { rotateAfter: "3s", overlap: "2s" } as const;
const SHOWN = 10;

/** Rotations by plan, one after the other, of a key that two instances share; clients ask without a pause meanwhile. */
export async function rotationsUnderLoad(options: LoadedOptions): Promise<OverlapReport> {
  const { target, program, rotations, mountDelayMs = 0, onRotation } = options;
  const stage = await BindStage.set({ target, program });
  try {
    stage.kubelet.delayMs = mountDelayMs;
    const scene = await stage.scene("load");
    await stage.startOperator().ready();
    const rndcKeys = { autoRotate: false, ...BY_PLAN, secret: inlineSecret(SECRET) };
    await scene.create("Bind9Cluster", "dns", { spec: { global: { rndcKeys }, primary: { replicas: SERVERS } } });
    await scene.atRest(SECRET, SERVERS);
    const load = new BindLoad({ scene, secret: SECRET, holdMs: HOLD_MS, rndc: await findProgram("rndc") });
    const beganAt = Date.now();
    const done = await rotateByPlan(scene, rotations, onRotation);
    const seconds = Math.round((Date.now() - beganAt) / 1000);
    const clients = await load.stop();
    const failures = load.failures.slice(0, SHOWN);
    const { logins } = stage.guard;
    return { named: program.name, servers: SERVERS, rotations: done, seconds, mountDelayMs, clients, logins, failures };
  } finally {
    await stage.strike();
  }
}

/** How many there were from one rest to the next. */
async function rotateByPlan(
  scene: BindScene,
  rotations: number,
  onRotation: (count: number) => void = () => {},
): Promise<number> {
  const first = await scene.sequenceOf(SECRET);
  const setPlan = (autoRotate: boolean): Promise<unknown> =>
    scene.patch("Bind9Cluster", "dns", { spec: { global: { rndcKeys: { autoRotate } } } });
  await setPlan(true);
  for (let count = 1; count <= rotations; count++) {
    await scene.pastSequence(SECRET, first + count - 1);
    onRotation(count);
  }
  await setPlan(false);
  await scene.atRest(SECRET, SERVERS);
  return (await scene.sequenceOf(SECRET)) - first;
}
