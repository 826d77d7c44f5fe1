import type { Driver } from "./driver.ts";
import type { Family } from "./families/family.ts";
import { DAY_MS, DRIFT_CHECK_MS, NEIGHBOUR } from "./scene.ts";
import {
  atLeast,
  coveted,
  covetedLeftAlone,
  due,
  exactly,
  forcedOften,
  forcedTwice,
  foreignKey,
  goneLeaving,
  goneWithItsKeys,
  impostor,
  impostorLeftAlone,
  made,
  nameTaken,
  pass,
  person,
  requestLeft,
  rotated,
  rotatedLate,
  saysIneffective,
  strayChild,
  strayLeftAlone,
  twoMade,
  unlessIll,
  unlessItsClockJumped,
} from "./story-parts.ts";

/** A scene that is set without disturbance, and what then happens: from there on everything may go wrong. */
export interface Story {
  readonly name: string;
  /** The names of the families that it makes sense for; absent: all. */
  readonly families?: readonly string[];
  readonly given: (driver: Driver) => Promise<void>;
  readonly when?: (driver: Driver) => Promise<void>;
  /** Somebody puts right in the end what was broken so that it cannot work. */
  readonly isMended?: true;
  /** What must have come of it when everything is at rest, beside what always must. */
  readonly expects?: (driver: Driver) => string | undefined;
}

const DIRECT = ["btp", "cloudfoundry"];
/** Those whose keys are at an external system in the end. */
const OUTSIDE = [...DIRECT, "rotating"];
const PARENTS = ["rotating", "generic"];

const REPLACED: readonly Story[] = [
  { name: "rotate", given: made(), when: due, expects: atLeast(2) },
  { name: "expire", given: rotated, when: async (driver) => pass(driver, 2 * DAY_MS + 1000) },
  { name: "nearlyExpire", given: rotated, when: async (driver) => pass(driver, 1.5 * DAY_MS) },
  { name: "rotatedLate", given: rotatedLate, when: async (driver) => pass(driver, DAY_MS) },
  {
    name: "force",
    given: made(),
    when: person("force"),
    expects: (driver) => atLeast(2)(driver) ?? requestLeft(driver),
  },
  {
    name: "forceAgain",
    given: async (driver) => {
      await made()(driver);
      await driver.person("force");
      await driver.settle();
      pass(driver, 3_600_000);
    },
    when: person("force"),
    expects: exactly(2),
  },
  { name: "forceOften", given: forcedOften, when: person("forceOnceMore"), expects: exactly(6) },
  { name: "forceStatic", given: made({ rotation: undefined }), when: person("force"), expects: atLeast(2) },
  { name: "compromise", given: made(), when: person("compromise"), expects: atLeast(2) },
  {
    name: "noSecret",
    families: OUTSIDE,
    given: made({ writeConnectionSecretToRef: undefined }),
    when: due,
    expects: atLeast(2),
  },
  { name: "nameTaken", families: DIRECT, given: nameTaken, when: due, expects: atLeast(3) },
  {
    name: "sameCredentials",
    families: OUTSIDE,
    given: made(),
    when: async (driver) => {
      driver.world.outside.putInstance({ sameCredentials: true }, driver.world.instanceId);
      await due(driver);
    },
    expects: saysIneffective,
  },
];

const POLICIES: readonly Story[] = [
  { name: "shorten", given: rotated, when: person("shortenTtl") },
  { name: "lengthen", given: rotated, when: person("lengthenTtl") },
  { name: "rotateFaster", given: rotated, when: person("rotateFaster") },
  { name: "switchOff", given: rotated, when: person("stopRotation") },
  {
    name: "switchOn",
    given: made({ rotation: undefined }),
    when: async (driver) => {
      await due(driver);
      await driver.person("startRotation");
    },
    expects: atLeast(2),
  },
  {
    name: "pause",
    given: made(),
    when: async (driver) => {
      await driver.person("pause");
      await due(driver);
    },
    expects: exactly(1),
  },
  {
    name: "freeze",
    given: made(),
    when: async (driver) => {
      await driver.person("freeze");
      await due(driver);
    },
    expects: exactly(1),
  },
  {
    name: "window",
    given: made({
      rotation: { ttl: "336h", frequency: "288h", windows: [{ schedule: "0 3 * * *", duration: "1h" }] },
    }),
    when: due,
    expects: exactly(1),
  },
  { name: "change", given: made(), when: person("changeParameters"), expects: atLeast(2) },
  { name: "changeName", families: OUTSIDE, given: made(), when: person("changeName"), expects: atLeast(2) },
  { name: "changeInstance", given: made(), when: person("changeInstance"), expects: atLeast(2) },
];

