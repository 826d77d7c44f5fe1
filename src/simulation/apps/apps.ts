import type { Repertoire } from "../repertoire.ts";
import { toldRepertoire } from "../told-repertoire.ts";
import { APP_ACTS } from "./acts.ts";
import { AppDriver } from "./app-driver.ts";
import type { Origin } from "./objects.ts";
import { APP_STORIES, type AppStory } from "./stories.ts";
import { type AppScene, AppWorld } from "./world.ts";

/** Applications: service credentials, and all that is made from them. */
export const apps: Repertoire = toldRepertoire<AppDriver, AppStory, Origin, AppScene>({
  name: "apps",
  stories: APP_STORIES,
  // Where the credentials of the service come from.
  climates: { calm: "own", followed: "followed", legacy: "legacy" },
  sparsity: 3,
  company: {
    acts: APP_ACTS,
    unseen: ["changeCredentials", "changeType", "deleteBinding", "recreateInstance"],
    zombies: [
      { kind: "zombie", pauseMs: 0, begunBy: "changeCredentials" },
      { kind: "zombie", pauseMs: 0, begunBy: "changeType" },
      { kind: "zombie", pauseMs: 0, returnsTo: "changeCredentials" },
      { kind: "zombie", pauseMs: 0, returnsTo: "recreateBinding" },
    ],
  },
  open: ({ plan, ...options }, scene) => new AppDriver(new AppWorld({ ...options, scene }), plan),
  capture: ({ world }) => world.capture(),
  unmet: unmetOf,
});

/** What a story says must come of it, and has not. */
function unmetOf({ world }: AppDriver, { writes }: AppStory): string | undefined {
  const wanted = typeof writes === "object" ? writes[world.origin] : writes;
  const { secretWrites } = world.judge;
  return wanted === undefined || wanted === secretWrites
    ? undefined
    : `Secrets were written ${secretWrites} times, it should be ${wanted}`;
}
