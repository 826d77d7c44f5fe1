import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { target } from "./harness.ts";
import { killRounds } from "./kill-rounds.ts";
import { castOf, killStories } from "./kill-stories.ts";
import type { KillPoint } from "./write-gate.ts";

const isReal = target.name === "real";
/** Every ninth write, before and after by turns; `npm run prove:kill-rotation` takes both sides of each. */
const STRIDE = 9;
const skip = !isReal && "starts an operator again and again: npm run test:cluster";

const told = killStories.flatMap((story) => castOf(story).map((family) => ({ story, family })));

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
