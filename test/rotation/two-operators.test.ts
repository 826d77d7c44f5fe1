import assert from "node:assert/strict";
import { test } from "node:test";
import { allFamilies } from "../families/families.ts";
import { target } from "./harness.ts";
import { brisk, Stage } from "./stage.ts";
import { StoryBinding } from "./story-binding.ts";
import type { WorldView } from "./world-view.ts";

/** Of each kind. */
const COUNT = 4;
/** How often each is rotated while both work on it. */
const ROTATIONS = 10;

test(`two operators that both believe they lead, on the ${target.name} server, leave no key too many`, {
  timeout: 120_000,
  skip: target.name !== "real" && "takes as long as sixteen resources rotate ten times: npm run test:cluster",
}, async (context) => {
  const stage = await Stage.set({ target, name: "two", families: allFamilies });
  context.after(() => stage.strike());
  // Names are not unique under concurrency: creates that begin within this window of one another all succeed.
  stage.standIns.serviceManager.sandbox.controls.set({ nameRaceMs: 1_000 });
  const bindings = allFamilies.flatMap((family) =>
    Array.from({ length: COUNT }, (_, index) => {
      const name = `two-${family.controller}-${index}`;
      return new StoryBinding(stage, { family, name, instance: { brokerLatencyMs: 30 * index }, patienceMs: 60_000 });
    }),
  );
  for (const operator of [stage.startOperator(brisk()), stage.startOperator(brisk())]) await operator.ready();
  const rotation = { ttl: "3s", frequency: "1s" };
  await Promise.all(bindings.map((binding) => binding.create(binding.manifest({ rotation }))));
  const isRotated = ({ sequence }: WorldView): boolean => sequence > ROTATIONS;
  await Promise.all(bindings.map((binding) => binding.until(`${ROTATIONS} rotations`, isRotated)));
  for (const { text } of stage.operators) assert.match(text, /"step":"create"|"step":"publish"/, "both were at work");
  await Promise.all(bindings.map((binding) => binding.patchRotation(null)));
  for (const binding of bindings) {
    await binding.calm("one key, and no other", ({ outside }) => outside.length === 1);
    await binding.end();
  }
  assert.deepEqual(stage.keys(), []);
});
