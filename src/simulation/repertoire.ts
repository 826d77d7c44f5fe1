import type { Tampering } from "./assembly.ts";
import type { Cluster } from "./cluster.ts";
import { type Fault, HTTP_FAULTS, KUBE_FAULTS, RNDC_FAULTS, WAIT_FAULTS } from "./faults.ts";
import { type AnyAct, AT_THE_END, type Disturbance, type Perturbation, type Plan } from "./perturbation.ts";
import type { Call } from "./process.ts";
import { DAY_MS } from "./scene.ts";

/** One schedule that is to be played. */
export interface Performance {
  readonly cluster: Cluster;
  readonly story: string;
  readonly climate: string;
  readonly seed: number;
  readonly plan: Plan;
  readonly tampering?: Tampering | undefined;
  readonly onTrace?: ((line: string) => void) | undefined;
}

export interface ScheduleResult {
  readonly violations: readonly string[];
  /** The calls at which the plan was asked. */
  readonly calls: readonly Call[];
  /** What was done at which of these calls: with it the schedule can be played again, however it was drawn. */
  readonly disturbances: readonly Disturbance[];
  readonly reconciles: number;
}

/** Stories that are told in one kind of world, and all that can happen in it: what an exploration is made of. */
export interface Repertoire {
  readonly name: string;
  readonly stories: readonly string[];
  readonly climates: readonly string[];
  /** So many times fewer of its schedules are in a sample of all: its calls are many, and much alike. */
  readonly sparsity?: number;
  /** Everything that can happen at this call. */
  perturbationsAt(call: Call): readonly Perturbation[];
  /** Not asked of anybody where it is not. */
  isFair(climate: string, what: Perturbation): boolean;
  /** One schedule from beginning to end: the same performance always gives the same result. */
  run(performance: Performance): Promise<ScheduleResult>;
}

/** What people do in a world. */
export interface Company {
  readonly acts: readonly AnyAct[];
  /** What the caches of an operator would have to know of, if it relied on them. */
  readonly unseen: readonly AnyAct[];
  /** While one that believes to lead stands still. */
  readonly zombies: readonly Extract<Perturbation, { kind: "zombie" }>[];
}

/** In turns, in bursts, and one of them mostly waiting. */
const RIVAL_PATTERNS: readonly number[] = [0x55555555, 0x0c0c0c0c, 0x03f00f3c, 0x10420801];

const FAULTS: Readonly<Record<Call["port"], readonly Fault[]>> = {
  kube: KUBE_FAULTS,
  http: HTTP_FAULTS,
  rndc: RNDC_FAULTS,
  clock: WAIT_FAULTS,
};

/** Everything that can happen at a call, in a world with these people. */
export function perturbationsAt(call: Call, { acts, unseen, zombies }: Company): readonly Perturbation[] {
  const faults = FAULTS[call.port];
  const late: readonly Perturbation[] =
    call.port === "http" && call.isWrite
      ? [2, 7, AT_THE_END].map((landsAfter) => ({ kind: "fault", fault: "late", landsAfter }))
      : [];
  return [
    ...faults
      .filter((fault) => fault !== "conflict" || call.isWrite)
      .map((fault): Perturbation => ({ kind: "fault", fault })),
    ...late,
    ...acts.map((name): Perturbation => ({ kind: "person", name })),
    ...[0, 3 * 60_000, 3 * DAY_MS, 15 * DAY_MS].map((pauseMs): Perturbation => ({ kind: "zombie", pauseMs })),
    ...zombies,
    ...RIVAL_PATTERNS.map((pattern): Perturbation => ({ kind: "rival", pattern })),
    ...[DAY_MS, -DAY_MS].map((byMs): Perturbation => ({ kind: "jump", byMs })),
    { kind: "stale" },
    ...unseen.map((act): Perturbation => ({ kind: "stale", unseen: act })),
    ...[5 * 60_000, 3 * DAY_MS].map((ms): Perturbation => ({ kind: "pause", ms })),
  ];
}
