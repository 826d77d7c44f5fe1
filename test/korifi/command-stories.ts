import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { secrets } from "../conformance/kinds.ts";
import { type Finished, runKeyturn } from "../support/run-keyturn.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import type { KorifiScene } from "./korifi-scene.ts";
import { CANARY } from "./korifi-world.ts";
import { filesOf, further, hidden, type KorifiStory, versioned } from "./story.ts";

export interface SetCredentials {
  readonly kubeconfig: string;
  readonly instance: string;
  readonly text: string;
}

/** `keyturn credentials set`, which never prints a value. */
export async function setCredentials(
  { namespace }: KorifiScene,
  { kubeconfig, instance, text }: SetCredentials,
): Promise<Finished> {
  const file = join(scratchFolder(), "credentials.json");
  writeFileSync(file, text);
  const words = ["credentials", "set", instance, "-n", namespace, "-f", file, "--kubeconfig", kubeconfig];
  const finished = await runKeyturn(words);
  assert.ok(!`${finished.stdout}${finished.stderr}`.includes(CANARY), "a value was printed");
  return finished;
}

export const commandStories: readonly KorifiStory[] = [
  further(
    "command",
    "keyturn credentials set makes the Secret of an instance, and changes it",
    async (scene, stage) => {
      const { kubeconfig } = stage.server;
      await scene.instance("db");
      await scene.bind("web-db", { service: "db", app: "web" });
      for (const version of [1, 2]) {
        const text = JSON.stringify(versioned(version));
        const { code, stderr } = await setCredentials(scene, { kubeconfig, instance: "db", text });
        assert.equal(code, 0, stderr);
        await scene.gives("web-db", filesOf(versioned(version)), "web", versioned(version));
      }
      assert.equal((await scene.secret("db"))?.type, "Opaque");
    },
  ),

  further(
    "command-no",
    "keyturn credentials set refuses what cannot be credentials, and names the key",
    async (scene, stage) => {
      const { kubeconfig } = stage.server;
      await scene.service("db", versioned(1));
      await scene.bind("web-db", { service: "db" });
      await scene.gives("web-db", filesOf(versioned(1)));
      const before = await scene.get(secrets, "db");
      const text = JSON.stringify({ "not/a key": hidden("x") });
      const { code, stderr } = await setCredentials(scene, { kubeconfig, instance: "db", text });
      assert.notEqual(code, 0);
      assert.match(stderr, /not\/a key/);
      assert.deepEqual(await scene.get(secrets, "db"), before);
    },
  ),
];
