import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { KubeObject } from "../../src/kube/objects.ts";
import { RightsStage, type Team } from "../rights/rights-stage.ts";
import { eventually } from "../support/eventually.ts";
import { target } from "./harness.ts";
import { byHandAfterConsumers, StoryConsumer } from "./story-consumer.ts";

const SECRET = "web-certificate";
const HOLD_MS = 8_000;

interface RetiredChild {
  readonly name: string;
  readonly heldFor?: string;
  readonly deletionDate: string;
}

const retiredIn = ({ status }: KubeObject): readonly RetiredChild[] =>
  (status as { readonly atProvider?: { readonly retiredKeys?: readonly RetiredChild[] } } | undefined)?.atProvider
    ?.retiredKeys ?? [];

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  await eventually(what, async () => (await check()) || undefined);
}

/**
 * The same of children of any kind: a child whose time is over is kept for those who use what it published. The operator
 * has the rights that `keyturn manifests` gives it, and no others.
 */
describe(`AfterConsumers of RotatingResources on the ${target.name} server`, {
  concurrency: 4,
  timeout: 180_000,
}, () => {
  let stage: RightsStage;
  before(async () => {
    stage = await RightsStage.set(target, { controllers: ["restart"], flags: ["--restart-quiet-period", "1s"] });
  });
  after(() => stage.strike());

  const consumerOf = ({ namespace }: Team): StoryConsumer => new StoryConsumer(stage.kube, namespace, "app");

  const isThere = async (team: Team, name: string): Promise<boolean> =>
    (await team.children()).some(({ metadata }) => metadata.name === name);

  const retired = async (team: Team, name: string): Promise<RetiredChild | undefined> =>
    retiredIn(await team.resource()).find((child) => child.name === name);

  /** Replaces the first child, with this consumer standing still, and waits for it to be kept. */
  async function held(team: Team, consumer: StoryConsumer, maxHold: string): Promise<RetiredChild> {
    await team.write({ rotation: { ...byHandAfterConsumers, maxHold } });
    const first = await team.published();
    await consumer.deploy(SECRET);
    await consumer.pause(true);
    await team.atRest();
    await team.annotate({ "rotatingresource.keyturn.dev/force-rotation": "now" });
    await team.published(first);
    await consumer.written();
    const child = await eventually(`${first} to be kept`, async () => {
      const found = await retired(team, first);
      return found?.heldFor === undefined ? undefined : found;
    });
    assert.ok(child.heldFor?.startsWith(consumer.title), child.heldFor);
    assert.ok(Date.now() > Date.parse(child.deletionDate), "past its date");
    return child;
  }

  test("a child past its date stays while a Deployment has not moved, and goes when the rollout is over", async () => {
    const team = await stage.admit("after-rolls");
    const consumer = consumerOf(team);
    const { name } = await held(team, consumer, "1h");
    assert.ok((await isThere(team, name)) && (await team.secretNames()).includes(`${name}-tls`));
    await consumer.pause(false);
    await until(`${name} to go`, async () => !(await isThere(team, name)));
    const pods = await consumer.complete();
    assert.equal(pods.length, 2);
    assert.equal(await consumer.rolls(), 1, "one restart for one rotation");
  });

  test("maxHold ends it", async () => {
    const team = await stage.admit("after-hold");
    const consumer = consumerOf(team);
    const { name, deletionDate } = await held(team, consumer, `${HOLD_MS / 1000}s`);
    await until(`${name} to go`, async () => !(await isThere(team, name)));
    assert.ok(Date.now() >= Date.parse(deletionDate) + HOLD_MS, "not before it is over");
    assert.equal(await consumer.rolls(), 0, "who stood still stands still");
  });

  test("without consumers a child goes at its date", async () => {
    const team = await stage.admit("after-nobody");
    await team.write({ rotation: byHandAfterConsumers });
    const first = await team.published();
    await team.atRest();
    await team.annotate({ "rotatingresource.keyturn.dev/force-rotation": "now" });
    await team.published(first);
    await until(`${first} to go`, async () => {
      assert.equal((await retired(team, first))?.heldFor, undefined, "nobody is waited for");
      return !(await isThere(team, first));
    });
  });
});
