import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../src/base/random.ts";
import { OPERATOR_ENVIRONMENT } from "../../src/install/deployment.ts";
import { percentile } from "../bench/punctuality.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import { startKeyturnOperator } from "../support/keyturn-operator.ts";
import type { OperatorAccess } from "../support/operator-access.ts";
import { Faults } from "./faults.ts";
import {
  type Fault,
  judgeCaches,
  judgeLateness,
  judgeMemory,
  judgeRepairs,
  judgeSamples,
  type Lateness,
  latenessOf,
  type MemoryFigures,
  memoryOf,
  type Sample,
  type Subject,
} from "./judge.ts";
import { countsOf, type PolicyRange, type SoakKind } from "./population.ts";
import { rndcKeySubject } from "./resources.ts";
import { cachedObjects, type Look, takeSample } from "./sample.ts";
import { SoakWorld } from "./soak-world.ts";

/**
 * All controllers in one operator, for a long time, on resources of all kinds that are rotated every few minutes, while
 * things go wrong around it. Looked at all along: its memory, its watches, and how late every single rotation is.
 */
export interface SoakOptions {
  readonly kubeconfig: string;
  readonly seed: number;
  readonly minutes: number;
  readonly resources: number;
  readonly policySeconds: PolicyRange;
  /** The share by which memory may grow in the last two thirds of the time. */
  readonly growth: number;
  /** How late a rotation may be after it was due, or after the last fault that touched it. */
  readonly limitMs: number;
  /** Between two faults, in seconds. */
  readonly pauseSeconds: readonly [number, number];
  readonly sampleEveryMs: number;
  /** Which `keyturn`; that of the source where absent. */
  readonly main?: string;
  /** Whether the server is needed afterwards. */
  readonly tidiesUp?: boolean;
  readonly onSample?: (sample: Look, work: WorkSeen) => void;
  readonly onProgress?: (what: string) => void;
}

/** What there was to do, up to a sample. */
export interface WorkSeen {
  readonly rotations: number;
  /** How many are later than they may be at this moment, faults or not. */
  readonly late: number;
}

export interface SoakReport {
  readonly seed: number;
  readonly minutes: number;
  readonly resources: Readonly<Record<SoakKind, number>>;
  readonly rotations: number;
  readonly lateness: LatenessFigures;
  readonly latenessByKind: Readonly<Record<string, LatenessFigures>>;
  /** By what was in the way last. */
  readonly latenessByFault: Readonly<Record<string, LatenessFigures>>;
  /** Of what was due within each minute: how many, and how late the latest was. */
  readonly latenessByMinute: readonly (Omit<LatenessFigures, "medianMs"> & { readonly minute: number })[];
  readonly memory: MemoryFigures | undefined;
  readonly samples: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly repairs: { readonly count: number; readonly maxMs: number };
  readonly rollouts: number;
  readonly contentChanges: number;
  readonly problems: readonly string[];
}

interface LatenessFigures {
  readonly count: number;
  readonly afterFault: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Without faults at the end: what the last one has touched has the time to come right. */
const CALM_MS = 20_000;
/** A change waits a minute at most for a quiet moment, and then for its turn. */
const ROLLED_OUT_MS = 90_000;
/** So many problems of one sort are told word for word. */
const SHOWN = 20;

const FLAGS = [
  "--leader-elect",
  ...["--min-frequency", "1s", "--min-rotate-after", "1s", "--drift-check", "10m", "--korifi", "on"],
  ...["--settle-time", "10s", "--restart-max-per-hour", "0"],
];

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { kubeconfig, seed, resources, policySeconds, main, onProgress = () => {} } = options;
  const counts = countsOf(resources);
  const random = seededRandom(seed);
  const world = await SoakWorld.open({ kubeconfig, counts, random, policySeconds, main });
  try {
    const start = (): KeyturnOperator => startOperator(world.access, main);
    const operator = start();
    try {
      await operator.ready();
      onProgress("the operator is ready");
      await world.populate(operator, onProgress);
      const course = await runCourse(world, operator, options);
      const report = await judge(world, operator, { options, counts, course });
      if (options.tidiesUp) await world.tidyUp(start);
      return report;
    } finally {
      if (!operator.hasEnded) await operator.stop("SIGKILL");
    }
  } finally {
    await world.close();
  }
}

const startOperator = (access: OperatorAccess, main: string | undefined): KeyturnOperator =>
  startKeyturnOperator({
    ...access,
    flags: FLAGS,
    environment: OPERATOR_ENVIRONMENT,
    ...(main !== undefined && { main }),
    after: () => {},
  });

interface Course {
  readonly beganAt: number;
  readonly samples: readonly Sample[];
  readonly faults: Faults;
}

/** Faults and looks, for as long as it is to take. */
async function runCourse(world: SoakWorld, operator: KeyturnOperator, options: SoakOptions): Promise<Course> {
  const { seed, minutes, limitMs, pauseSeconds, sampleEveryMs, onSample } = options;
  const beganAt = Date.now();
  const endsAt = beganAt + minutes * 60_000;
  const { kube, sandbox, proxy, watch, population } = world;
  const random = seededRandom(seed + 1);
  const faults = new Faults({ random, kube, sandbox, proxy, watch, members: population.families, pauseSeconds });
  const calm = new AbortController();
  const playing = faults.play(calm.signal);
  const samples: Sample[] = [];
  for (let nextAt = beganAt; nextAt <= endsAt; nextAt += sampleEveryMs) {
    await sleep(Math.max(0, nextAt - Date.now()));
    if (Date.now() > endsAt - CALM_MS) calm.abort();
    const sample = await takeSample(operator);
    samples.push(sample);
    const late = watch.log.unfinished(Date.now() - limitMs).length;
    onSample?.(sample, { rotations: watch.log.rotations.length, late });
  }
  await playing;
  return { beganAt, samples, faults };
}

