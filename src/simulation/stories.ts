import type { Driver } from "./driver.ts";
import { DAY_MS, EXTERNAL_NAME } from "./scene.ts";
import type { Climate } from "./world.ts";

/** A scene that is set without disturbance, and what then happens: from there on everything may go wrong. */
export interface Story {
  readonly name: string;
  readonly given: (driver: Driver) => Promise<void>;
  readonly when?: (driver: Driver) => Promise<void>;
  /** What must have come of it when everything is at rest, beside what always must. */
  readonly expects?: (driver: Driver) => Promise<string | undefined>;
}

/** How the outside behaves. */
export const CLIMATES: readonly Climate[] = [
  { name: "calm" },
  { name: "asynchronous", instance: { broker: "asynchronous", brokerWorkMs: 25_000 } },
  { name: "lagging", switches: { createdHiddenMs: 20_000, deletedListedMs: 20_000 } },
  { name: "racing", switches: { nameRaceMs: 30_000, createdHiddenMs: 5000 } },
];

const pass = (driver: Driver, ms: number): void => driver.world.clock.advance(ms);

const made =
  (spec: Readonly<Record<string, unknown>> = {}) =>
  async (driver: Driver): Promise<void> => {
    await driver.world.populate(spec);
    await driver.settle();
    pass(driver, 60_000);
    await driver.backUp();
  };

const rotated = async (driver: Driver): Promise<void> => {
  await made()(driver);
  pass(driver, 12 * DAY_MS);
  await driver.settle();
  // Lists have caught up, and clocks that differ a little no longer matter, before anything else happens.
  pass(driver, 300_000);
};

const due = async (driver: Driver): Promise<void> => pass(driver, 12 * DAY_MS);

/** A key that somebody made by hand, and a resource that is to take it over. */
async function foreignKey(driver: Driver): Promise<void> {
  const { world } = driver;
  await world.populate();
  await driver.settle();
  const [made] = world.sandbox.liveBindings();
  if (!made) throw new Error("there is no key to be taken over");
  await driver.person("dropFinalizerAndDelete");
  await world.unmark(made.id);
  await world.collectGarbage();
  await world.createResource({}, { annotations: { [EXTERNAL_NAME]: made.id } });
}

async function sequenceOf(driver: Driver): Promise<number> {
  const status = (await driver.world.resource())?.status as { readonly sequence?: number } | undefined;
  return status?.sequence ?? 0;
}

const sequenceIs =
  (wanted: number) =>
  async (driver: Driver): Promise<string | undefined> => {
    const object = await driver.world.resource();
    const sequence = await sequenceOf(driver);
    return object && sequence < wanted ? `the sequence is ${sequence}, it should be ${wanted} at least` : undefined;
  };

const person =
  (name: Parameters<Driver["person"]>[0]) =>
  (driver: Driver): Promise<void> =>
    driver.person(name);

export const STORIES: readonly Story[] = [
  { name: "create", given: (driver) => driver.world.populate(), expects: sequenceIs(1) },
  { name: "rotate", given: made(), when: due, expects: sequenceIs(2) },
  {
    name: "expire",
    given: rotated,
    when: async (driver) => pass(driver, 2 * DAY_MS + 1000),
  },
  { name: "nearlyExpire", given: rotated, when: async (driver) => pass(driver, 1.5 * DAY_MS) },
  { name: "shorten", given: rotated, when: person("shortenTtl") },
  { name: "switchOff", given: rotated, when: person("stopRotation") },
  {
    name: "outage",
    given: made(),
    when: async (driver) => {
      await due(driver);
      driver.world.sandbox.controls.set({ outage: "unavailable", outageRequests: 5 });
    },
    expects: sequenceIs(2),
  },
  { name: "restore", given: rotated, when: person("restoreStatus") },
  { name: "restoreBoth", given: rotated, when: person("restoreBoth") },
  { name: "recreate", given: rotated, when: person("recreate") },
  { name: "wipe", given: rotated, when: person("wipeStatus") },
  { name: "delete", given: rotated, when: person("deleteResource") },
  {
    name: "orphan",
    given: made({ deletionPolicy: "Orphan" }),
    when: person("deleteResource"),
    expects: async (driver) =>
      driver.world.sandbox.liveBindings().length === 0 && (await driver.world.resource()) === undefined
        ? "the orphaned key was deleted"
        : undefined,
  },
  { name: "force", given: made(), when: person("force"), expects: sequenceIs(2) },
  { name: "compromise", given: made(), when: person("compromise"), expects: sequenceIs(2) },
  { name: "static", given: (driver) => driver.world.populate({ rotation: undefined }), expects: sequenceIs(1) },
  { name: "forceStatic", given: made({ rotation: undefined }), when: person("force"), expects: sequenceIs(2) },
  { name: "loseSecret", given: made(), when: person("deleteSecret") },
  { name: "editSecret", given: made(), when: person("editSecret") },
  { name: "moveSecret", given: rotated, when: person("moveSecret") },
  { name: "tamper", given: made(), when: person("tamperExternalName"), expects: sequenceIs(2) },
  { name: "loseKey", given: made(), when: person("removeActiveOutside") },
  { name: "change", given: made(), when: person("changeParameters"), expects: sequenceIs(2) },
  { name: "import", given: foreignKey, expects: sequenceIs(1) },
  {
    name: "noSecret",
    given: made({ writeConnectionSecretToRef: undefined }),
    when: due,
    expects: sequenceIs(2),
  },
];
