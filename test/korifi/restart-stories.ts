import assert from "node:assert/strict";
import { bindingType } from "./kinds.ts";
import type { KorifiScene } from "./korifi-scene.ts";
import { filesOf, further, type KorifiStory, story, versioned } from "./story.ts";

/** Longer than a restart that is owed is waited for. */
const RESTART_MS = 8_000;

/** An application with a service, whose pods run with it. */
async function bound(scene: KorifiScene, isOptedIn = true): Promise<number> {
  await scene.service("db", versioned(1));
  await scene.bind("web-db", { service: "db", app: "web" });
  await scene.gives("web-db", filesOf(versioned(1)), "web", versioned(1));
  await scene.app("web", { isOptedIn });
  await scene.running("web", "web-db");
  return scene.rolls("web");
}

/** Until the template has changed so often since, and stays at that. */
async function rolled(scene: KorifiScene, since: number, times: number): Promise<void> {
  await scene.until(`${times} restarts`, () => scene.rolls("web") >= since + times);
  await scene.running("web", "web-db");
  await scene.calm(RESTART_MS);
  const changes = scene
    .templates("web")
    .slice(since + 1)
    .map((template) => JSON.stringify(template));
  assert.equal(changes.length, times, `${times} restarts, no more: ${changes.join("\n")}`);
}

/** What the pods of the application have found when they started. */
async function finds(scene: KorifiScene, version: number, type?: string): Promise<void> {
  assert.ok(scene.isCurrent("web"), "its pod is newer than what it is given");
  const services = (await scene.container("web")).services();
  assert.deepEqual(services["user-provided"]?.[0]?.credentials, versioned(version, type));
}

export const restartStories: readonly KorifiStory[] = [
  story("once", "an application that has opted in is restarted exactly once for a change", async (scene) => {
    const before = await bound(scene);
    for (const version of [2, 3]) {
      await scene.setCredentials("db", versioned(version));
      await scene.gives("web-db", filesOf(versioned(version)), "web", versioned(version));
      await rolled(scene, before + version - 2, 1);
      await finds(scene, version);
    }
  }),

  story("moved", "where a changed duck type rolls the workload by itself, it is not rolled again", async (scene) => {
    const before = await bound(scene);
    await scene.setCredentials("db", versioned(2, "cache"));
    await scene.gives("web-db", filesOf(versioned(2, "cache")), "web", versioned(2, "cache"));
    await rolled(scene, before, 1);
    await finds(scene, 2, "cache");
    await scene.setCredentials("db", versioned(3, "cache"));
    await rolled(scene, before, 2);
    await finds(scene, 3, "cache");
  }),

  further(
    "asked",
    "an application that has not opted in is not restarted, and its Secrets are current",
    async (scene) => {
      const before = await bound(scene, false);
      await scene.setCredentials("db", versioned(2));
      await scene.gives("web-db", filesOf(versioned(2)), "web", versioned(2));
      await rolled(scene, before, 0);
    },
  ),

  further("second", "a second service is one restart", async (scene) => {
    const before = await bound(scene);
    await scene.service("cache", versioned(1, "cache"));
    await scene.bind("web-cache", { service: "cache", app: "web" });
    await scene.running("web", "web-db", "web-cache");
    await rolled(scene, before, 1);
    await scene.ready(bindingType, "web-cache");
  }),
];
