import { integerBetween, pick, type Random, seededRandom } from "../base/random.ts";
import type { Tampering } from "./assembly.ts";
import type { Cluster } from "./cluster.ts";
import { AT_THE_END, type Disturbance, type Perturbation, type Plan } from "./driver.ts";
import { FAMILIES, familyOf } from "./families/families.ts";
import type { Climate, Family } from "./families/family.ts";
import { type Fault, HTTP_FAULTS, KUBE_FAULTS, WAIT_FAULTS } from "./faults.ts";
import { type ActName, actsOf } from "./person.ts";
import type { Call } from "./process.ts";
import { DAY_MS } from "./scene.ts";
import { runSchedule, type ScheduleResult } from "./schedule.ts";
import { type Story, storiesOf } from "./stories.ts";

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
  readonly families?: readonly Family[];
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

/** Restoring within the lag of lists brings back what no look outside can contradict: not asked of anybody. */
const RESTORES: ReadonlySet<ActName> = new Set<ActName>([
  "restoreBoth",
  "restoreSecret",
  "restoreStatus",
  "wipeStatus",
  "recreate",
  "reapply",
]);

function isFair(climate: Climate, what: Perturbation): boolean {
  if (what.kind === "fault" && what.fault === "late") return !climate.isMarkedLater;
  const act = what.kind === "person" ? what.name : what.kind === "stale" ? what.unseen : undefined;
  return act === undefined || !RESTORES.has(act) || (climate.switches?.createdHiddenMs ?? 0) === 0;
}

/** In turns, in bursts, and one of them mostly waiting. */
const RIVAL_PATTERNS: readonly number[] = [0x55555555, 0x0c0c0c0c, 0x03f00f3c, 0x10420801];

/** What the caches of an operator would have to know of, if it relied on them. */
const UNSEEN: readonly ActName[] = ["deleteSecret", "moveSecret", "restoreStatus", "restoreSecret", "deleteResource"];

const FAULTS: Readonly<Record<Call["port"], readonly Fault[]>> = {
  kube: KUBE_FAULTS,
  http: HTTP_FAULTS,
  clock: WAIT_FAULTS,
};

/** Everything that can happen at this call. */
function perturbationsAt(call: Call, family: Family): readonly Perturbation[] {
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
    ...actsOf(family).map((name): Perturbation => ({ kind: "person", name })),
    ...[0, 3 * 60_000, 3 * DAY_MS, 15 * DAY_MS].map((pauseMs): Perturbation => ({ kind: "zombie", pauseMs })),
    { kind: "zombie", pauseMs: 15 * DAY_MS, returnsTo: "deleteSecret" },
    { kind: "zombie", pauseMs: 0, returnsTo: "deleteResource" },
    ...RIVAL_PATTERNS.map((pattern): Perturbation => ({ kind: "rival", pattern })),
    ...[DAY_MS, -DAY_MS].map((byMs): Perturbation => ({ kind: "jump", byMs })),
    { kind: "stale" },
    ...UNSEEN.map((unseen): Perturbation => ({ kind: "stale", unseen })),
    ...[5 * 60_000, 3 * DAY_MS].map((ms): Perturbation => ({ kind: "pause", ms })),
  ];
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
    const { calls: plain } = await runner.run({ ...base, disturbances: [] }, true);
    const first = preludeIn(plain, exploration);
    const { calls } = first.length === 0 ? { calls: plain } : await runner.run({ ...base, disturbances: first }, true);
    for (const [at, call] of calls.entries()) {
      if (at <= (first[0]?.at ?? -1)) continue;
      for (const what of perturbationsAt(call, scene.family)) {
        if (!isFair(scene.climate, what) || exploration.isMeant?.(what) === false) continue;
        await runner.run({ ...base, disturbances: [...first, { at, what }] });
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
    const { calls } = await runner.run({ ...base, disturbances: [] }, true);
    for (const first of harms(calls, 0, scene.family)) {
      const { calls: further } = await runner.run({ ...base, disturbances: [first] });
      for (const second of harms(further, first.at + 1, scene.family)) {
        await runner.run({ ...base, disturbances: [first, second] });
        if (await runner.isEnough()) return runner.count;
      }
    }
  }
  return runner.count;
}

function harms(calls: readonly Call[], from: number, family: Family): readonly Disturbance[] {
  return calls.flatMap((call, at) =>
    at >= from && call.isWrite
      ? perturbationsAt(call, family)
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
  readonly family: Family;
  readonly story: Story;
  readonly climate: Climate;
}

const originIn = ({ family, story, climate }: Choice, seed: number): Origin => ({
  family: family.name,
  story: story.name,
  climate: climate.name,
  seed,
});

const chosen = <T extends { readonly name: string }>(
  all: readonly T[],
  names: readonly string[] | undefined,
): readonly T[] => all.filter(({ name }) => names?.includes(name) ?? true);

/** The scene that a seed means: families as often as one another, whatever they have of stories. */
function sceneOf(seed: number, { families = FAMILIES, stories, climates }: Partial<Exploration>): Choice {
  const random = seededRandom(seed);
  const family = pick(random, families);
  const story = pick(random, chosen(storiesOf(family), stories));
  return { family, story, climate: pick(random, chosen(family.climates, climates)) };
}

/** Draws what happens at each call: mostly nothing, and not more than a few times in a schedule. */
function drawnPlan(seed: number, family: Family, climate: Climate): Plan {
  const random = seededRandom(seed ^ 0x2bad);
  let left = integerBetween(random, 2, 4);
  const chance = 0.06 + random.next() * 0.25;
  return (_, call) => {
    if (left === 0 || random.next() >= chance) return undefined;
    const what = draw(random, perturbationsAt(call, family));
    if (!isFair(climate, what)) return undefined;
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

function scenes({ families = FAMILIES, stories, climates, isMine }: Exploration): readonly Choice[] {
  const all = families.flatMap((family) =>
    chosen(storiesOf(family), stories).flatMap((story) =>
      chosen(family.climates, climates).map((climate) => ({ family, story, climate })),
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

  async run(origin: Origin, isNeeded = false): Promise<ScheduleResult> {
    const { every = 1, onFinding, cluster, tampering } = this.#exploration;
    if (!isNeeded && this.#drawn++ % every !== 0) return NOT_RUN;
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
  const family = familyOf(origin.family);
  const [story] = chosen(storiesOf(family), [origin.story]);
  const [climate] = chosen(family.climates, [origin.climate]);
  if (!story || !climate) throw new RangeError(`there is no story ${origin.story} or no climate ${origin.climate}`);
  const plan = origin.disturbances ? planOf(origin.disturbances) : drawnPlan(origin.seed, family, climate);
  return runSchedule({ ...others, family, story, climate, seed: origin.seed, plan });
}

export const originOf = (seed: number): Origin => originIn(sceneOf(seed, {}), seed);
