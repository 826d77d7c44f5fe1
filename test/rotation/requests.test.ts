import assert from "node:assert/strict";
import { describe } from "node:test";
import { direct } from "../families/families.ts";
import { Stories, target, together } from "./harness.ts";

const slow = { ttl: "3h", frequency: "2h" };
const fast = { ttl: "4s", frequency: "2s" };
const FREEZE = "keyturn.dev/freeze";
const PAUSED = "crossplane.io/paused";
const COMPROMISED = "keyturn.dev/compromised";
/** Long enough that an operator that looks every second would have acted. */
const A_WHILE_MS = 3_500;

/** What people ask for by annotation: force, compromised, freeze, pause. */
describe(`requests on the ${target.name} server`, together, () => {
  const stories = new Stories("requests");

  stories.tell(
    "force",
    "each value of the force annotation rotates once, and leaves when it is fulfilled",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      const after = await binding.force("monday");
      assert.equal(binding.forceIn(after), undefined);
      const [old] = after.retired;
      assert.equal(old?.id, before.activeId);
      assert.ok(old && old.deletionAt >= old.replacedAt + 3_600_000, "an hour of overlap");
      await binding.askForRotation("monday");
      await binding.annotate({ note: "something else" });
      await binding.remains(A_WHILE_MS, ({ sequence }) => sequence === after.sequence);
      const again = await binding.force("tuesday");
      assert.equal(again.sequence, after.sequence + 1);
    },
  );

  stories.tell(
    "force-static",
    "a static key is rotated by force too, and the old one lives for a day",
    async (binding) => {
      const after = await binding.force("once");
      const [old] = after.retired;
      assert.ok(old && old.deletionAt >= old.replacedAt + 24 * 3_600_000);
      assert.match(after.condition("RotationStatus"), /^False Disabled/);
    },
  );

  stories.tell(
    "compromised",
    "a compromised key is deleted as soon as its successor is published",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      await binding.annotate({ [COMPROMISED]: "leaked in a ticket" });
      const after = await binding.calm(
        "the old key to be gone",
        ({ outside }) => !outside.includes(before.activeId ?? ""),
      );
      assert.equal(after.sequence, before.sequence + 1);
      assert.deepEqual(after.retired, []);
      assert.equal(after.object?.metadata.annotations?.[COMPROMISED], undefined);
    },
  );

  stories.tell(
    "freeze",
    "a frozen binding is not rotated though it is due, and says so; thawed, it is at once",
    { rotation: fast },
    async (binding) => {
      await binding.annotate({ [FREEZE]: "true" });
      const frozen = await binding.calm("it to say so", (view) => /frozen/i.test(view.condition("RotationStatus")));
      const held = await binding.remains(A_WHILE_MS, ({ sequence, works }) => sequence === frozen.sequence && works);
      await binding.annotate({ [FREEZE]: null });
      const thawed = await binding.rotated(held);
      assert.doesNotMatch(thawed.condition("RotationStatus"), /frozen/i);
    },
  );

  stories.tell(
    "freeze-compromised",
    "a compromised key is replaced though the binding is frozen",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      await binding.annotate({ [FREEZE]: "true", [COMPROMISED]: "yes" });
      await binding.calm("the old key to be gone", ({ outside }) => !outside.includes(before.activeId ?? ""));
    },
  );

  stories.tell(
    "paused",
    "a paused binding is left alone, whatever happens to it; afterwards everything is made good",
    { rotation: slow, families: direct },
    async (binding) => {
      await binding.doingHarm(async () => {
        const before = binding.view();
        await binding.annotate({ [PAUSED]: "true" });
        // Due at once, and nobody is to do it.
        await binding.patchRotation(fast);
        await binding.deleteSecret();
        const { outside } = await binding.remains(A_WHILE_MS, ({ secret, sequence }) => {
          return sequence === before.sequence && secret === undefined;
        });
        assert.deepEqual(outside, before.outside);
        await binding.annotate({ [PAUSED]: null });
        await binding.rotated(before);
      });
    },
  );

  stories.tell(
    "too-many",
    "more than five forced rotations within a ttl wait, and the condition says so",
    { rotation: slow },
    async (binding) => {
      for (const value of ["1", "2", "3", "4", "5"]) await binding.force(value);
      const before = binding.view();
      await binding.askForRotation("6");
      const waiting = await binding.calm("it to say so", (view) => /too many/i.test(view.condition("RotationStatus")));
      assert.equal(waiting.sequence, before.sequence);
      assert.equal(waiting.outside.length, 6);
    },
  );

  stories.tell(
    "twice",
    "a force that comes while a key is being made is fulfilled by that key",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      binding.setInstance({ brokerLatencyMs: 1_500 });
      await binding.askForRotation("first");
      await binding.until("a key to be made", ({ isPending }) => isPending);
      await binding.askForRotation("second");
      const after = await binding.calm("both to be fulfilled", (view) => {
        return view.sequence > before.sequence && binding.forceIn(view) === undefined;
      });
      assert.equal(after.sequence, before.sequence + 1);
    },
  );
});
