import { keyName } from "../reconcile/managed/key-name.ts";
import type { Driver } from "./driver.ts";
import type { ActName } from "./person.ts";
import { BASE_NAME, DAY_MS, EXTERNAL_NAME, NEIGHBOUR, RESOURCE } from "./scene.ts";
import { holderOf, type Subject } from "./truth.ts";
import type { Climate } from "./world.ts";

/** A scene that is set without disturbance, and what then happens: from there on everything may go wrong. */
export interface Story {
  readonly name: string;
  readonly given: (driver: Driver) => Promise<void>;
  readonly when?: (driver: Driver) => Promise<void>;
  /** What must have come of it when everything is at rest, beside what always must. */
  readonly expects?: (driver: Driver) => string | undefined;
}

/** How the outside behaves. */
export const CLIMATES: readonly Climate[] = [
  { name: "calm" },
  { name: "asynchronous", instance: { broker: "asynchronous", brokerWorkMs: 5000 } },
  { name: "lagging", switches: { createdHiddenMs: 20_000, deletedListedMs: 20_000 } },
  { name: "racing", switches: { nameRaceMs: 30_000, createdHiddenMs: 5000 } },
];

type Spec = Readonly<Record<string, unknown>>;
type Step = (driver: Driver) => Promise<void>;

const pass = (driver: Driver, ms: number): void => driver.world.clock.advance(ms);

const made =
  (spec: Spec = {}): Step =>
  async (driver) => {
    await driver.world.populate(spec);
    await driver.settle();
    pass(driver, 60_000);
    await driver.backUp();
  };

const rotated: Step = async (driver) => {
  await made()(driver);
  await due(driver);
  await driver.settle();
  // Lists have caught up, and clocks that differ a little no longer matter, before anything else happens.
  pass(driver, 300_000);
};

const due: Step = async (driver) => pass(driver, 12 * DAY_MS);

const person =
  (...names: readonly ActName[]): Step =>
  async (driver) => {
    for (const name of names) await driver.person(name);
  };

/** Both resources, each with its key. */
const twoMade: Step = async (driver) => {
  await made()(driver);
  await driver.world.createResource({}, { name: NEIGHBOUR });
  await driver.settle();
  pass(driver, 60_000);
};

/** A key that somebody made by hand, and a resource that is to take it over. */
const foreignKey: Step = async (driver) => {
  const { world } = driver;
  await world.populate();
  await driver.settle();
  const [made] = world.sandbox.liveBindings();
  if (!made) throw new Error("there is no key to be taken over");
  await driver.person("dropFinalizerAndDelete");
  await world.unmark(made.id);
  await world.collectGarbage();
  await world.createResource({}, { annotations: { [EXTERNAL_NAME]: made.id } });
};

/** A resource that asks for the key of another one that lives. */
const coveted: Step = async (driver) => {
  const { world } = driver;
  await world.populate({}, { name: NEIGHBOUR });
  await driver.settle();
  pass(driver, 60_000);
  const id = subject(driver, NEIGHBOUR)?.state.active?.id;
  if (id === undefined) throw new Error("there is no key to be asked for");
  await world.createResource({}, { annotations: { [EXTERNAL_NAME]: id } });
};

/** Forced as often as one may, and the keys of all that are still there. */
const forcedOften: Step = async (driver) => {
  await made()(driver);
  for (const name of ["force", "forceOnceMore", "force", "forceOnceMore", "force"] as const) {
    await driver.person(name);
    await driver.settle();
    pass(driver, 300_000);
  }
};

/** The name that the next key would bear is taken by somebody else's. */
const nameTaken: Step = async (driver) => {
  await made()(driver);
  const { object, state } = subject(driver) ?? {};
  await driver.world.plant(keyName(BASE_NAME, object?.metadata.uid ?? "", (state?.sequence ?? 0) + 1));
  pass(driver, 60_000);
};

/** Three keys, and a backup from the time of the first. */
const forcedTwice: Step = async (driver) => {
  await made()(driver);
  for (const name of ["force", "forceOnceMore"] as const) {
    await driver.person(name);
    await driver.settle();
    pass(driver, 300_000);
  }
};

/** The rotation came a day and a half late; the key before it has no less time for that. */
const rotatedLate: Step = async (driver) => {
  await made()(driver);
  pass(driver, 13.5 * DAY_MS);
  await driver.settle();
  pass(driver, 300_000);
};

const subject = ({ world }: Driver, name = RESOURCE): Subject | undefined => world.truth().subjects.get(name);

