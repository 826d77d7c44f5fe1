import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Family } from "../families/family.ts";
import { rotatingResources } from "../families/rotating-resources.ts";
import { target } from "./harness.ts";
import { killRounds } from "./kill-rounds.ts";
import { castOf, type KillStory, killStories } from "./kill-stories.ts";
import type { KillPoint } from "./write-gate.ts";

const isReal = target.name === "real";
/** Every ninth write, before and after by turns; `npm run prove:kill-rotation` takes both sides of each. */
const STRIDE = 9;
const skip = !isReal && "starts an operator again and again: npm run test:cluster";

/** Of rotating resources one story: it has all writes but those of a departure in between. */
const isTold = (story: KillStory, family: Family): boolean => family !== rotatingResources || story === killStories[0];

const told = killStories.flatMap((story) => {
  const cast = castOf(story).filter((family) => isTold(story, family));
  return cast.map((family) => ({ story, family }));
});

describe(`SIGKILL on the ${target.name} server`, () => {
  for (const [index, { story, family }] of told.entries()) {
    const pointsOf = (writes: readonly string[]): readonly KillPoint[] => {
      // Each story elsewhere, so that all of them together come to more.
      const chosen = writes.filter((_, write) => (write + index) % STRIDE === 0);
      return chosen.map((write, round) => ({ write, when: (round + index) % 2 === 0 ? "before" : "after" }));
    };

    test(`at some writes: ${family.title}: ${story.name}`, { timeout: 600_000, skip }, async () => {
      const report = await killRounds({ target, family, story, pointsOf });
      assert.deepEqual(report.problems, []);
      assert.deepEqual(report.unreached, []);
      assert.ok(report.kills >= 2, JSON.stringify(report, null, 1));
    });
  }
});
