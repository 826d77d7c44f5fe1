import { integerBetween, pick, type Random, seededRandom } from "../base/random.ts";
import type { Tampering } from "./assembly.ts";
import type { Cluster } from "./cluster.ts";
import type { Disturbance, Perturbation, Plan } from "./perturbation.ts";
import type { Call } from "./process.ts";
import type { Repertoire, ScheduleResult } from "./repertoire.ts";
import { REPERTOIRES, repertoireOf } from "./repertoires.ts";

/** Where a schedule comes from: enough to run exactly this one again. */
export interface Origin {
  readonly family: string;
  readonly story: string;
  readonly climate: string;
  readonly seed: number;
  /** The disturbances and the numbers of their calls; absent where the seed draws them. */
  readonly disturbances?: readonly Disturbance[];
}

export interface Finding {
  readonly origin: Origin;
  readonly violations: readonly string[];
}

export interface Exploration {
  readonly cluster: Cluster;
  /** What is explored; everything where nothing is said. */
  readonly repertoires?: readonly Repertoire[];
  /** By name; all where nothing is said. */
  readonly stories?: readonly string[] | undefined;
  readonly climates?: readonly string[] | undefined;
  /** Which of the scenes are this one's share. */
  readonly isMine?: ((scene: number) => boolean) | undefined;
  readonly tampering?: Tampering | undefined;
  readonly onFinding: (finding: Finding) => void;
  /** What happens at the first call for which it has something, in every schedule of singles. */
  readonly prelude?: ((call: Call) => Perturbation | undefined) | undefined;
  /** Which of the disturbances are tried, in schedules of singles. */
  readonly isMeant?: ((what: Perturbation) => boolean) | undefined;
  /** Every so many schedules only one is run: a sample that is the same each time. */
  readonly every?: number;
  /** Asked after each schedule; true ends the exploration. */
  readonly isEnough?: (schedules: number) => boolean | Promise<boolean>;
}

const isCrashOrLoss = (what: Perturbation): boolean =>
  what.kind === "fault" && (what.fault === "crashAfter" || what.fault === "crashBefore" || what.fault === "lost");

const planOf =
  (disturbances: readonly Disturbance[]): Plan =>
  (index) =>
    disturbances.find(({ at }) => at === index)?.what;

/** Every single disturbance at every call of every story. Says how many schedules were run. */
export async function exploreSingles(exploration: Exploration): Promise<number> {
  const runner = new Runner(exploration);
  for (const scene of scenes(exploration)) {
    const base = originIn(scene, 1);
    const { calls: plain } = await runner.run({ ...base, disturbances: [] });
    const first = preludeIn(plain, exploration);
    const { calls } = first.length === 0 ? { calls: plain } : await runner.run({ ...base, disturbances: first });
    for (const [at, call] of calls.entries()) {
      if (at <= (first[0]?.at ?? -1)) continue;
      for (const what of scene.repertoire.perturbationsAt(call)) {
        if (!scene.repertoire.isFair(scene.climate, what) || exploration.isMeant?.(what) === false) continue;
        await runner.sample({ ...base, disturbances: [...first, { at, what }] }, scene);
        if (await runner.isEnough()) return runner.count;
      }
    }
  }
  return runner.count;
}

function preludeIn(calls: readonly Call[], { prelude }: Exploration): readonly Disturbance[] {
  for (const [at, call] of calls.entries()) {
    const what = prelude?.(call);
    if (what) return [{ at, what }];
  }
  return [];
}

/** All pairs of crashes and lost answers at writing calls: the second is counted in the run that has the first. */
export async function explorePairs(exploration: Exploration): Promise<number> {
  const runner = new Runner(exploration);
  for (const scene of scenes(exploration)) {
    const base = originIn(scene, 1);
    const { calls } = await runner.run({ ...base, disturbances: [] });
    for (const first of harms(calls, 0, scene.repertoire)) {
      const { calls: further } = await runner.sample({ ...base, disturbances: [first] }, scene);
      for (const second of harms(further, first.at + 1, scene.repertoire)) {
        await runner.sample({ ...base, disturbances: [first, second] }, scene);
        if (await runner.isEnough()) return runner.count;
      }
    }
  }
  return runner.count;
}

function harms(calls: readonly Call[], from: number, repertoire: Repertoire): readonly Disturbance[] {
  return calls.flatMap((call, at) =>
    at >= from && call.isWrite
      ? repertoire
          .perturbationsAt(call)
          .filter(isCrashOrLoss)
          .map((what) => ({ at, what }))
      : [],
  );
}

