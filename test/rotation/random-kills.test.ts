import assert from "node:assert/strict";
import { test } from "node:test";
import { target } from "./harness.ts";
import { randomKills } from "./random-kills.ts";

/** `npm run prove:kill` in small: the same code, on either server. */
const { kills, each } = target.name === "real" ? { kills: 25, each: 6 } : { kills: 3, each: 2 };

test(`kill -9 at random moments of rotations, ${kills} times, on the ${target.name} server: nothing is left behind or stands still`, {
  timeout: 400_000,
}, async (context) => {
  const report = await randomKills({ target, seed: 1, kills, each });
  context.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.problems, []);
  assert.ok(report.underWay >= kills, "a rotation was under way at every kill");
});
