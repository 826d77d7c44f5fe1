import assert from "node:assert/strict";
import { describe } from "node:test";
import { direct } from "../families/families.ts";
import { Stories, target } from "./harness.ts";

const slow = { ttl: "3h", frequency: "2h" };
/** Several drift checks long. */
const OUTAGE_MS = 3_000;
/** The first one is the trap: an answer that says "not found" and is none of the service's. */
const outages = ["unknown-route", "unavailable", "throttled"] as const;

/** A service is away for everybody, so these are told one after the other. */
describe(`outages on the ${target.name} server`, { concurrency: 1, timeout: 180_000 }, () => {
  const stories = new Stories("outage", { families: direct });

  for (const outage of target.name === "real" ? outages : outages.slice(0, 1)) {
    stories.tell(
      outage,
      `${outage}: no key is taken for gone, and all is well again afterwards`,
      { rotation: slow },
      async (binding) => {
        const before = await binding.force("one");
        binding.standIn.set({ outage, retryAfterMs: 1_000 });
        await binding.remains(OUTAGE_MS, ({ activeId, works, retired }) => {
          return activeId === before.activeId && works && retired.length === before.retired.length;
        });
        await binding.until("it to be said", (view) => /^False/.test(view.condition("Synced")));
        binding.standIn.allIsWell();
        const after = await binding.calm("it to be well again", (view) => /^True/.test(view.condition("Synced")));
        assert.deepEqual(after.outside, before.outside);
      },
    );
  }

  stories.tell(
    "cannot-be-made",
    "a key that is over goes although the broker makes none",
    { rotation: { ttl: "6s", frequency: "3s" } },
    async (binding) => {
      const { activeId: first = "" } = binding.view();
      const { activeId: second = "" } = await binding.until("the next key", ({ activeId }) => activeId !== first);
      binding.setInstance({ brokerFailures: "always", brokerFailsOn: "bind" });
      const stuck = await binding.until("the one before to go", ({ outside }) => !outside.includes(first));
      assert.deepEqual([stuck.activeId, stuck.works], [second, true]);
      binding.setInstance({ brokerFailures: 0 });
      await binding.until("the next key", ({ activeId, works }) => works && activeId !== second);
    },
  );

  stories.tell(
    "half-made",
    "a key whose making failed goes although its removal fails at first, and counts for nobody's",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      binding.setInstance({ brokerFailures: 2, brokerFailsOn: "both" });
      const after = await binding.force("again");
      assert.deepEqual(
        after.retired.map(({ id }) => id),
        [before.activeId],
      );
      assert.equal(after.outside.length, 2);
    },
  );

  stories.tell(
    "due",
    "a rotation that falls due meanwhile is made up for",
    { rotation: { ttl: "1h", frequency: "2s" } },
    async (binding) => {
      binding.standIn.set({ outage: "unavailable" });
      const during = await binding.until("it to be said", (view) => /^False/.test(view.condition("Synced")));
      assert.ok(during.works);
      binding.standIn.allIsWell();
      await binding.until("the next key", ({ activeId, works }) => activeId !== during.activeId && works);
    },
  );
});
