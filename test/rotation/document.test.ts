import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { parse } from "yaml";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { Stories, target, together } from "./harness.ts";
import { deletionAt, type Fields, type StoryBinding } from "./story-binding.ts";

const DAY_MS = 86_400_000;

/** The document's manifests, applied as they are, and what it says becomes of them. */
describe(`the document on the ${target.name} server`, together, () => {
  const stories = new Stories("document");

  for (const file of ["spec.yaml", "status.yaml"]) {
    const name = file.replace(".yaml", "");
    stories.tell(
      name,
      `the manifest in ${file} makes a binding, and says when it will be rotated`,
      { isUnmade: true },
      async (binding) => {
        await apply(binding, filledIn(binding, file));
        const view = await binding.calm();
        assert.match(view.activeName ?? "", /^my-sample-[a-z0-9]+$/);
        assert.match(view.condition("Ready"), /^True/);
        assert.match(view.condition("Synced"), /^True/);
        const { rotation } = (view.object?.spec ?? {}) as { readonly rotation?: unknown };
        assert.deepEqual(rotation, { ttl: "336h", frequency: "228h" }, "what the user wrote stays as it is");
        const dueAt = new Date(view.createdAt + 9.5 * DAY_MS).toISOString().replace(".000Z", "Z");
        assert.ok(view.condition("RotationStatus").startsWith("True Enabled: "));
        assert.ok(
          view.condition("RotationStatus").includes(dueAt),
          `${view.condition("RotationStatus")} names ${dueAt}`,
        );
      },
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
      assert.ok(second.createdAt - first.createdAt <= 6_000, "and not long after it");
      const [retired] = second.retired;
      assert.ok(retired);
      assert.equal(retired.id, firstId);
      assert.equal(retired.name, first.activeName);
      assert.equal(Date.parse(retired.createdDate), first.createdAt);
      assert.ok(deletionAt(retired) >= first.createdAt + 6_000, "createdDate + ttl at the earliest");
      assert.ok(second.outside.includes(firstId), "a retired key lives on");
      const without = await binding.until("the first key to be deleted", ({ outside }) => !outside.includes(firstId));
      assert.ok(Date.now() >= deletionAt(retired), "not before its deletionDate");
      assert.ok(without.works);
      await binding.until("it to be forgotten", (view) => !view.retired.some(({ id }) => id === firstId));
      const third = await binding.until("the next rotation", ({ sequence }) => sequence > second.sequence);
      assert.ok(third.createdAt >= second.createdAt);
      const told = await binding.stage.eventsOf(binding.name);
      assert.ok(told.length >= 2, `rotations and deletions are told of: ${told.join(" | ")}`);
    },
  );

  stories.tell(
    "many",
    "more than one key may be retired at a time; that is accepted with a warning",
    { rotation: { ttl: "8s", frequency: "2s" } },
    async (binding) => {
      assert.match(binding.view().condition("RotationStatus"), /^True EnabledWithWarning: .*retired keys/);
      const view = await binding.until("two retired keys", ({ retired }) => retired.length >= 2);
      assert.ok(view.outside.length >= 3);
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
        [first.activeId],
        "the just retired key is told of twice",
      );
      await binding.until("the new key", ({ activeId }) => activeId !== first.activeId);
    },
  );
});

/** The manifest of the document with its placeholders filled: a name, service instance, ProviderConfig and Secret. */
function filledIn(binding: StoryBinding, file: string): KubeObject {
  const text = readFileSync(join(import.meta.dirname, "manifests", file), "utf8");
  // The document repeats two keys in its status, which is left out anyway.
  const { status: _, ...manifest } = parse(text.replace("(...)", binding.name), { uniqueKeys: false }) as KubeObject;
  const spec = manifest.spec as { readonly forProvider: Fields };
  return {
    ...manifest,
    metadata: { ...manifest.metadata },
    spec: {
      ...spec,
      forProvider: { ...spec.forProvider, serviceInstanceId: binding.instanceId },
      providerConfigRef: { name: binding.stage.namespace },
      writeConnectionSecretToRef: binding.secretRef,
    },
  };
}

async function apply({ stage, name }: StoryBinding, body: KubeObject): Promise<void> {
  await stage.kube.patch(serviceBinding, { name }, { type: "apply", body }, { fieldManager: "kubectl" });
}