const TROUBLE: readonly Story[] = [
  {
    name: "outage",
    given: made(),
    when: async (driver) => {
      await due(driver);
      driver.world.outside.set({ outage: "unavailable", outageRequests: 5 });
    },
    expects: atLeast(2),
  },
  {
    name: "throttled",
    given: made(),
    when: async (driver) => {
      await due(driver);
      driver.world.outside.set({ outage: "throttled", outageRequests: 3, retryAfterMs: 10_000 });
    },
    expects: atLeast(2),
  },
  {
    name: "brokerFails",
    given: made(),
    when: async (driver) => {
      await due(driver);
      const settings = { broker: "asynchronous", brokerWorkMs: 5000, brokerFailures: 2 } as const;
      driver.world.outside.putInstance(settings, driver.world.instanceId);
    },
    // The name of the first attempt may be taken by what is left of it.
    expects: (driver) => (atLeast(2)(driver) === undefined ? undefined : atLeast(3)(driver)),
  },
  {
    name: "unbindFails",
    families: OUTSIDE,
    given: rotated,
    when: async (driver) => {
      pass(driver, 2 * DAY_MS + 1000);
      const settings = { brokerFailures: 2, brokerFailsOn: "unbind" } as const;
      driver.world.outside.putInstance(settings, driver.world.instanceId);
    },
  },
  // Everything looks deleted: nothing is made, nothing deleted, nothing forgotten.
  {
    name: "loseRights",
    given: rotated,
    when: async (driver) => {
      pass(driver, 2 * DRIFT_CHECK_MS);
      await driver.person("loseRights");
    },
    expects: unlessIll(2),
  },
  {
    name: "loseRightsWhenDue",
    given: rotated,
    when: async (driver) => {
      pass(driver, 2 * DAY_MS + 1000);
      await driver.person("loseRights");
    },
    expects: unlessIll(2),
  },
  {
    name: "loseSomeRights",
    given: made(),
    when: async (driver) => {
      await due(driver);
      await driver.person("loseSomeRights");
    },
    expects: atLeast(2),
  },
  { name: "loseSecret", given: made(), when: person("deleteSecret") },
  { name: "editSecret", given: made(), when: person("editSecret") },
  { name: "moveSecret", given: rotated, when: person("moveSecret") },
  { name: "tamper", given: made(), when: person("tamperExternalName"), expects: atLeast(2) },
  { name: "misdate", given: made(), when: person("misdate") },
  { name: "loseKey", given: made(), when: person("removeActiveOutside") },
  { name: "loseRetired", given: rotated, when: person("removeRetiredOutside") },
];

const PAST: readonly Story[] = [
  { name: "restore", given: rotated, when: person("restoreStatus") },
  { name: "restoreLong", given: forcedTwice, when: person("restoreBoth") },
  { name: "restoreBoth", given: rotated, when: person("restoreBoth") },
  { name: "restoreWithout", given: rotated, when: person("restoreStatus", "deleteSecret") },
  { name: "recreate", given: rotated, when: person("recreate") },
  { name: "reapply", given: rotated, when: person("reapply") },
  { name: "wipe", given: rotated, when: person("wipeStatus") },
];

const ENDS: readonly Story[] = [
  { name: "delete", given: rotated, when: person("deleteResource") },
  { name: "deleteUnseen", given: rotated, when: person("loseRights", "deleteResource"), expects: goneLeaving(0) },
  {
    name: "orphan",
    given: made({ deletionPolicy: "Orphan" }),
    when: person("deleteResource"),
    expects: goneLeaving(1),
  },
  {
    name: "orphanEarly",
    given: async (driver) => {
      await driver.world.populate({ deletionPolicy: "Orphan" });
      await driver.settle();
    },
    when: person("deleteResource"),
    expects: goneLeaving(1),
  },
  {
    name: "instanceGone",
    given: rotated,
    when: async (driver) => {
      const { outside, children, instanceId } = driver.world;
      // With its keys, and with them every child that has one: whoever looks at a child alone cannot tell.
      const taken = children ? driver.world.stored(children.type).map(({ metadata }) => metadata.uid) : [];
      for (const id of [...outside.liveKeys().map((key) => key.id), ...taken])
        driver.world.tell((judge) => judge.personActed(id));
      outside.removeInstance(instanceId);
      await driver.person("deleteResource");
    },
    expects: goneLeaving(0),
  },
];

