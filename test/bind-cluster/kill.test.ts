import assert from "node:assert/strict";
import { test } from "node:test";
import type { KillPoint } from "../rotation/write-gate.ts";
import { bindTarget } from "./bind-stage.ts";
import { namedFor } from "./named-program.ts";
import { type KillStrategy, missedPoints, ringKills } from "./ring-kills.ts";

const target = bindTarget();
const isReal = target.name === "real";
const program = await namedFor(target.name);
/** Every third, before and after by turns; `npm run prove:bind` takes both sides of each. */
const manySteps = (steps: readonly string[]): readonly KillPoint[] =>
  steps
    .filter((_, step) => step % 3 === 0)
    .map((write, round) => ({ write, when: round % 2 === 0 ? "before" : "after" }));

const strategies: readonly KillStrategy[] = ["Overlap", "Restart"];
const skip = !isReal && "starts an operator again and again: npm run test:cluster";

for (const strategy of strategies) {
  test(`SIGKILL on the ${target.name} server at some steps: ${strategy}`, { timeout: 1_200_000, skip }, async () => {
    const report = await ringKills({ target, program, strategy, points: manySteps });
    assert.deepEqual(report.problems, []);
    assert.deepEqual(missedPoints(report), []);
    assert.ok(report.kills >= 3, JSON.stringify(report, null, 1));
    const hasCommands = report.steps.some((step) => step.startsWith("RNDC "));
    assert.ok(hasCommands || strategy === "Restart", "commands to named are steps, too");
    assert.equal(report.logins > 0, strategy === "Overlap", "somebody logged in where everybody must be let in");
  });
}
