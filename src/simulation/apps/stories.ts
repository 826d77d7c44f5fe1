import { after, settled } from "../story-steps.ts";
import type { ToldStory } from "../told-repertoire.ts";
import type { AppAct } from "./acts.ts";
import type { AppDriver } from "./app-driver.ts";
import type { Origin } from "./objects.ts";

export interface AppStory extends ToldStory<AppDriver> {
  readonly acts: readonly AppAct[];
  /** How often a Secret is written in all, where nobody interferes: as often everywhere, or by where credentials come from. */
  readonly writes?: number | Readonly<Record<Origin, number>>;
}

/** A binding's Secret for the application and one for a key, VCAP_SERVICES, and what a service makes of another Secret. */
const CHANGED = { own: 3, followed: 4, legacy: 3 } as const;
/** Who changes those of former times names the Secret with them as the service's own: its label goes, once. */
const HANDED_OVER = { own: 0, followed: 0, legacy: 1 } as const;
const CHANGED_THERE = { ...CHANGED, legacy: CHANGED.legacy + HANDED_OVER.legacy } as const;

const CREDENTIALS: readonly AppStory[] = [
  { name: "first", given: (driver) => driver.world.populate(), acts: [] },
  { name: "nothing", given: settled, acts: [], writes: 0 },
  { name: "change", given: settled, acts: ["changeCredentials"], writes: CHANGED_THERE },
  { name: "changeTwice", given: settled, acts: ["changeCredentials", "changeCredentials"], writes: CHANGED_THERE },
  { name: "changeAgain", given: after("changeCredentials"), acts: ["changeCredentials"] },
  { name: "changeAndBack", given: settled, acts: ["changeCredentials", "restoreCredentials"] },
  { name: "restore", given: after("changeCredentials"), acts: ["restoreCredentials"] },
  { name: "changeType", given: settled, acts: ["changeType"] },
  { name: "typeTwice", given: settled, acts: ["changeType", "changeType"] },
  { name: "typeInUse", given: settled, acts: ["startPod", "changeType"] },
  { name: "typeBack", given: after("changeType"), acts: ["changeType"] },
  { name: "touch", given: settled, acts: ["touchSource"], writes: 0 },
  { name: "rotateNote", given: settled, acts: ["rotateNote"], writes: { own: 0, followed: 4, legacy: 0 } },
  { name: "rename", given: settled, acts: ["renameService"], writes: 1 },
];

const REFUSED: readonly AppStory[] = [
  { name: "break", given: settled, acts: ["breakCredentials"], writes: 0 },
  { name: "mend", given: after("breakCredentials"), acts: ["changeCredentials"] },
  { name: "spoil", given: after("changeCredentials"), acts: ["spoilCredentials"], writes: 0 },
  // What was projected then is gone with it.
  { name: "lose", given: settled, acts: ["loseSource"], writes: { own: 0, followed: 0, legacy: 2 } },
  { name: "bringBack", given: after("loseSource"), acts: ["changeCredentials"] },
];

/** Of former times; elsewhere they are as if nothing happened. */
const FORMER: readonly AppStory[] = [
  { name: "flat", given: settled, acts: ["changeFlat"] },
  { name: "point", given: settled, acts: ["pointAtMigrated"], writes: HANDED_OVER },
  { name: "pointed", given: after("pointAtMigrated"), acts: ["changeCredentials"], writes: CHANGED },
];

const BINDINGS: readonly AppStory[] = [
  { name: "bind", given: settled, acts: ["addBinding"], writes: 2 },
  { name: "bindAndChange", given: settled, acts: ["addBinding", "changeCredentials"] },
  { name: "bindTaken", given: settled, acts: ["takeName", "addBinding"], writes: 2 },
  { name: "unbind", given: settled, acts: ["deleteBinding"], writes: 1 },
  { name: "unbindAndChange", given: settled, acts: ["deleteBinding", "changeCredentials"] },
  { name: "rebind", given: settled, acts: ["recreateBinding"] },
];

const ENDS: readonly AppStory[] = [
  { name: "delete", given: settled, acts: ["deleteInstance"], writes: 0 },
  { name: "changeAndDelete", given: settled, acts: ["changeCredentials", "deleteInstance"] },
  { name: "recreate", given: settled, acts: ["recreateInstance"] },
];

const TROUBLE: readonly AppStory[] = [
  { name: "wipeBinding", given: settled, acts: ["wipeBinding"] },
  { name: "wipeInstance", given: settled, acts: ["wipeInstance"], writes: 0 },
  { name: "editMount", given: settled, acts: ["editMount"] },
  { name: "deleteMount", given: settled, acts: ["deleteMount"] },
  { name: "editVcap", given: settled, acts: ["editVcap"], writes: 1 },
  { name: "deleteVcap", given: settled, acts: ["deleteVcap"], writes: 1 },
  { name: "deleteDerived", given: settled, acts: ["deleteDerived"] },
];

export const APP_STORIES: readonly AppStory[] = [
  ...CREDENTIALS,
  ...REFUSED,
  ...FORMER,
  ...BINDINGS,
  ...ENDS,
  ...TROUBLE,
];
