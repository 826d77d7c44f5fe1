import { after, settled } from "../story-steps.ts";
import type { ToldStory } from "../told-repertoire.ts";
import type { RestartAct } from "./acts.ts";
import { RestartDriver } from "./restart-driver.ts";
import { STOPPED, WEB } from "./shop.ts";

export interface RestartStory extends ToldStory<RestartDriver> {
  readonly acts: readonly RestartAct[];
  readonly live?: readonly RestartAct[];
  /** How often the workload is restarted by us in all, where nobody else interferes; absent: it is not said. */
  readonly restarts?: number;
  /** The same where nobody rolls its pods, if it is another number. */
  readonly bareRestarts?: number;
  readonly expects?: (driver: RestartDriver) => string | undefined;
}

type Step = (driver: RestartDriver) => Promise<void>;

const isStopped =
  (wanted: boolean) =>
  ({ world }: RestartDriver): string | undefined => {
    const is = world.web()?.metadata.annotations?.[STOPPED] !== undefined;
    return is === wanted ? undefined : `${WEB.name} is ${is ? "" : "not "}stopped`;
  };

const CHANGED: readonly RestartStory[] = [
  { name: "first", given: (driver) => driver.world.populate(), acts: [], restarts: 0 },
  { name: "nothing", given: settled, acts: [], restarts: 0 },
  { name: "change", given: settled, acts: ["changeSecret"], restarts: 1 },
  { name: "changeAgain", given: after("changeSecret"), acts: ["changeSecret"], restarts: 2 },
  { name: "changeOften", given: settled, acts: ["changeSecret", "changeSecret", "changeSecret"], restarts: 1 },
  { name: "changeBack", given: after("changeSecret"), acts: ["changeBack"], restarts: 2 },
  { name: "changeAndBack", given: settled, acts: ["changeSecret", "changeBack"], restarts: 0 },
  { name: "otherKey", given: settled, acts: ["changeOther"], restarts: 0 },
  { name: "entryLost", given: settled, acts: ["loseEntry"], restarts: 0 },
  { name: "entryBack", given: after("loseEntry"), acts: ["changeBack"], restarts: 0 },
  { name: "entryAnother", given: settled, acts: ["loseEntry", "changeSecret"], restarts: 1 },
  { name: "entryReplaced", given: after("loseEntry"), acts: ["changeSecret"], restarts: 1 },
  { name: "label", given: settled, acts: ["labelSecret"], restarts: 0 },
  { name: "sameAgain", given: settled, acts: ["loseSecret", "bringSecretBack"], restarts: 0 },
  { name: "anotherInstead", given: settled, acts: ["loseSecret", "bringAnotherBack"], restarts: 1 },
  { name: "lost", given: after("loseSecret"), acts: ["bringAnotherBack"], restarts: 1 },
];

const WORKLOAD: readonly RestartStory[] = [
  { name: "edit", given: settled, acts: ["editTemplate"], restarts: 0 },
  { name: "editAndChange", given: settled, acts: ["changeSecret", "editTemplate"], restarts: 1 },
  { name: "useOther", given: settled, acts: ["useOther"], restarts: 0 },
  { name: "useOtherAndChange", given: after("useOther"), acts: ["changeSecret"], restarts: 0 },
  { name: "undo", given: after("changeSecret"), acts: ["undo"], restarts: 1 },
  { name: "undoTemplate", given: after("changeSecret", "changeSecret"), acts: ["undoTemplate"], restarts: 2 },
  { name: "undoLate", given: after("changeSecret", "changeSecret"), acts: ["undo"], restarts: 2 },
  { name: "undoAndChange", given: after("changeSecret"), acts: ["undo", "changeSecret"] },
  { name: "undone", given: after("changeSecret", "undo"), acts: ["changeSecret"], restarts: 2 },
  { name: "revertState", given: after("changeSecret"), acts: ["revertState"], restarts: 1 },
  { name: "revertTemplate", given: after("changeSecret"), acts: ["revertTemplate"], restarts: 1 },
  { name: "revertBoth", given: after("changeSecret"), acts: ["revertState", "revertTemplate"], restarts: 1 },
  { name: "reverted", given: after("changeSecret", "revertState"), acts: ["changeSecret"], restarts: 2 },
  { name: "restoreState", given: after("changeSecret"), acts: ["restoreState"], restarts: 1 },
  { name: "optOut", given: settled, acts: ["optOut", "changeSecret"], restarts: 0 },
  { name: "optBackIn", given: after("optOut", "changeSecret"), acts: ["optIn"], restarts: 1 },
  { name: "scaleToZero", given: settled, acts: ["scaleToZero", "changeSecret"], restarts: 1 },
  { name: "scaleUp", given: after("scaleToZero"), acts: ["changeSecret", "scaleUp"], restarts: 1 },
  { name: "deleteWorkload", given: settled, acts: ["changeSecret", "deleteWorkload"], restarts: 0 },
  { name: "recreateAndChange", given: after("changeSecret"), acts: ["changeSecret", "recreateWorkload"], restarts: 0 },
  { name: "recreateWorkload", given: after("changeSecret"), acts: ["recreateWorkload"], restarts: 0 },
];

