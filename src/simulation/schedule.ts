import type { Tampering } from "./assembly.ts";
import type { Cluster } from "./cluster.ts";
import { Driver } from "./driver.ts";
import type { Climate, Family } from "./families/family.ts";
import { perform } from "./perform.ts";
import type { Backup } from "./person.ts";
import type { Plan } from "./perturbation.ts";
import type { ScheduleResult } from "./repertoire.ts";
import { SetScenes } from "./set-scenes.ts";
import type { Story } from "./stories.ts";
import { type Scene, World } from "./world.ts";

export interface ScheduleOptions {
  readonly cluster: Cluster;
  readonly family: Family;
  readonly story: Story;
  readonly climate: Climate;
  readonly seed: number;
  readonly plan: Plan;
  readonly tampering?: Tampering | undefined;
  readonly onTrace?: ((line: string) => void) | undefined;
}

interface SetScene {
  readonly scene: Scene;
  readonly backup: Backup;
}

const scenes = new SetScenes<SetScene>();

async function playScene(
  options: Pick<ScheduleOptions, "cluster" | "family" | "story" | "climate">,
): Promise<SetScene> {
  const world = new World({ ...options, seed: 1 });
  const driver = new Driver(world, () => undefined);
  await options.story.given(driver);
  await options.story.when?.(driver);
  if (world.violations.length > 0) throw new Error(`${options.story.name}: ${world.violations[0]}`);
  return { scene: world.capture(), backup: driver.backup };
}

/** One schedule from beginning to end: the same options always give the same result. */
export async function runSchedule(options: ScheduleOptions): Promise<ScheduleResult> {
  const { story, plan, cluster, family, climate } = options;
  const name = `${family.name}/${story.name}/${climate.name}`;
  const { scene, backup } = await scenes.of(cluster, name, () => playScene({ cluster, family, story, climate }));
  const driver = new Driver(new World({ ...options, scene }), plan, backup);
  return perform(driver, {
    recover: () => driver.recover(story),
    unmet: () => (driver.hasPersonActed ? undefined : story.expects?.(driver)),
  });
}
