import assert from "node:assert/strict";
import { describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Stories, target, together } from "./harness.ts";
import { brisk } from "./stage.ts";
import type { StoryBinding } from "./story-binding.ts";
import { byHandAfterConsumers, StoryConsumer } from "./story-consumer.ts";
import type { WorldView } from "./world-view.ts";

const rotation = byHandAfterConsumers;
const briefly = { ...rotation, maxHold: "8s" };

/** Between two looks at who has moved. */
const LOOK_MS = 5_000;

/** A Deployment that uses the Secret of a binding, beside it. */
const consumerOf = ({ stage, name, secretRef }: StoryBinding): StoryConsumer =>
  new StoryConsumer(stage.kube, secretRef.namespace, `${name}-app`);

const heldFor = (view: WorldView, id: string): string | undefined => view.retired.find((key) => key.id === id)?.heldFor;

/** The reasons of the events about the binding that name its consumer. */
async function toldOf(binding: StoryBinding, { title }: StoryConsumer): Promise<readonly string[]> {
  const events = (await binding.events()).filter((text) => text.includes(title));
  return events.map((text) => text.slice(0, text.indexOf(":")));
}

/** Replaces the key, and waits for the time of the old one to be over, and somebody to be waited for. */
async function held(binding: StoryBinding, consumer: StoryConsumer): Promise<string> {
  const { activeId: id = "" } = binding.view();
  await binding.force("now");
  await consumer.written();
  const view = await binding.until("the key to be kept", (now) => heldFor(now, id) !== undefined);
  assert.ok(heldFor(view, id)?.startsWith(consumer.title), heldFor(view, id));
  assert.ok(Date.now() > (view.retired.find((key) => key.id === id)?.deletionAt ?? Number.NaN), "past its date");
  assert.ok(view.works && view.outside.includes(id));
  return id;
}

/** Retired keys that are kept until everybody has moved, with workloads that their own controllers roll. */
describe(`AfterConsumers on the ${target.name} server`, together, () => {
  const stories = new Stories("after", { flags: [...brisk(), "--restart-quiet-period", "1s"] });

  stories.tell(
    "rolls",
    "a key past its date stays while a Deployment rolls, and goes when the rollout is over",
    { rotation },
    async (binding) => {
      const consumer = consumerOf(binding);
      const [slow, ...others] = await consumer.deploy(binding.secretRef.name);
      assert.ok(slow && others.length > 0);
      await consumer.slowDown(slow);
      const id = await held(binding, consumer);
      // Its new pods are all there; one of before is on its way out.
      await consumer.complete();
      await binding.remains(LOOK_MS + 1_000, (view) => view.outside.includes(id) && heldFor(view, id) !== undefined);
      assert.ok(await consumer.hasAny([slow]));
      await consumer.letGo(slow);
      await binding.removed(id);
      assert.equal(await consumer.hasAny([slow, ...others]), false, "nobody of before is left");
      assert.equal(await consumer.rolls(), 1, "one restart for one rotation");
    },
  );

  stories.tell(
    "stuck",
    "a rollout that stands still is told of on the credential, and the key goes when it has gone on",
    { rotation },
    async (binding) => {
      const consumer = consumerOf(binding);
      const before = await consumer.deploy(binding.secretRef.name);
      await consumer.pause(true);
      const id = await held(binding, consumer);
      const view = binding.view();
      assert.match(view.condition("Synced"), /^True/);
      assert.match(view.condition("RotationStatus"), new RegExp(`kept until .*: ${consumer.title}.* has not moved`));
      await binding.untilAsync("it to be told", async () => (await toldOf(binding, consumer)).length > 0);
      assert.ok(await consumer.hasAny(before));
      await consumer.pause(false);
      await binding.removed(id);
      assert.equal(await consumer.hasAny(before), false);
      assert.deepEqual(await toldOf(binding, consumer), ["ConsumersBehind"], "once");
    },
  );

  stories.tell(
    "hold",
    "maxHold ends it, whoever has not moved, and says so",
    { rotation: briefly },
    async (binding) => {
      const consumer = consumerOf(binding);
      const before = await consumer.deploy(binding.secretRef.name);
      await consumer.pause(true);
      const id = await held(binding, consumer);
      const deletionAt = binding.view().retired.find((key) => key.id === id)?.deletionAt ?? Number.NaN;
      await binding.removed(id);
      assert.ok(Date.now() >= deletionAt + 8_000, "not before it is over");
      assert.ok(await consumer.hasAny(before), "who stood still stands still");
      await binding.untilAsync("it to be told", async () => (await toldOf(binding, consumer)).includes("HoldEnded"));
    },
  );

  stories.tell(
    "came",
    "whoever came after a rotation is not waited for, though the Secret is written again with what it held",
    { rotation: { ...rotation, ttl: "13s" } },
    async (binding) => {
      const { activeId: id = "" } = binding.view();
      const { retired } = await binding.force("now");
      const replacedAt = retired.find((key) => key.id === id)?.replacedAt ?? Number.NaN;
      // Within the second of the write nobody can tell which came first.
      await sleep(Math.max(0, replacedAt + 1_000 - Date.now()));
      const consumer = consumerOf(binding);
      const pods = await consumer.deploy(binding.secretRef.name);
      await binding.deleteSecret();
      await binding.until("the Secret to be made again", ({ works }) => works);
      await binding.until("the key to go", (now) => {
        assert.equal(heldFor(now, id), undefined, "nobody is waited for");
        return !now.outside.includes(id);
      });
      assert.ok(await consumer.hasAny(pods));
      assert.equal(await consumer.rolls(), 0);
    },
  );

  stories.tell("nobody", "where nobody has opted in, a key goes at its date", { rotation }, async (binding) => {
    const consumer = consumerOf(binding);
    const before = await consumer.deploy(binding.secretRef.name, { template: {} });
    const { activeId: id = "" } = binding.view();
    const view = await binding.force("now");
    const deletionAt = view.retired.find((key) => key.id === id)?.deletionAt ?? Number.NaN;
    await binding.until("the key to go", (now) => {
      assert.equal(heldFor(now, id), undefined, "nobody is waited for");
      return !now.outside.includes(id);
    });
    assert.ok(Date.now() >= deletionAt, "not before its date");
    assert.ok(await consumer.hasAny(before));
    assert.equal(await consumer.rolls(), 0);
  });
});
