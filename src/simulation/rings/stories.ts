import { DAY_MS } from "../scene.ts";
import type { ToldStory } from "../told-repertoire.ts";
import type { RingAct } from "./acts.ts";
import { createdAtOn, PUBLISHED } from "./objects.ts";
import type { RingDriver } from "./ring-driver.ts";

export interface RingStory extends ToldStory<RingDriver> {
  readonly acts?: readonly RingAct[];
  /** How many keys were intended in all, where nobody interferes. */
  readonly sequence?: number;
  readonly expects?: (driver: RingDriver) => string | undefined;
}

type Step = (driver: RingDriver) => Promise<void>;
type Spec = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
const DUE_MS = 12 * DAY_MS;
const EXPIRED_MS = 2 * DAY_MS + MINUTE_MS;

const made =
  (spec: Spec = {}): Step =>
  async (driver) => {
    await driver.world.populate(spec);
    await driver.settle();
    driver.world.clock.advance(5 * MINUTE_MS);
    await driver.settle();
    driver.backUp();
  };

/** The second key is in use, and the first one still lives. */
const rotated: Step = async (driver) => {
  await made()(driver);
  driver.world.clock.advance(DUE_MS);
  await driver.settle();
  driver.world.clock.advance(5 * MINUTE_MS);
  await driver.settle();
};

/** The first one is gone. */
const expired: Step = async (driver) => {
  await rotated(driver);
  driver.world.clock.advance(EXPIRED_MS);
  await driver.settle();
};

/** These have happened, and somebody has worked on it for a while, whatever came of it. */
const after =
  (given: Step, acts: readonly RingAct[], thenMs = 0): Step =>
  async (driver) => {
    await given(driver);
    for (const act of acts) await driver.person(act);
    driver.world.clock.advance(thenMs);
    await driver.work(8);
  };

const gone = ({ world }: RingDriver): string | undefined =>
  world.subject() ? "the resource is still there" : undefined;

const dated = ({ world }: RingDriver): string | undefined =>
  createdAtOn(world.secret(PUBLISHED)) === undefined ? "the date is not put back" : undefined;

const ROTATIONS: readonly RingStory[] = [
  { name: "create", given: (driver) => driver.world.populate(), sequence: 1 },
  { name: "static", given: (driver) => driver.world.populate({ rotation: undefined }), sequence: 1 },
  { name: "rotate", given: made(), thenMs: DUE_MS, sequence: 2 },
  { name: "expire", given: rotated, thenMs: EXPIRED_MS, sequence: 2 },
  { name: "force", given: made(), acts: ["force"], sequence: 2 },
  { name: "forceAgain", given: rotated, acts: ["forceOnceMore"], sequence: 3 },
  { name: "compromise", given: made(), acts: ["compromise"], sequence: 2 },
  { name: "changeAlgorithm", given: made(), acts: ["changeAlgorithm"], sequence: 2 },
  { name: "changeKeyName", given: made(), acts: ["changeKeyName"], sequence: 2 },
  { name: "shorten", given: rotated, acts: ["shortenTtl"], sequence: 2 },
  { name: "rotateFaster", given: rotated, acts: ["rotateFaster"], sequence: 2 },
  { name: "switchOff", given: rotated, acts: ["stopRotation"], thenMs: DUE_MS, sequence: 2 },
  { name: "pause", given: made(), acts: ["pause"], thenMs: DUE_MS, sequence: 1 },
  { name: "freeze", given: made(), acts: ["freeze"], thenMs: DUE_MS, sequence: 1 },
];

const SERVERS: readonly RingStory[] = [
  { name: "silent", given: made(), acts: ["silence"], thenMs: DUE_MS, sequence: 2 },
  { name: "jammed", given: made(), acts: ["jam"], thenMs: DUE_MS, sequence: 2 },
  { name: "mountHeld", given: made(), acts: ["holdMount"], thenMs: DUE_MS, sequence: 2 },
  { name: "silentWhenGone", given: rotated, acts: ["silence"], thenMs: EXPIRED_MS, sequence: 2 },
  { name: "shutOut", given: made(), acts: ["shutOut"], thenMs: DUE_MS, sequence: 2 },
  { name: "shutOutWhenGone", given: rotated, acts: ["shutOut"], thenMs: EXPIRED_MS, sequence: 2 },
  { name: "jammedWhenGone", given: rotated, acts: ["jam"], thenMs: EXPIRED_MS, sequence: 2 },
  { name: "heldWhenGone", given: rotated, acts: ["holdMount"], thenMs: EXPIRED_MS, sequence: 2 },
  { name: "podComes", given: rotated, acts: ["addPod"], sequence: 2 },
  { name: "podGoes", given: after(made(), ["silence"], DUE_MS), acts: ["removePod"], sequence: 2 },
  { name: "podReplaced", given: after(made(), ["jam"], DUE_MS), acts: ["replacePod"], sequence: 2 },
  { name: "namedRestarts", given: after(made(), ["holdMount"], DUE_MS), acts: ["restartNamed"], sequence: 2 },
  { name: "changeAtGate", given: after(made(), ["holdMount"], DUE_MS), acts: ["changeAlgorithm"], sequence: 3 },
  { name: "nobody", given: after(made(), ["removePod", "removePod"]), thenMs: DUE_MS, sequence: 2 },
];

