import { perform } from "./perform.ts";
import type { AnyAct } from "./perturbation.ts";
import type { Ground, Player } from "./player.ts";
import { type Company, type Performance, perturbationsAt, type Repertoire, type ScheduleResult } from "./repertoire.ts";
import { SetScenes } from "./set-scenes.ts";

/** A scene that is set without disturbance, and what then happens: from there on everything may go wrong. */
export interface ToldStory<D> {
  readonly name: string;
  readonly given: (driver: D) => Promise<void>;
  /** What people do then. */
  readonly acts?: readonly AnyAct[];
  /** What they do then before the eyes of an operator that is at work, and has settled. */
  readonly live?: readonly AnyAct[];
  /** How long it is until then, or after it. */
  readonly thenMs?: number;
}

/** Where a schedule is played, whatever its story is. */
interface Staging<C> extends Omit<Performance, "story" | "climate"> {
  readonly climate: C;
}

/** Stories that are told in a world of their own, and how to come to one. */
export interface Telling<D extends Player<Ground>, S extends ToldStory<D>, C, Scene> {
  readonly name: string;
  readonly stories: readonly S[];
  readonly climates: Readonly<Record<string, C>>;
  readonly company: Company;
  readonly sparsity?: number;
  /** A driver in a world where nothing has happened yet, or that goes on from a scene. */
  open(staging: Staging<C>, scene?: Scene): D;
  capture(driver: D): Scene;
  /** What the story says must come of it where nothing disturbs it, and has not. */
  unmet(driver: D, story: S): string | undefined;
}

export function toldRepertoire<D extends Player<Ground>, S extends ToldStory<D>, C, Scene>(
  telling: Telling<D, S, C, Scene>,
): Repertoire {
  const { name, stories, climates, company, sparsity } = telling;
  const scenes = new SetScenes<Scene>();
  const run = async ({ story: of, climate: under, ...others }: Performance): Promise<ScheduleResult> => {
    const [story, climate] = [stories.find((one) => one.name === of), climates[under]];
    if (!story || climate === undefined) throw new RangeError(`there is no story ${of} or no climate ${under}`);
    const { cluster } = others;
    const setting = { cluster, climate, seed: 1, plan: () => undefined };
    const scene = await scenes.of(cluster, `${of}/${under}`, () => setScene(telling, story, setting));
    const driver = telling.open({ ...others, climate }, scene);
    if (story.live) await driver.settle();
    for (const act of story.live ?? []) await driver.person(act);
    return perform(driver, {
      recover: () => driver.recover(),
      unmet: () => (driver.disturbances.length > 0 ? undefined : telling.unmet(driver, story)),
    });
  };
  return {
    name,
    stories: stories.map((story) => story.name),
    climates: Object.keys(climates),
    ...(sparsity !== undefined && { sparsity }),
    perturbationsAt: (call) => perturbationsAt(call, company),
    isFair: () => true,
    run,
  };
}

async function setScene<D extends Player<Ground>, S extends ToldStory<D>, C, Scene>(
  telling: Telling<D, S, C, Scene>,
  story: S,
  setting: Staging<C>,
): Promise<Scene> {
  const driver = telling.open(setting);
  await story.given(driver);
  for (const act of story.acts ?? []) await driver.person(act);
  driver.world.clock.advance(story.thenMs ?? 0);
  const [violation] = driver.world.violations;
  if (violation !== undefined) throw new Error(`${story.name}: ${violation}`);
  return telling.capture(driver);
}
