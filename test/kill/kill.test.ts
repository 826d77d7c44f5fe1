import assert from "node:assert/strict";
import { test } from "node:test";
import { killRounds } from "./kill-rounds.ts";

test("kill -9 of the embedded server under writes loses nothing that was acknowledged", {
  timeout: 120_000,
}, async () => {
  const report = await killRounds({ seed: 1, rounds: 8 });
  assert.deepEqual(report.problems, []);
  assert.ok(report.acknowledged > 40, `only ${report.acknowledged} writes were acknowledged`);
  assert.ok(report.underWay > 0, "no request was cut off by a kill");
});
