import type { Driver } from "../driver.ts";
import type { ActName } from "../person.ts";
import { DAY_MS } from "../scene.ts";
import type { Story } from "../stories.ts";
import { due, made, pass, person } from "../story-parts.ts";
import { addConsumers, type Consumers } from "./consumers.ts";

/** Longer than any schedule waits: whoever is waited for in vain keeps everything from coming to rest. */
const ROTATION = { ttl: "336h", frequency: "288h", revoke: "AfterConsumers", maxHold: "1000h" };

const IN: Consumers = { workload: "true" };
const THROUGH: Consumers = { ...IN, isThrough: true };

type Step = (driver: Driver) => Promise<void>;

/** Somebody uses the key, which is then replaced, and whose deletion date comes. */
const dueWith =
  ({ maxHold, ...consumers }: Consumers & { readonly maxHold?: string }, ...acts: readonly ActName[]): Step =>
  async (driver) => {
    await made({ rotation: { ...ROTATION, ...(maxHold !== undefined && { maxHold }) } })(driver);
    await addConsumers(driver.world, consumers);
    await due(driver);
    await driver.settle();
    pass(driver, 300_000);
    await person(...acts)(driver);
    pass(driver, 2 * DAY_MS);
  };

/** The workload comes a moment after the key was replaced, and the Secret is written again with what it holds. */
const cameAfter =
  (...acts: readonly ActName[]): Step =>
  async (driver) => {
    await made({ rotation: ROTATION })(driver);
    await due(driver);
    // The key is replaced, and nothing else happens yet.
    await driver.work(1);
    pass(driver, 5_000);
    await addConsumers(driver.world, IN);
    pass(driver, 300_000);
    await person(...acts)(driver);
    await driver.settle();
    pass(driver, 2 * DAY_MS);
  };

/** A child that is disturbed may be ill for so long that its parent replaces it: what is retired then has its own time. */
const isGone = ({ world }: Driver): string | undefined => {
  const retired = world.truth().subjects.get("orders")?.state.retired ?? [];
  return retired.every(({ cause }) => cause === "ill") ? undefined : "a key is kept that nobody is waited for with";
};

/** What becomes of a retired key with which consumers are waited for. */
export const CONSUMER_STORIES: readonly Story[] = [
  { name: "behind", isMended: true, given: dueWith(IN), expects: isGone },
  { name: "neverMoves", given: dueWith({ ...IN, maxHold: "10m" }), expects: isGone },
  { name: "podsSay", isMended: true, given: dueWith({ pods: "true" }), expects: isGone },
  { name: "moved", given: dueWith(IN, "movePods"), expects: isGone },
  { name: "movesLate", given: dueWith(IN), when: person("movePods"), expects: isGone },
  { name: "removed", given: dueWith(IN), when: person("removePods"), expects: isGone },
  { name: "ended", given: dueWith(IN), when: person("endPods"), expects: isGone },
  { name: "cameAfter", given: cameAfter(), expects: isGone },
  { name: "cameAfterLost", given: cameAfter("deleteSecret"), expects: isGone },
  { name: "cameAfterDamaged", given: cameAfter("editSecret"), expects: isGone },
  { name: "dismissed", isMended: true, given: dueWith(IN), when: person("dismissPods"), expects: isGone },
  { name: "elsewhere", given: dueWith(IN), when: person("movePodsElsewhere"), expects: isGone },
  { name: "notOptedIn", given: dueWith({}), expects: isGone },
  { name: "optsOut", given: dueWith(IN), when: person("optConsumersOut"), expects: isGone },
  { name: "optsIn", isMended: true, given: dueWith({}), when: person("optConsumersIn"), expects: isGone },
  { name: "bare", given: dueWith({ areBare: true, pods: "true" }), expects: isGone },
  { name: "bareDelete", isMended: true, given: dueWith({ areBare: true, pods: "delete" }), expects: isGone },
  { name: "derived", isMended: true, given: dueWith(THROUGH), expects: isGone },
  { name: "derivedAnew", isMended: true, given: dueWith(THROUGH, "derive"), expects: isGone },
  { name: "derivedOld", isMended: true, given: dueWith(THROUGH, "movePods"), expects: isGone },
  { name: "derivedLate", isMended: true, given: dueWith(THROUGH, "movePods"), when: person("derive"), expects: isGone },
  { name: "heldCompromise", isMended: true, given: dueWith(IN), when: person("compromise") },
  { name: "heldDelete", given: dueWith(IN), when: person("deleteResource") },
  { name: "heldForce", isMended: true, given: dueWith(IN), when: person("force") },
  { name: "heldMove", isMended: true, given: dueWith(IN), when: person("moveSecret") },
  { name: "heldRestore", isMended: true, given: dueWith(IN), when: person("restoreSecret", "movePods") },
];