const TROUBLE: readonly RingStory[] = [
  { name: "loseRing", given: made(), acts: ["deleteRing"], sequence: 1 },
  { name: "loseRingRotated", given: rotated, acts: ["deleteRing"], sequence: 2 },
  { name: "editRing", given: made(), acts: ["editRing"], sequence: 1 },
  { name: "editFiles", given: made(), acts: ["editFiles"], sequence: 1 },
  { name: "restoreRing", given: rotated, acts: ["restoreRing"], sequence: 2 },
  { name: "loseSecret", given: made(), acts: ["deleteSecret"], sequence: 1 },
  { name: "editSecret", given: made(), acts: ["editSecret"], sequence: 1 },
  { name: "restoreSecret", given: rotated, acts: ["restoreSecret"], sequence: 2 },
  { name: "restoreDead", given: expired, acts: ["restoreSecret"], sequence: 2 },
  { name: "loseBoth", given: made(), acts: ["deleteBoth"] },
  { name: "dateBack", given: made(), acts: ["dateBack"], sequence: 2 },
  { name: "dateAhead", given: made(), acts: ["dateAhead"], sequence: 1, expects: dated },
  { name: "dateNonsense", given: made(), acts: ["dateNonsense"], sequence: 1, expects: dated },
  { name: "dateRemoved", given: made(), acts: ["dateRemoved"], sequence: 1, expects: dated },
  { name: "tamper", given: made(), acts: ["tamperExternalName"], sequence: 2 },
];

const PAST: readonly RingStory[] = [
  { name: "wipe", given: rotated, acts: ["wipeStatus"] },
  { name: "restore", given: rotated, acts: ["restoreStatus"] },
  { name: "restoreAll", given: rotated, acts: ["restoreAll"] },
  { name: "recreate", given: rotated, acts: ["recreate"] },
  { name: "reapply", given: rotated, acts: ["reapply"] },
];

const ENDS: readonly RingStory[] = [
  { name: "delete", given: rotated, acts: ["deleteResource"], expects: gone },
  { name: "deleteAtGate", given: after(made(), ["silence"], DUE_MS), acts: ["deleteResource"], expects: gone },
  { name: "deleteJammed", given: after(rotated, ["jam"], EXPIRED_MS), acts: ["deleteResource"], expects: gone },
  { name: "orphan", given: made({ deletionPolicy: "Orphan" }), acts: ["deleteResource"], expects: gone },
];

export const RING_STORIES: readonly RingStory[] = [...ROTATIONS, ...SERVERS, ...TROUBLE, ...PAST, ...ENDS];

/** Of servers that are restarted for another key. */
export const RESTARTED_STORIES: readonly RingStory[] = [
  ...ROTATIONS,
  { name: "silent", given: made(), acts: ["silence"], thenMs: DUE_MS, sequence: 2 },
  { name: "shutOut", given: made(), acts: ["shutOut"], thenMs: DUE_MS, sequence: 2 },
  { name: "podGoes", given: after(made(), [], DUE_MS), acts: ["removePod"], sequence: 2 },
  { name: "stopped", given: rotated, acts: ["stopRestarts"], thenMs: DUE_MS, sequence: 3 },
  { name: "podsHeld", given: made(), acts: ["holdPods"], thenMs: DUE_MS, sequence: 2 },
  ...TROUBLE,
  ...PAST,
  ...ENDS.filter(({ name }) => name === "delete" || name === "orphan"),
  { name: "deleteHeld", given: after(made(), ["holdPods"], DUE_MS), acts: ["deleteResource"], expects: gone },
];

export const sequenceOf = ({ world }: RingDriver): number | undefined => world.subject()?.state.sequence;
