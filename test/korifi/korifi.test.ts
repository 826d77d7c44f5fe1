import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { brisk, Stage } from "../rotation/stage.ts";
import { pickTarget } from "../support/pick-target.ts";
import { commandStories } from "./command-stories.ts";
import { documentStories } from "./document-stories.ts";
import { faultStories } from "./fault-stories.ts";
import { KorifiWorld } from "./korifi-world.ts";
import { refusalStories } from "./refusal-stories.ts";
import { restartStories } from "./restart-stories.ts";
import { rotationStories } from "./rotation-stories.ts";
import { type KorifiStory, tell } from "./story.ts";

/**
 * Service credentials of applications: on the embedded server in `npm test`, and on a real one, with further stories, in
 * `npm run test:cluster`. All are told side by side, with one operator; of each it is checked that nothing was wrong at any moment.
 */
const target = await pickTarget();
// Tests are a fight. What changes together on a busy machine must be within the quiet period, so that is the usual one.
const flags = [...brisk(), "--restart-max-per-hour", "0"];

const isTold = ({ isFurther }: KorifiStory): boolean => target.name === "real" || isFurther !== true;

describe(`service credentials on the ${target.name} server`, { concurrency: 50, timeout: 300_000 }, () => {
  const ends = new AsyncDisposableStack();
  let stage: Stage;
  let world: KorifiWorld;
  before(async () => {
    stage = await Stage.set({ target, name: "korifi" });
    ends.defer(() => stage.strike());
    world = await KorifiWorld.open(stage.kube);
    ends.defer(() => world.close());
    ends.defer(async () => {
      const leaks = await world.leaks(stage.operators.map(({ text }) => text));
      assert.deepEqual(leaks, [], "values were seen");
    });
    await stage.startOperator(flags).ready();
  });
  // The stage is struck also where the stories could not begin.
  after(() => ends.disposeAsync());

  const alone = [...documentStories, ...faultStories, ...refusalStories, ...restartStories, ...commandStories];
  for (const story of alone.filter(isTold)) {
    test(story.title, async () => tell(story, await world.scene(story.name), stage));
  }
  for (const story of rotationStories.filter(isTold)) {
    test(story.title, async () => tell(story, world.sceneIn(stage.namespace), stage));
  }
});
