import { apiVersionOf, type KubeObject } from "../kube/objects.ts";
import { keyName } from "../reconcile/managed/key-name.ts";
import { markMetadata } from "../reconcile/parents/child-marks.ts";
import type { Driver } from "./driver.ts";
import type { Children, LiveKey, Wish } from "./families/family.ts";
import type { ActName } from "./person.ts";
import { refOf } from "./places.ts";
import { BASE_NAME, CLUSTER_ID, DAY_MS, EXTERNAL_NAME, NEIGHBOUR, RESOURCE } from "./scene.ts";
import type { Subject } from "./truth.ts";

/** What stories are told with: scenes to begin with, things that happen, and what must have come of them. */
type Step = (driver: Driver) => Promise<void>;

export const pass = (driver: Driver, ms: number): void => driver.world.clock.advance(ms);

export const made =
  (wish: Wish = {}): Step =>
  async (driver) => {
    await driver.world.populate(wish);
    await driver.settle();
    pass(driver, 60_000);
    await driver.backUp();
  };

export const rotated: Step = async (driver) => {
  await made()(driver);
  await due(driver);
  await driver.settle();
  // Lists have caught up, and clocks that differ a little no longer matter, before anything else happens.
  pass(driver, 300_000);
};

export const due: Step = async (driver) => pass(driver, 12 * DAY_MS);

export const person =
  (...names: readonly ActName[]): Step =>
  async (driver) => {
    for (const name of names) await driver.person(name);
  };

/** Both resources, each with its key. */
export const twoMade: Step = async (driver) => {
  await made()(driver);
  await driver.world.createResource({}, { name: NEIGHBOUR });
  await driver.settle();
  pass(driver, 60_000);
};

/** A key that somebody made by hand, and a resource that is to take it over. */
export const foreignKey: Step = async (driver) => {
  const { world } = driver;
  await world.populate();
  await driver.settle();
  const [made] = world.outside.liveKeys();
  if (!made) throw new Error("there is no key to be taken over");
  await driver.person("dropFinalizerAndDelete");
  await world.unmark(made.id);
  await world.collectGarbage();
  await world.createResource({}, { annotations: { [EXTERNAL_NAME]: made.id } });
};

/** A resource that asks for the key of another one that lives. */
export const coveted: Step = async (driver) => {
  const { world } = driver;
  await world.populate({}, { name: NEIGHBOUR });
  await driver.settle();
  pass(driver, 60_000);
  const id = subject(driver, NEIGHBOUR)?.state.active?.id;
  if (id === undefined) throw new Error("there is no key to be asked for");
  await world.createResource({}, { annotations: { [EXTERNAL_NAME]: id } });
};

/** What was there before is not its own; it makes one once the other is gone for good. */
export const covetedLeftAlone = (driver: Driver): string | undefined => {
  const since = Date.parse(subject(driver)?.object.metadata.creationTimestamp ?? "");
  const isTaken = ({ holder, createdAt }: LiveKey): boolean => holder === RESOURCE && createdAt < since;
  return driver.world.outside.liveKeys().some(isTaken) ? "a key of somebody else was taken over" : undefined;
};

const STRAY = "stray";

/** A resource that is no parent's child, and a parent that asks for it. */
export const strayChild: Step = async (driver) => {
  const { world } = driver;
  const { type, specOf } = childrenIn(driver);
  await world.outside.configure(world.kube);
  const { metadata } = await world.kube.create<KubeObject>(type, {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: refOf(type, STRAY),
    spec: specOf(STRAY, world.instanceId),
  });
  world.judge.setFree(metadata.uid ?? "");
  await driver.settle();
  await world.createResource({}, { annotations: { [EXTERNAL_NAME]: metadata.uid ?? "" } });
};

export const strayLeftAlone = (driver: Driver): string | undefined => {
  const { live } = driver.world.levels[0].truth();
  const stray = [...live.values()].find(({ name }) => name === STRAY);
  if (!stray) return "somebody else's child is gone";
  return stray.cluster === undefined && stray.holder === undefined ? undefined : "somebody else's child was taken over";
};

const IMPOSTOR = "keepsake";

/** Somebody puts the marks of a parent on a resource of their own. */
export const impostor: Step = async (driver) => {
  const { world } = driver;
  const { type, specOf } = childrenIn(driver);
  const { uid: ownerUid = "", namespace } = (await world.resource())?.metadata ?? {};
  const owner = { ownerUid, ownerKind: world.kind.type.kind, ownerName: RESOURCE };
  const place = namespace === undefined ? {} : { ownerNamespace: namespace };
  const marks = markMetadata({ clusterId: CLUSTER_ID, ...owner, ...place, sequence: 99 });
  const { metadata } = await world.kube.create<KubeObject>(type, {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { ...marks, ...refOf(type, IMPOSTOR) },
    spec: specOf(IMPOSTOR, world.instanceId),
  });
  world.judge.forge(metadata.uid ?? "");
};

