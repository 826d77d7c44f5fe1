import type { Cluster } from "../cluster.ts";
import { type Performance, perturbationsAt, type Repertoire, type ScheduleResult } from "../repertoire.ts";
import { SetScenes } from "../set-scenes.ts";
import { RESTART_ACTS } from "./acts.ts";
import { RestartDriver } from "./restart-driver.ts";
import { WEB } from "./shop.ts";
import { RESTART_STORIES, type RestartStory } from "./stories.ts";
import { type RestartClimate, type RestartScene, RestartWorld } from "./world.ts";

const CLIMATES: readonly RestartClimate[] = ["calm", "bare"];

const COMPANY = {
  acts: RESTART_ACTS,
  unseen: ["changeSecret", "revertState", "optOut", "recreateWorkload"],
  zombies: [
    { kind: "zombie", pauseMs: 0, begunBy: "changeSecret" },
    { kind: "zombie", pauseMs: 0, returnsTo: "changeSecret" },
    { kind: "zombie", pauseMs: 0, returnsTo: "optOut" },
  ],
} as const;

/** Restarts: workloads that use Secrets, and whoever changes either. */
export const restarts: Repertoire = {
  name: "restart",
  stories: RESTART_STORIES.map(({ name }) => name),
  climates: CLIMATES,
  perturbationsAt: (call) => perturbationsAt(call, COMPANY),
  isFair: () => true,
  run,
};

const scenes = new SetScenes<RestartScene>();

async function playScene(cluster: Cluster, story: RestartStory, climate: RestartClimate): Promise<RestartScene> {
  const world = new RestartWorld({ cluster, climate, seed: 1 });
  const driver = new RestartDriver(world, () => undefined);
  await story.given(driver);
  for (const act of story.acts) await driver.person(act);
  const [violation] = world.judge.violations;
  if (violation !== undefined) throw new Error(`${story.name}: ${violation}`);
  return world.capture();
}

async function run({ story: name, climate: of, plan, ...options }: Performance): Promise<ScheduleResult> {
  const story = RESTART_STORIES.find((one) => one.name === name);
  const climate = CLIMATES.find((one) => one === of);
  if (!story || !climate) throw new RangeError(`there is no story ${name} or no climate ${of}`);
  const { cluster } = options;
  const scene = await scenes.of(cluster, `${name}/${climate}`, () => playScene(cluster, story, climate));
  const world = new RestartWorld({ ...options, climate, scene });
  const driver = new RestartDriver(world, plan);
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
function unmetOf(driver: RestartDriver, { restarts: wanted, expects }: RestartStory): string | undefined {
  const restarted = driver.world.judge.rollsOf(WEB.name);
  if (wanted !== undefined && restarted !== wanted)
    return `${WEB.name} was restarted ${restarted} times, it should be ${wanted}`;
  return expects?.(driver);
}