/** So many keys were intended: more only where something went wrong. */
const atLeast =
  (wanted: number, name = RESOURCE) =>
  (driver: Driver): string | undefined => {
    const sequence = subject(driver, name)?.state.sequence;
    if (driver.disturbances.length === 0 && sequence !== wanted)
      return `the sequence of ${name} is ${sequence}, it should be ${wanted}`;
    return sequence !== undefined && sequence < wanted
      ? `the sequence of ${name} is ${sequence}, it should be ${wanted} at least`
      : undefined;
  };

const exactly =
  (wanted: number) =>
  (driver: Driver): string | undefined => {
    if (driver.hasTimePassed) return atLeast(wanted)(driver);
    const sequence = subject(driver)?.state.sequence;
    return sequence === wanted ? undefined : `the sequence is ${sequence}, it should be ${wanted}`;
  };

const requestLeft = (driver: Driver): string | undefined =>
  subject(driver)?.state.request ? "the request is still there" : undefined;

/** The resource is gone, and what it held of keys too. */
const goneWithItsKeys = (driver: Driver): string | undefined => {
  if (subject(driver)) return "the resource is still there";
  const isLeft = driver.world.sandbox.liveBindings().some((key) => holderOf(key) === RESOURCE);
  return isLeft || !subject(driver, NEIGHBOUR) ? "one was taken for the other" : undefined;
};

/** The resource is gone, and so many keys are still outside, whoever's they are. */
const goneLeaving =
  (count: number) =>
  (driver: Driver): string | undefined => {
    if (subject(driver)) return "the resource is still there";
    const { length } = driver.world.sandbox.liveBindings();
    return length === count ? undefined : `${length} keys are left outside, it should be ${count}`;
  };

const saysIneffective = (driver: Driver): string | undefined => {
  const { object, state } = subject(driver) ?? {};
  if (state?.active?.sequence !== 1) return "the key was replaced by one with the same credentials";
  return JSON.stringify(object?.status).includes("RotationIneffective")
    ? undefined
    : "nobody says that nothing changed";
};

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
  { name: "noSecret", given: made({ writeConnectionSecretToRef: undefined }), when: due, expects: atLeast(2) },
  { name: "nameTaken", given: nameTaken, when: due, expects: atLeast(3) },
  {
    name: "sameCredentials",
    given: made(),
    when: async (driver) => {
      driver.world.sandbox.controls.putInstance({ sameCredentials: true }, driver.world.instanceId);
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
  { name: "changeName", given: made(), when: person("changeName"), expects: atLeast(2) },
  { name: "changeInstance", given: made(), when: person("changeInstance"), expects: atLeast(2) },
];

const TROUBLE: readonly Story[] = [
  {
    name: "outage",
    given: made(),
    when: async (driver) => {
      await due(driver);
      driver.world.sandbox.controls.set({ outage: "unavailable", outageRequests: 5 });
    },
    expects: atLeast(2),
  },
  {
    name: "brokerFails",
    given: made(),
    when: async (driver) => {
      await due(driver);
      const settings = { broker: "asynchronous", brokerWorkMs: 5000, brokerFailures: 2 } as const;
      driver.world.sandbox.controls.putInstance(settings, driver.world.instanceId);
    },
    // The name of the first attempt may be taken by what is left of it.
    expects: (driver) => (atLeast(2)(driver) === undefined ? undefined : atLeast(3)(driver)),
  },
  { name: "loseSecret", given: made(), when: person("deleteSecret") },
  { name: "editSecret", given: made(), when: person("editSecret") },
  { name: "moveSecret", given: rotated, when: person("moveSecret") },
  { name: "tamper", given: made(), when: person("tamperExternalName"), expects: atLeast(2) },
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
      for (const { id } of driver.world.sandbox.liveBindings()) driver.world.judge.personActed(id);
      driver.world.sandbox.controls.removeInstance(driver.world.instanceId);
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
    given: coveted,
    expects: ({ world }) =>
      world.sandbox.liveBindings().some((key) => holderOf(key) === RESOURCE)
        ? "a key of somebody else was taken over"
        : undefined,
  },
];

/** A static key, a rotating one, and one that somebody else has made. */
const FIRST: readonly Story[] = [
  { name: "create", given: (driver) => driver.world.populate(), expects: atLeast(1) },
  { name: "static", given: (driver) => driver.world.populate({ rotation: undefined }), expects: atLeast(1) },
  { name: "import", given: foreignKey, expects: atLeast(1) },
];

export const STORIES: readonly Story[] = [...FIRST, ...REPLACED, ...POLICIES, ...TROUBLE, ...PAST, ...ENDS, ...COMPANY];
