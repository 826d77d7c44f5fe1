import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Target } from "../support/target.ts";
import { BindStage, bindTargets } from "./bind-stage.ts";
import { applyManifest, manifests } from "./document-stories.ts";
import { mendingStories } from "./mending-stories.ts";
import { type NamedProgram, namedFor } from "./named-program.ts";
import { allPlaces, otherCases } from "./precedence-stories.ts";
import { rotationStories } from "./rotation-stories.ts";
import type { BindStory } from "./story.ts";
import { workloadStories } from "./workload-stories.ts";

/**
 * BIND with pods that run a named each: on the embedded server with what stands in for it, and on a real one with BIND's
 * own where that is installed. All stories are told side by side, with one operator.
 */
const { targets, isAsked } = bindTargets();
const skip = !isAsked && "two dozen stories take long beside other tests: npm run test:cluster, on both servers";
const stories: readonly BindStory[] = [...rotationStories, ...workloadStories, ...mendingStories];

for (const target of targets) {
  const program = await namedFor(target.name);
  const title = `BIND on the ${target.name} server, with ${program.name}`;
  // The embedded server and all its pods are in this process.
  const concurrency = target.name === "real" ? 20 : 5;
  describe(title, { concurrency, timeout: 600_000, skip }, () => tellAll(target, program));
}

function tellAll(target: Target, program: NamedProgram): void {
  let stage: BindStage;
  before(async () => {
    stage = await BindStage.set({ target, program });
    await stage.startOperator().ready();
  });
  after(async () => {
    await stage.strike();
    assert.ok(stage.guard.logins > 0, "somebody logged in");
  });

  for (const { name, title, run } of stories.filter(({ isReal }) => !isReal || target.name === "real")) {
    test(title, async () => run(await stage.scene(name), stage));
  }
  for (const file of manifests) {
    test(`the document's ${file}, unmodified`, () => applyManifest(stage, file));
  }
  test("every place that a setting can stand in, one before the other", async () => {
    await allPlaces(await stage.scene("places"));
  });
  test("what else there is to say about which setting counts", async () => {
    await otherCases(await stage.scene("cases"));
  });
}