const COMPANY: readonly Story[] = [
  { name: "neighbours", given: twoMade, when: due, expects: atLeast(2, NEIGHBOUR) },
  { name: "neighbourGoes", given: twoMade, when: person("deleteResource"), expects: goneWithItsKeys },
  { name: "neighbourReturns", given: twoMade, when: person("reapply") },
  {
    name: "covet",
    families: DIRECT,
    given: coveted,
    expects: covetedLeftAlone,
  },
];

/** A child is one key, and has a controller of its own: what happens to it reaches its parent. */
const CHILDREN: readonly Story[] = [
  {
    name: "childLosesKey",
    families: ["rotating"],
    given: rotated,
    when: async (driver: Driver) => {
      pass(driver, 2 * DRIFT_CHECK_MS);
      await driver.person("loseChildKey");
    },
  },
  // Its key is gone, and what it publishes is dead for as long as it cannot have another one.
  {
    name: "childUnreachable",
    families: ["rotating"],
    given: made(),
    when: async (driver: Driver) => {
      await driver.person("loseChildKey");
      await driver.person("forceChild");
      driver.world.outside.set({ outage: "unavailable", outageRequests: 6 });
    },
  },
  { name: "childTampered", families: ["rotating"], given: made(), when: person("tamperChild") },
  { name: "childForced", given: made(), when: person("forceChild") },
  { name: "childCompromised", families: ["rotating"], given: made(), when: person("compromiseChild") },
  { name: "childSecretEdited", given: made(), when: person("editChildSecret"), expects: unlessIll(1) },
  { name: "childSecretLost", given: made(), when: person("deleteChildSecret"), expects: unlessIll(1) },
  { name: "childDisowned", given: made(), when: person("disownChild"), expects: unlessIll(1) },
  // For longer than it may be, and not for want of what no child would have.
  {
    name: "childIll",
    isMended: true as const,
    given: made(),
    when: async (driver: Driver) => {
      await driver.person("breakChild");
      await driver.work(2);
      pass(driver, 11 * 60_000);
    },
    expects: unlessItsClockJumped(atLeast(2)),
  },
  // The same for all children: another one would not be better off.
  {
    name: "childHindered",
    given: made(),
    when: async (driver: Driver) => {
      await driver.person("deleteChildSecret");
      driver.world.outside.set({ outage: "unavailable" });
      await driver.work(2);
      pass(driver, 11 * 60_000);
    },
    expects: unlessIll(1),
  },
  // Ill for a moment, and well again by itself.
  {
    name: "childIllBriefly",
    given: made(),
    when: async (driver: Driver) => {
      await driver.person("forceChild");
      driver.world.outside.putInstance({ brokerFailures: 2, brokerFailsOn: "bind" }, driver.world.instanceId);
    },
    expects: unlessIll(1),
  },
  // The next child cannot get well with what it was made from, and is given up for one that can.
  {
    name: "childStuck",
    given: made(),
    when: async (driver: Driver) => {
      await driver.person("pointNowhere");
      await driver.work(6);
      await driver.person("pointBack");
    },
    expects: atLeast(3),
  },
  {
    name: "impostor",
    families: ["generic"],
    given: made(),
    when: async (driver: Driver) => {
      await impostor(driver);
      await due(driver);
    },
    expects: impostorLeftAlone,
  },
  {
    name: "covetStray",
    given: strayChild,
    expects: strayLeftAlone,
  },
  { name: "everyChildLost", given: rotated, when: person("removeActiveOutside", "removeRetiredOutside") },
].map((story) => ({ families: PARENTS, ...story }));

/** A static key, a rotating one, and one that somebody else has made. */
const FIRST: readonly Story[] = [
  { name: "create", given: (driver) => driver.world.populate(), expects: atLeast(1) },
  { name: "static", given: (driver) => driver.world.populate({ rotation: undefined }), expects: atLeast(1) },
  { name: "import", families: DIRECT, given: foreignKey, expects: atLeast(1) },
];

const STORIES: readonly Story[] = [
  ...FIRST,
  ...REPLACED,
  ...POLICIES,
  ...TROUBLE,
  ...PAST,
  ...ENDS,
  ...COMPANY,
  ...CHILDREN,
];

export const storiesOf = ({ name }: Family): readonly Story[] =>
  STORIES.filter(({ families }) => families?.includes(name) ?? true);