interface Judged {
  readonly options: SoakOptions;
  readonly counts: Readonly<Record<SoakKind, number>>;
  readonly course: Course;
}

async function judge(world: SoakWorld, operator: KeyturnOperator, judged: Judged): Promise<SoakReport> {
  const { options, counts, course } = judged;
  const { beganAt, samples, faults } = course;
  const { watch, consumers } = world;
  const { limitMs } = options;
  const lateness = latenessesOf(world, beganAt, { faults: faults.all, limitMs });
  const metrics = await operator.metrics();
  const caches = judgeCaches(cachedObjects(metrics), await world.countAll());
  const unhealthy = await world.unhealthyAtLast();
  const repairs = [...watch.repairs, ...watch.unrepaired()];
  const code = operator.hasEnded ? "by itself" : (await operator.stop("SIGTERM")).code;
  const behind = consumers.ledger.behind(Date.now() - ROLLED_OUT_MS);
  return {
    seed: options.seed,
    minutes: options.minutes,
    resources: counts,
    rotations: lateness.length,
    lateness: figuresOf(lateness),
    latenessByKind: grouped(lateness, ({ kind }) => kind),
    latenessByFault: grouped(lateness, ({ after = "nothing" }) => after),
    latenessByMinute: byMinute(lateness, beganAt),
    memory: memoryOf(samples),
    samples: samples.length,
    faults: faults.counts,
    repairs: {
      count: repairs.length,
      maxMs: Math.max(0, ...repairs.map(({ harmedAt, wholeAt }) => wholeAt - harmedAt)),
    },
    rollouts: consumers.ledger.rolls,
    contentChanges: consumers.ledger.changes,
    problems: [
      ...shown(judgeLateness(lateness, limitMs)),
      ...shown(judgeSamples(samples, options.sampleEveryMs)),
      ...judgeMemory(samples, options.growth),
      ...caches,
      ...shown(unhealthy.map((resource) => `${resource} is not healthy at the end`)),
      ...shown(judgeRepairsOf(world, repairs, { faults: faults.all, limitMs })),
      ...consumers.ledger.problems,
      ...behind.map((workload) => `${workload} has not been rolled out for ${ROLLED_OUT_MS / 1000} s`),
      ...world.problems,
      ...(code === 0 ? [] : [`the operator left with ${code}`]),
      ...shown(await world.judgeOutside(faults.removed)),
    ],
  };
}

interface Terms {
  readonly faults: readonly Fault[];
  readonly limitMs: number;
}

function latenessesOf(world: SoakWorld, beganAt: number, how: Terms): readonly Lateness[] {
  return world.watch.rotationsSince(beganAt).map((rotation) => {
    return latenessOf(rotation, subjectOf(world, rotation.resource), how);
  });
}

/** RndcKeys are made for clusters, and have names of their own. */
const subjectOf = (world: SoakWorld, resource: string): Subject => world.subjects.get(resource) ?? rndcKeySubject;

function judgeRepairsOf(
  { population: { families } }: SoakWorld,
  repairs: Parameters<typeof judgeRepairs>[0],
  how: Terms,
): readonly string[] {
  const subjects = new Map(families.map(({ name, subject }) => [name, subject]));
  return repairs.flatMap((repair) => {
    const subject = subjects.get(repair.secret);
    return subject ? judgeRepairs([repair], { subject, ...how }) : [`${repair.secret} is nobody's`];
  });
}

function figuresOf(all: readonly Lateness[]): LatenessFigures {
  const latenessMs = all.map((each) => each.latenessMs);
  return {
    count: all.length,
    afterFault: all.filter(({ after }) => after !== undefined).length,
    medianMs: percentile(latenessMs, 0.5),
    p99Ms: percentile(latenessMs, 0.99),
    maxMs: percentile(latenessMs, 1),
  };
}

const grouped = (
  all: readonly Lateness[],
  groupOf: (one: Lateness) => string,
): Readonly<Record<string, LatenessFigures>> =>
  Object.fromEntries([...Map.groupBy(all, groupOf)].map(([group, own]) => [group, figuresOf(own)]));

function byMinute(all: readonly Lateness[], beganAt: number): SoakReport["latenessByMinute"] {
  const minutes = Map.groupBy(all, ({ dueAt }) => Math.floor((dueAt - beganAt) / 60_000));
  return [...minutes]
    .sort(([a], [b]) => a - b)
    .map(([minute, own]) => {
      const { count, afterFault, p99Ms, maxMs } = figuresOf(own);
      return { minute, count, afterFault, p99Ms, maxMs };
    });
}

const shown = (problems: readonly string[]): readonly string[] =>
  problems.length <= SHOWN ? problems : [...problems.slice(0, SHOWN), `and ${problems.length - SHOWN} more of these`];
