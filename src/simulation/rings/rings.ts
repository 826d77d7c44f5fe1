import type { Cluster } from "../cluster.ts";
import {
  type Company,
  type Performance,
  perturbationsAt,
  type Repertoire,
  type ScheduleResult,
} from "../repertoire.ts";
import { DAY_MS } from "../scene.ts";
import { SetScenes } from "../set-scenes.ts";
import { RESTARTED_ACTS, RING_ACTS, type RingAct, type RingBackup } from "./acts.ts";
import { RingDriver } from "./ring-driver.ts";
import { RESTARTED_STORIES, RING_STORIES, type RingStory, sequenceOf } from "./stories.ts";
import { type RingClimate, type RingScene, RingWorld } from "./world.ts";

const CLIMATES: readonly RingClimate[] = [
  { name: "calm", delaysMs: [0], lagMs: 0, follows: true },
  // Mounts come one by one.
  { name: "late", delaysMs: [20_000, 75_000], lagMs: 0, follows: true },
  // Pods start on what was there a little before.
  { name: "lagging", delaysMs: [1000], lagMs: 2000, follows: true },
];

const RESTARTED: readonly RingClimate[] = [{ name: "calm", delaysMs: [0], lagMs: 0, follows: false }];

interface Contents {
  readonly name: string;
  readonly stories: readonly RingStory[];
  readonly climates: readonly RingClimate[];
  readonly acts: readonly RingAct[];
  readonly unseen: readonly RingAct[];
}

function repertoireIn({ name, stories, climates, acts, unseen }: Contents): Repertoire {
  const company: Company = {
    acts,
    unseen,
    zombies: [
      { kind: "zombie", pauseMs: 15 * DAY_MS, returnsTo: "deleteSecret" },
      { kind: "zombie", pauseMs: 0, returnsTo: "deleteResource" },
      { kind: "zombie", pauseMs: 0, begunBy: "force" },
    ],
  };
  return {
    name,
    stories: stories.map((story) => story.name),
    climates: climates.map((climate) => climate.name),
    sparsity: 3,
    perturbationsAt: (call) => perturbationsAt(call, company),
    isFair: () => true,
    run: ({ story: of, climate: under, ...others }) => {
      const story = stories.find((one) => one.name === of);
      const climate = climates.find((one) => one.name === under);
      if (!story || !climate) throw new RangeError(`there is no story ${of} or no climate ${under}`);
      return run(name, { ...others, story, climate });
    },
  };
}

const UNSEEN: readonly RingAct[] = ["deleteRing", "deleteSecret", "restoreStatus", "deleteResource"];

/** Rings: RNDC keys, and the named servers that come to know and forget them. */
export const rings: Repertoire = repertoireIn({
  name: "rings",
  stories: RING_STORIES,
  climates: CLIMATES,
  acts: RING_ACTS,
  unseen: [...UNSEEN, "addPod"],
});

/** The same keys where servers are restarted for another one. */
export const ringsRestarted: Repertoire = repertoireIn({
  name: "rings-restarted",
  stories: RESTARTED_STORIES,
  climates: RESTARTED,
  acts: RESTARTED_ACTS,
  unseen: UNSEEN,
});

interface SetRing {
  readonly scene: RingScene;
  readonly backup: RingBackup;
}

const scenes = new SetScenes<SetRing>();

async function playScene(cluster: Cluster, story: RingStory, climate: RingClimate): Promise<SetRing> {
  const world = new RingWorld({ cluster, climate, seed: 1 });
  const driver = new RingDriver(world, () => undefined);
  await story.given(driver);
  for (const act of story.acts ?? []) await driver.person(act);
  world.clock.advance(story.thenMs ?? 0);
  const [violation] = world.judge.violations;
  if (violation !== undefined) throw new Error(`${story.name}: ${violation}`);
  return { scene: world.capture(), backup: driver.backup };
}

type Played = Omit<Performance, "story" | "climate"> & { readonly story: RingStory; readonly climate: RingClimate };

async function run(family: string, { story, climate, plan, ...options }: Played): Promise<ScheduleResult> {
  const { cluster } = options;
  const place = `${family}/${story.name}/${climate.name}`;
  const { scene, backup } = await scenes.of(cluster, place, () => playScene(cluster, story, climate));
  const world = new RingWorld({ ...options, climate, scene });
  const driver = new RingDriver(world, plan, backup);
  world.trace("      --- from here on anything may happen");
  await driver.play();
  world.trace("      --- from here on nothing goes wrong any more");
  await driver.recover();
  const unmet = driver.disturbances.length > 0 ? undefined : unmetOf(driver, story);
  if (unmet !== undefined) world.judge.accuse(`L1 ${unmet}`);
  const { calls, disturbances, reconciles } = driver;
  return { violations: world.judge.violations, calls, disturbances, reconciles };
}

/** What a story says must come of it, and has not. */
function unmetOf(driver: RingDriver, { sequence, expects }: RingStory): string | undefined {
  const intended = sequenceOf(driver);
  if (sequence !== undefined && intended !== sequence) return `the sequence is ${intended}, it should be ${sequence}`;
  return expects?.(driver);
}
