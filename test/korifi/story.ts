import assert from "node:assert/strict";
import type { Stage } from "../rotation/stage.ts";
import type { KorifiScene } from "./korifi-scene.ts";
import { CANARY } from "./korifi-world.ts";

/** Told side by side with the others, each in a namespace of its own. */
export interface KorifiStory {
  readonly title: string;
  /** What its namespace begins with. */
  readonly name: string;
  /** Told on a real server alone: `npm test` is to be short. */
  readonly isFurther?: true;
  /** Somebody takes away what is not theirs: that it is gone for a moment is not held against the operator. */
  readonly doesHarm?: true;
  run(scene: KorifiScene, stage: Stage): Promise<void>;
}

export const story = (name: string, title: string, run: KorifiStory["run"]): KorifiStory => ({ name, title, run });

/** One that adds to what the others of its file show. */
export const further = (name: string, title: string, run: KorifiStory["run"]): KorifiStory => ({
  ...story(name, title, run),
  isFurther: true,
});

/** To the end, and then: nothing was wrong at any moment of it. */
export async function tell({ doesHarm, run }: KorifiStory, scene: KorifiScene, stage: Stage): Promise<void> {
  await run(scene, stage);
  const problems = await scene.world.problemsIn(scene.namespace);
  if (!doesHarm) assert.deepEqual(problems, []);
}

/** A value that must not be seen anywhere. */
export const hidden = (word: string): string => `${word}-${CANARY}`;

/** Credentials of a service, in a version. */
export const versioned = (version: number, type = "database") => ({
  type,
  user: { name: "alice", password: hidden(`p${version}`) },
  host: hidden(`h${version}`),
});

/** The files that they become. */
export const filesOf = ({ type, user, host }: ReturnType<typeof versioned>) => ({
  type,
  user: JSON.stringify(user),
  host,
});
