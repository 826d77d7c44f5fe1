import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { BindStage, bindTarget } from "./bind-stage.ts";
import { applyManifest, manifests } from "./document-stories.ts";
import { namedFor } from "./named-program.ts";
import { allPlaces, otherCases } from "./precedence-stories.ts";
import { rotationStories } from "./rotation-stories.ts";

/**
 * BIND with pods that run a named each: on the embedded server with what stands in for it, and on a real one with BIND's
 * own where that is installed. All stories are told side by side, with one operator.
 */
const target = bindTarget();
const program = await namedFor(target.name);
/** Beside other tests a port of a named may be taken before it listens there, and it never comes up. */
const skip = target.name !== "real" && "needs free ports for a dozen servers: npm run test:cluster";

describe(`BIND on the ${target.name} server, with ${program.name}`, { concurrency: 20, timeout: 300_000, skip }, () => {
  let stage: BindStage;
  before(async () => {
    stage = await BindStage.set({ target, program });
    await stage.startOperator().ready();
  });
  after(async () => {
    await stage.strike();
    assert.ok(stage.guard.logins > 0, "somebody logged in");
  });

  for (const { name, title, run } of rotationStories) {
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
});
