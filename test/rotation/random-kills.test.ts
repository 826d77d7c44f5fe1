import assert from "node:assert/strict";
import { test } from "node:test";
import { target } from "./harness.ts";
import { randomKills } from "./random-kills.ts";

/** `npm run prove:kill` in small: the same code. */
const [kills, each] = [8, 6];

test(`kill -9 at random moments of rotations, ${kills} times, on the ${target.name} server: nothing is left behind or stands still`, {
  timeout: 400_000,
  skip: target.name !== "real" && "starts an operator again and again: npm run test:cluster",
}, async (context) => {
  const report = await randomKills({ target, seed: 1, kills, each });
  context.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.problems, []);
  assert.ok(report.underWay >= kills, "a rotation was under way at every kill");
});