/** Somebody changes the pod template before the eyes of an operator, and so begins a rollout, where anything rolls. */
const theirs = (
  name: string,
  live: readonly RestartAct[],
  [restarts, bareRestarts]: readonly [rolling: number, bare: number],
  given: Step = settled,
): RestartStory => ({ name, given, acts: [], live, restarts, bareRestarts });

const THEIRS: readonly RestartStory[] = [
  theirs("changeThenEdit", ["changeSecret", "editTemplate"], [0, 1]),
  theirs("changedThenEdit", ["changeSecret", "editTemplate"], [1, 2], after("changeSecret")),
  theirs("editThenChange", ["editTemplate", "changeSecret"], [1, 1]),
  theirs("changeThenEdits", ["changeSecret", "editTemplate", "editTemplate"], [0, 1]),
  theirs("changeThenEditUndone", ["changeSecret", "editTemplate", "undo"], [1, 1]),
  theirs("changeThenEditThenChange", ["changeSecret", "editTemplate", "changeSecret"], [1, 1]),
  theirs("changeThenEditAtZero", ["changeSecret", "editTemplate", "scaleUp"], [0, 1], after("scaleToZero")),
];

const TROUBLE: readonly RestartStory[] = [
  { name: "jam", given: settled, acts: ["jam", "changeSecret"], restarts: 1 },
  {
    name: "jammed",
    given: async (driver) => {
      await after("jam")(driver);
      await driver.person("changeSecret");
      await driver.work(8);
    },
    acts: ["changeSecret"],
    restarts: 2,
  },
  { name: "holdBack", given: settled, acts: ["holdBack", "changeSecret"], restarts: 0, expects: isStopped(true) },
  { name: "letGo", given: after("holdBack", "changeSecret"), acts: ["release"], restarts: 1 },
  {
    name: "fight",
    given: after("changeSecret", "changeSecret", "changeSecret"),
    acts: ["changeSecret"],
    restarts: 3,
    expects: isStopped(true),
  },
  {
    name: "peace",
    given: after("changeSecret", "changeSecret", "changeSecret", "changeSecret"),
    acts: ["release"],
    restarts: 1,
    expects: isStopped(false),
  },
];

/** The key was lost, and whoever came next had another one: what is known is under that now. */
const keyLost: Step = async (driver) => {
  await after("changeSecret", "loseKey")(driver);
  await new RestartDriver(driver.world, () => undefined).settle();
};

/** A scene that is set has other versions than it was played in: under a lost key, all of it may have changed. */
const KEYS: readonly RestartStory[] = [
  { name: "keyLost", given: keyLost, acts: [], restarts: 1 },
  { name: "keyLostThenChange", given: keyLost, acts: ["changeSecret"], restarts: 2 },
  { name: "loseKeyAndChange", given: settled, acts: ["changeSecret", "loseKey"], restarts: 1 },
  { name: "loseKeyAndLabel", given: settled, acts: ["labelSecret", "loseKey"], restarts: 1 },
];

export const RESTART_STORIES: readonly RestartStory[] = [...CHANGED, ...WORKLOAD, ...THEIRS, ...TROUBLE, ...KEYS];