/** Schedules whose story, climate and disturbances all come from a seed. */
export async function exploreSeeds(exploration: Exploration, seeds: Iterable<number>): Promise<number> {
  const runner = new Runner(exploration);
  for (const seed of seeds) {
    await runner.run(originIn(sceneOf(seed, exploration), seed));
    if (await runner.isEnough()) break;
  }
  return runner.count;
}

/** Where schedules begin. */
interface Choice {
  readonly repertoire: Repertoire;
  readonly story: string;
  readonly climate: string;
}

const originIn = ({ repertoire, story, climate }: Choice, seed: number): Origin => ({
  family: repertoire.name,
  story,
  climate,
  seed,
});

const chosen = (all: readonly string[], names: readonly string[] | undefined): readonly string[] =>
  all.filter((name) => names?.includes(name) ?? true);

/** The scene that a seed means: families as often as one another, whatever they have of stories. */
function sceneOf(seed: number, { repertoires = REPERTOIRES, stories, climates }: Partial<Exploration>): Choice {
  const random = seededRandom(seed);
  const repertoire = pick(random, repertoires);
  const story = pick(random, chosen(repertoire.stories, stories));
  return { repertoire, story, climate: pick(random, chosen(repertoire.climates, climates)) };
}

/** Draws what happens at each call: mostly nothing, and not more than a few times in a schedule. */
function drawnPlan(seed: number, repertoire: Repertoire, climate: string): Plan {
  const random = seededRandom(seed ^ 0x2bad);
  let left = integerBetween(random, 2, 4);
  const chance = 0.06 + random.next() * 0.25;
  return (_, call) => {
    if (left === 0 || random.next() >= chance) return undefined;
    const what = draw(random, repertoire.perturbationsAt(call));
    if (!repertoire.isFair(climate, what)) return undefined;
    left--;
    return what;
  };
}

/** Faults twice as often as people. */
function draw(random: Random, all: readonly Perturbation[]): Perturbation {
  const faults = all.filter(({ kind }) => kind === "fault");
  const what = random.next() < 0.5 ? pick(random, faults) : pick(random, all);
  return what.kind === "rival" ? { ...what, pattern: integerBetween(random, 1, 0xffffffff) } : what;
}

function scenes({ repertoires = REPERTOIRES, stories, climates, isMine }: Exploration): readonly Choice[] {
  const all = repertoires.flatMap((repertoire) =>
    chosen(repertoire.stories, stories).flatMap((story) =>
      chosen(repertoire.climates, climates).map((climate) => ({ repertoire, story, climate })),
    ),
  );
  return all.filter((_, index) => isMine?.(index) ?? true);
}

const NOT_RUN: ScheduleResult = { violations: [], calls: [], disturbances: [], reconciles: 0 };

/** Runs schedules one after the other and passes on what was found. */
class Runner {
  readonly #exploration: Exploration;
  #drawn = 0;
  count = 0;

  constructor(exploration: Exploration) {
    this.#exploration = exploration;
  }

  async isEnough(): Promise<boolean> {
    return (await this.#exploration.isEnough?.(this.count)) ?? false;
  }

  /** One of so many. */
  async sample(origin: Origin, { repertoire }: Choice): Promise<ScheduleResult> {
    const { every = 1 } = this.#exploration;
    const { sparsity = 1 } = repertoire;
    const isDue = this.#drawn++ % (every === 1 ? 1 : every * sparsity) === 0;
    return isDue ? this.run(origin) : NOT_RUN;
  }

  async run(origin: Origin): Promise<ScheduleResult> {
    const { onFinding, cluster, tampering } = this.#exploration;
    const result = await replay({ origin, cluster, tampering });
    this.count++;
    if (result.violations.length > 0) onFinding({ origin, violations: result.violations });
    return result;
  }
}

/** One schedule, exactly as it was. */
export async function replay(options: {
  readonly origin: Origin;
  readonly cluster: Cluster;
  readonly tampering?: Tampering | undefined;
  readonly onTrace?: (line: string) => void;
}): Promise<ScheduleResult> {
  const { origin, ...others } = options;
  const { family, story, climate, seed, disturbances } = origin;
  const repertoire = repertoireOf(family);
  const plan = disturbances ? planOf(disturbances) : drawnPlan(seed, repertoire, climate);
  return repertoire.run({ ...others, story, climate, seed, plan });
}

export const originOf = (seed: number): Origin => originIn(sceneOf(seed, {}), seed);