export const impostorLeftAlone = (driver: Driver): string | undefined => {
  const isThere = [...driver.world.truth().live.values()].some(({ name }) => name === IMPOSTOR);
  return isThere ? atLeast(2)(driver) : "somebody else's resource is gone";
};

function childrenIn({ world }: Driver): Children {
  const { children } = world;
  if (!children) throw new Error("there are no children in this world");
  return children;
}

/** Forced as often as one may, and the keys of all that are still there. */
export const forcedOften: Step = async (driver) => {
  await made()(driver);
  for (const name of ["force", "forceOnceMore", "force", "forceOnceMore", "force"] as const) {
    await driver.person(name);
    await driver.settle();
    pass(driver, 300_000);
  }
};

/** The name that the next key would bear is taken by somebody else's. */
export const nameTaken: Step = async (driver) => {
  await made()(driver);
  const { object, state } = subject(driver) ?? {};
  await driver.world.plant(keyName(BASE_NAME, object?.metadata.uid ?? "", (state?.sequence ?? 0) + 1));
  pass(driver, 60_000);
};

/** Three keys, and a backup from the time of the first. */
export const forcedTwice: Step = async (driver) => {
  await made()(driver);
  for (const name of ["force", "forceOnceMore"] as const) {
    await driver.person(name);
    await driver.settle();
    pass(driver, 300_000);
  }
};

/** The rotation came a day and a half late; the key before it has no less time for that. */
export const rotatedLate: Step = async (driver) => {
  await made()(driver);
  pass(driver, 13.5 * DAY_MS);
  await driver.settle();
  pass(driver, 300_000);
};

const subject = ({ world }: Driver, name = RESOURCE): Subject | undefined => world.truth().subjects.get(name);

/** So many keys were intended: more only where something went wrong. */
export const atLeast =
  (wanted: number, name = RESOURCE) =>
  (driver: Driver): string | undefined => {
    const sequence = subject(driver, name)?.state.sequence;
    if (driver.disturbances.length === 0 && sequence !== wanted)
      return `the sequence of ${name} is ${sequence}, it should be ${wanted}`;
    return sequence !== undefined && sequence < wanted
      ? `the sequence of ${name} is ${sequence}, it should be ${wanted} at least`
      : undefined;
  };

/** How long something has lasted is told by a clock: one that jumps may put off what comes of it. */
export const unlessItsClockJumped =
  (expects: (driver: Driver) => string | undefined) =>
  (driver: Driver): string | undefined =>
    driver.disturbances.some(({ what }) => what.kind === "jump") ? undefined : expects(driver);

export const exactly =
  (wanted: number) =>
  (driver: Driver): string | undefined => {
    if (driver.hasTimePassed) return atLeast(wanted)(driver);
    const sequence = subject(driver)?.state.sequence;
    return sequence === wanted ? undefined : `the sequence is ${sequence}, it should be ${wanted}`;
  };

/** Exactly so many; a child that is disturbed may be ill for so long that its parent gives it up. */
export const unlessIll =
  (wanted: number) =>
  (driver: Driver): string | undefined => {
    const isDisturbed = driver.disturbances.length > 0 && driver.world.children !== undefined;
    return isDisturbed ? atLeast(wanted)(driver) : exactly(wanted)(driver);
  };

export const requestLeft = (driver: Driver): string | undefined =>
  subject(driver)?.state.request ? "the request is still there" : undefined;

/** The resource is gone, and what it held of keys too. */
export const goneWithItsKeys = (driver: Driver): string | undefined => {
  if (subject(driver)) return "the resource is still there";
  const isLeft = [...driver.world.truth().live.values()].some(({ holder }) => holder === RESOURCE);
  return isLeft || !subject(driver, NEIGHBOUR) ? "one was taken for the other" : undefined;
};

/** The resource is gone, and so many keys are still outside, whoever's they are. */
export const goneLeaving =
  (count: number) =>
  (driver: Driver): string | undefined => {
    if (subject(driver)) return "the resource is still there";
    const { size = 0 } = driver.world.levels.at(-1)?.truth().live ?? {};
    return size === count ? undefined : `${size} keys are left outside, it should be ${count}`;
  };

export const saysIneffective = (driver: Driver): string | undefined => {
  const { object, state } = subject(driver) ?? {};
  // A child that is ill for a moment could not stay.
  if (driver.disturbances.length > 0 && driver.world.children) return undefined;
  if (state?.active?.sequence !== 1) return "the key was replaced by one with the same credentials";
  return JSON.stringify(object?.status).includes("RotationIneffective")
    ? undefined
    : "nobody says that nothing changed";
};
