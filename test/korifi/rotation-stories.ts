import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { pods, secrets } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import type { Stage } from "../rotation/stage.ts";
import { StoryBinding } from "../rotation/story-binding.ts";
import { byHandAfterConsumers } from "../rotation/story-consumer.ts";
import type { KorifiScene } from "./korifi-scene.ts";
import { type Fields, objectIn } from "./secret-texts.ts";
import { further, type KorifiStory, story } from "./story.ts";

/** Between two looks at who has moved. */
const LOOK_MS = 5_000;
const SLOW = "example.com/slow";

/** A binding at the sandbox whose Secret is rotated by hand, and its keys kept until everybody has moved. */
async function rotatedKey(stage: Stage, name: string): Promise<StoryBinding> {
  const key = new StoryBinding(stage, { family: btp, name });
  await key.create(key.manifest({ rotation: byHandAfterConsumers }));
  await key.calm("the first key to be in use");
  return key;
}

const published = async (scene: KorifiScene, { secretRef }: StoryBinding): Promise<Fields> =>
  objectIn((await scene.secret(secretRef.name))?.texts.credentials) ?? assert.fail("nothing is published");

/** Until an application finds what is published now. */
async function follows(scene: KorifiScene, app: string, key: StoryBinding): Promise<void> {
  await scene.until(`${app} to find the key of now`, async () =>
    isDeepStrictEqual(scene.entry(app, `${app}-db`)?.credentials, await published(scene, key)),
  );
}

/** A pod that was told to go stays, or goes. */
const holdBack = (scene: KorifiScene, app: string, isHeld: boolean): Promise<void> =>
  scene.patch(pods, `${app}-0`, { metadata: { finalizers: isHeld ? [SLOW] : null } });

const heldFor = (key: StoryBinding, id: string): string =>
  key.view().retired.find((retired) => retired.id === id)?.heldFor ?? "";

export const rotationStories: readonly KorifiStory[] = [
  story(
    "flow",
    "a rotation flows through to the bound application, and the old key waits for it",
    async (scene, stage) => {
      const key = await rotatedKey(stage, "cf-flow");
      const app = "cf-flow-web";
      await scene.instance("cf-flow-db", { credentialsFrom: { secretName: key.secretRef.name } });
      await scene.bind(`${app}-db`, { service: "cf-flow-db", app });
      await follows(scene, app, key);
      await scene.app(app, { isOptedIn: true });
      await scene.running(app, `${app}-db`);
      const rolls = scene.rolls(app);
      await holdBack(scene, app, true);
      const { activeId: old = "" } = key.view();
      await key.force("now");
      await follows(scene, app, key);
      await key.until("the key to be kept", () => heldFor(key, old) !== "");
      assert.match(heldFor(key, old), new RegExp(`^StatefulSet ${scene.namespace}/${app}`));
      await key.remains(LOOK_MS + 1_000, (view) => view.outside.includes(old));
      await holdBack(scene, app, false);
      await key.removed(old);
      await scene.running(app, `${app}-db`);
      assert.equal(scene.rolls(app), rolls + 1, "one restart for one rotation");
      const [entry] = (await scene.container(app)).services()["user-provided"] ?? [];
      assert.ok(key.standIn.lets(entry?.credentials as Fields), "what its pod has started with lets it in");
      await key.end();
    },
  ),

  further(
    "picked",
    "some values of a rotated Secret are taken, and what is made of it says of which key",
    async (scene, stage) => {
      const key = await rotatedKey(stage, "cf-picked");
      const taken = { secretName: key.secretRef.name, keys: ["username", "password"] };
      await scene.instance("cf-picked-db", { credentialsFrom: taken });
      await scene.bind("cf-picked-web-db", { service: "cf-picked-db", app: "cf-picked-web" });
      for (const round of [1, 2]) {
        const { username, password } = await published(scene, key);
        const files = { username: String(username), password: String(password) };
        await scene.gives("cf-picked-web-db", { ...files, type: "user-provided" }, "cf-picked-web", files);
        const entry = `${key.secretRef.name}@${key.view().activeId}`;
        for (const name of ["cf-picked-db", "cf-picked-web-db", "cf-picked-web-vcap-services"]) {
          await scene.until(`${name} to say what it was made from`, () => {
            const from = scene.seen(secrets, name)?.metadata.annotations?.["keyturn.dev/derived-from"] ?? "";
            return from.split(",").includes(entry);
          });
        }
        if (round === 1) await key.force("now");
      }
      await key.end();
    },
  ),
];
