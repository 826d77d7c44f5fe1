import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { allFamilies } from "../families/families.ts";
import { applyDocument, documentManifests, serviceInstances } from "./document-manifests.ts";
import { Stories, target, together } from "./harness.ts";

/** The documents' manifests, applied as they are, and what they say becomes of them. */
describe(`the document on the ${target.name} server`, together, () => {
  // Before the stage is struck: hooks run in the order in which they are named.
  after(() => {
    const name = `${serviceInstances.plural}.${serviceInstances.group}`;
    return stories.stage.kube.delete(customResourceDefinitions, { name });
  });
  const stories = new Stories("document", { families: allFamilies });
  before(() => installForeignKind(stories.stage.kube, serviceInstances));

  for (const manifest of documentManifests) {
    const { file, family } = manifest;
    stories.tell(
      file.replace(".yaml", ""),
      `the manifest in ${file} makes a binding, and says when it will be rotated`,
      { isUnmade: true, families: [family] },
      (binding) => applyDocument(binding, manifest),
    );
  }

  stories.tell(
    "cycle",
    "a key is retired at its frequency, kept until its deletionDate, and deleted then",
    { rotation: { ttl: "6s", frequency: "3s" } },
    async (binding) => {
      const first = binding.view();
      const { activeId: firstId = "" } = first;
      const second = await binding.rotated(first);
      assert.ok(second.createdAt - first.createdAt >= 3_000, "not before its time");
      assert.ok(second.createdAt - first.createdAt <= 15_000, "and not long after it, however busy the machine is");
      const retired = second.retired.find(({ id }) => id === firstId);
      assert.ok(retired);
      assert.equal(retired.name, first.activeName);
      assert.equal(retired.createdAt, first.createdAt);
      assert.ok(retired.deletionAt >= first.createdAt + 6_000, "createdDate + ttl at the earliest");
      assert.ok(second.outside.includes(firstId), "a retired key lives on");
      const without = await binding.until("the first key to be deleted", ({ outside }) => !outside.includes(firstId));
      assert.ok(Date.now() >= retired.deletionAt, "not before its deletionDate");
      assert.ok(without.works);
      await binding.until("it to be forgotten", (view) => !view.retired.some(({ id }) => id === firstId));
      const third = await binding.until("the next rotation", ({ sequence }) => sequence > second.sequence);
      assert.ok(third.createdAt >= second.createdAt);
      const told = await binding.events();
      assert.ok(told.length >= 2, `rotations and deletions are told of: ${told.join(" | ")}`);
    },
  );

  stories.tell(
    "many",
    "more than one key may be retired at a time; that is accepted with a warning",
    { rotation: { ttl: "8s", frequency: "2s" } },
    async (binding) => {
      assert.match(binding.view().condition("RotationStatus"), /^True EnabledWithWarning: .*retired keys/);
      // A key that is still to be made has retired the one before it already.
      await binding.until(
        "two retired keys beside the active one",
        ({ retired, outside, isPending }) => !isPending && retired.length >= 2 && outside.length >= 3,
      );
    },
  );

  stories.tell(
    "no-overlap",
    "ttl = frequency is accepted with a warning",
    { rotation: { ttl: "2s", frequency: "2s" } },
    async (binding) => {
      const first = binding.view();
      assert.match(first.condition("RotationStatus"), /^True EnabledWithWarning: .*overlap/);
      const second = await binding.until(
        "the next key",
        ({ activeId }) => activeId !== undefined && activeId !== first.activeId,
      );
      assert.ok(second.secret !== undefined);
    },
  );

  stories.tell("static", "without spec.rotation there is one key, on the same path, for ever", async (binding) => {
    const first = binding.view();
    assert.match(first.condition("RotationStatus"), /^False Disabled/);
    assert.match(first.condition("Ready"), /^True/);
    assert.equal(first.sequence, 1);
    await binding.remains(4_000, ({ activeId, outside }) => activeId === first.activeId && outside.length === 1);
  });

  stories.tell(
    "pending",
    "while a new key takes its time, atProvider, external-name and Secret stay those of the old one",
    { rotation: { ttl: "1h", frequency: "3s" }, instance: { brokerLatencyMs: 1_000 } },
    async (binding) => {
      const first = binding.view();
      const during = await binding.until("a key to be made", ({ isPending }) => isPending);
      assert.equal(during.activeId, first.activeId);
      assert.equal(during.externalName, first.activeId);
      assert.equal(during.secret?.keyId, first.activeId);
      assert.ok(during.works);
      assert.deepEqual(
        during.retired.map(({ id }) => id),
        [...first.retired.map(({ id }) => id), first.activeId],
        "the just retired key is told of twice",
      );
      await binding.until("the new key", ({ activeId }) => activeId !== first.activeId);
    },
  );
});
