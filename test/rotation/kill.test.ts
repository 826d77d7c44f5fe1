import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { target } from "./harness.ts";
import { killRounds } from "./kill-rounds.ts";
import { castOf, killStories } from "./kill-stories.ts";
import type { KillPoint } from "./write-gate.ts";

const isReal = target.name === "real";
/**
 * On a real server at every third write, before and after by turns, on the embedded one at two of them;
 * `npm run prove:kill-rotation` takes both sides of each.
 */
const strideOf = (writes: number): number => (isReal ? 3 : Math.floor(writes / 2));

const told = killStories.flatMap((story) => castOf(story).map((family) => ({ story, family })));

// Each story has an embedded server of its own; a real one they share.
describe(`SIGKILL on the ${target.name} server`, { concurrency: isReal ? 1 : told.length }, () => {
  for (const [index, { story, family }] of told.entries()) {
    const pointsOf = (writes: readonly string[]): readonly KillPoint[] => {
      const stride = strideOf(writes.length);
      // Each story elsewhere, so that all of them together come to more.
      const chosen = writes.filter((_, write) => (write + index) % stride === 0);
      return chosen.map((write, round) => ({ write, when: (round + index) % 2 === 0 ? "before" : "after" }));
    };

    test(`at some writes: ${family.title}: ${story.name}`, { timeout: 600_000 }, async () => {
      const report = await killRounds({ target, family, story, pointsOf });
      assert.deepEqual(report.problems, []);
      assert.deepEqual(report.unreached, []);
      assert.ok(report.kills >= 2, JSON.stringify(report, null, 1));
    });
  }
});
