import assert from "node:assert/strict";
import { configured, type KillStory } from "./kill-stories.ts";
import { EXTERNAL_NAME, type StoryBinding } from "./story-binding.ts";
import type { WorldView } from "./world-view.ts";

const NOBODY = "00000000-0000-4000-8000-00000000dead";
/** Nothing is due while a story is told. */
const slow = { ttl: "3h", frequency: "2h" };

/**
 * What is damaged behind the operator's back, and killed at every write by which it makes that good. The bindings are there
 * before: only writes from the damage on count.
 */
export const driftKillStories: readonly KillStory[] = [
  {
    name: "edit the Secret, delete it",
    prepare: inUse,
    async tell(binding) {
      const before = binding.view();
      const data = { password: Buffer.from("mine").toString("base64"), extra: "" };
      await binding.doingHarm(async () => {
        await binding.patchSecret({ data });
        await binding.calm("the Secret to be whole again");
      });
      assert.ok(!Object.keys((await binding.liveSecret()).data ?? {}).includes("extra"), "it is replaced as a whole");
      await binding.deleteSecret();
      unchanged(await binding.calm("the Secret to be there again"), before);
    },
  },
  {
    name: "point the external-name nowhere",
    prepare: inUse,
    async tell(binding) {
      const before = binding.view();
      await binding.annotate({ [EXTERNAL_NAME]: NOBODY });
      const after = await binding.rotated(before);
      assert.deepEqual(idsOf(after), [before.activeId], "the lost key is found again");
      assert.equal(after.sequence, before.sequence + 1, "one key is made for it, however often somebody begins");
    },
  },
  {
    name: "delete the active key outside",
    prepare: inUse,
    async tell(binding) {
      const before = binding.view();
      await binding.doingHarm(async () => {
        await binding.removeOutside(before.activeId);
        await binding.rotated(before);
      });
      const after = await binding.calm("the dead key to be forgotten", ({ retired }) => retired.length === 0);
      assert.equal(after.outside.length, 1);
    },
  },
  {
    name: "wipe the status",
    async prepare(binding) {
      await inUse(binding);
      await binding.force("one");
    },
    async tell(binding) {
      const before = binding.view();
      await binding.patch({ status: null }, { subresource: "status" });
      const after = await binding.calm("the status to be back", ({ retired }) => retired.length > 0);
      unchanged(after, before);
      assert.deepEqual(idsOf(after), idsOf(before));
    },
  },
];

async function inUse(binding: StoryBinding): Promise<void> {
  await binding.create(configured(binding, { rotation: slow }));
  await binding.calm("the first key");
}

const idsOf = ({ retired }: WorldView): readonly string[] => retired.map(({ id }) => id);

/** It is the same key, and no other was made for what happened to it. */
function unchanged(after: WorldView, before: WorldView): void {
  assert.equal(after.activeId, before.activeId);
  assert.equal(after.sequence, before.sequence);
  assert.deepEqual(after.outside, before.outside);
}
