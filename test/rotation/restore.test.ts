import assert from "node:assert/strict";
import { describe } from "node:test";
import { Conflict } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { allFamilies, direct } from "../families/families.ts";
import { eventually } from "../support/eventually.ts";
import { readConnectionSecret } from "./connection-secret.ts";
import { Stories, target, together } from "./harness.ts";
import type { StoryBinding } from "./story-binding.ts";

/** While a person puts pieces back one after the other. */
const PAUSED = { "crossplane.io/paused": "true" } as const;
const UNPAUSED = { "crossplane.io/paused": null } as const;
const slow = { ttl: "3h", frequency: "2h" };

/**
 * The past comes back: objects from a backup, with the same UID and with a new one. The latter not for parents: where one
 * vanishes, the garbage collector takes its children.
 */
describe(`restores on the ${target.name} server`, together, () => {
  const stories = new Stories("restore", { families: allFamilies });

  stories.tell(
    "same-uid",
    "a status from an old backup is brought up to date, and no old key is published again",
    { rotation: slow },
    async (binding) => {
      const backup = await binding.live();
      await binding.force("one");
      const before = await binding.force("two");
      const published = recordPublished(binding);
      await putBack(binding, backup);
      const after = await binding.calm("all keys to be known again", (view) => view.retired.length === 2);
      assert.equal(after.activeId, before.activeId);
      assert.deepEqual(after.outside, before.outside);
      assert.deepEqual(published(), [before.activeId], "the Secret has held the newest key all the time");
    },
  );

  stories.tell(
    "secret-too",
    "a Secret from an old backup does not bring its key back",
    { rotation: slow },
    async (binding) => {
      const oldSecret = await binding.liveSecret();
      const before = await binding.force("one");
      await putBackSecret(binding, oldSecret);
      const after = await binding.calm("the newest key to be published again");
      assert.equal(after.activeId, before.activeId);
      assert.equal(after.sequence, before.sequence);
    },
  );

  stories.tell(
    "both",
    "resource and Secret from the same old backup: the newest key is found and published",
    { rotation: slow },
    async (binding) => {
      const [backup, oldSecret] = [await binding.live(), await binding.liveSecret()];
      const before = await binding.force("one");
      await binding.annotate(PAUSED);
      await putBackSecret(binding, oldSecret);
      await putBack(binding, backup);
      const after = await binding.calm("the newest key to be in use", ({ activeId }) => activeId === before.activeId);
      assert.deepEqual(after.outside, before.outside);
    },
  );

  stories.tell(
    "new-uid",
    "a resource that was restored under a new UID goes on with its keys",
    { rotation: slow, families: direct },
    async (binding) => {
      const before = await binding.force("one");
      const backup = await binding.live();
      const after = await binding.doingHarm(async () => {
        await vanish(binding);
        await restore(binding, backup);
        return binding.calm("its keys to be its own again", ({ uid }) => uid !== before.uid);
      });
      assert.deepEqual(after.outside, before.outside, "nothing is orphaned and nothing is made anew");
      assert.equal(after.activeId, before.activeId);
      for (const id of after.outside) assert.ok(Object.values(binding.marksOf(id)).includes(binding.name));
    },
  );

  stories.tell(
    "new-uid-old",
    "one that was restored under a new UID from an old backup goes on with the newest key",
    { rotation: slow, families: direct },
    async (binding) => {
      const backup = await binding.live();
      await binding.force("one");
      const before = await binding.force("two");
      const published = recordPublished(binding);
      const after = await binding.doingHarm(async () => {
        await vanish(binding);
        await restore(binding, backup);
        return binding.calm(
          "all keys to be known again",
          (view) => view.uid !== before.uid && view.retired.length === 2,
        );
      });
      assert.equal(after.activeId, before.activeId);
      assert.deepEqual(after.outside, before.outside);
      assert.deepEqual(published(), [before.activeId], "no old key was published again");
    },
  );

  stories.tell(
    "manifest-only",
    "one that was made again from its manifest alone finds its keys by their marks",
    { rotation: slow, families: direct },
    async (binding) => {
      const before = await binding.force("one");
      const after = await binding.doingHarm(async () => {
        await vanish(binding);
        await binding.create(binding.manifest({ rotation: slow }));
        return binding.calm("its keys to be its own again", ({ uid }) => uid !== before.uid);
      });
      assert.equal(after.activeId, before.activeId);
      assert.deepEqual(after.outside, before.outside);
    },
  );
});

/** What the Secret holds from now on, each key once, in order. */
function recordPublished(binding: StoryBinding): () => readonly (string | undefined)[] {
  const seen: (string | undefined)[] = [];
  const look = (secret: KubeObject | undefined): void => {
    const keyId = secret && readConnectionSecret(secret).keyId;
    if (keyId !== undefined && seen.at(-1) !== keyId) seen.push(keyId);
  };
  look(binding.stage.secrets.get(binding.secretRef));
  binding.stage.onSecret(binding.secretRef, look);
  return () => seen;
}

/** The backup over what is there now: the same object, with what it said then. */
async function putBack(binding: StoryBinding, backup: KubeObject): Promise<void> {
  const { kube } = binding.stage;
  await binding.annotate(PAUSED);
  for (const subresource of [undefined, "status"]) {
    const annotations = { ...backup.metadata.annotations, ...PAUSED };
    // The operator may still be at work on what it saw before the pause.
    await eventually(`${binding.name}: the backup to be put back`, async () => {
      const { resourceVersion = "" } = (await binding.live()).metadata;
      const object = { ...backup, metadata: { ...backup.metadata, annotations, resourceVersion } };
      try {
        return await kube.replace(binding.family.type, object, subresource === undefined ? {} : { subresource });
      } catch (error) {
        if (error instanceof Conflict) return undefined;
        throw error;
      }
    });
  }
  await binding.annotate(UNPAUSED);
}

/** The same of its Secret. */
async function putBackSecret(binding: StoryBinding, backup: KubeObject): Promise<void> {
  const { resourceVersion = "" } = (await binding.liveSecret()).metadata;
  const secret = { ...backup, metadata: { ...backup.metadata, resourceVersion } };
  await binding.stage.secrets.shows(await binding.stage.kube.replace(secretType, secret));
}

/** The object goes and its keys stay, as when a cluster is lost. */
async function vanish(binding: StoryBinding): Promise<void> {
  await binding.annotate(PAUSED);
  await binding.patch({ metadata: { finalizers: null } });
  await binding.stage.kube.delete(binding.family.type, binding.ref);
  await binding.gone();
}

/** As backup tools do it: the object first, then its status. */
async function restore(binding: StoryBinding, backup: KubeObject): Promise<void> {
  const { name, annotations, finalizers } = backup.metadata;
  const metadata = { name, annotations: { ...annotations, ...PAUSED }, ...(finalizers && { finalizers }) };
  await binding.stage.kube.create<KubeObject>(binding.family.type, { ...backup, metadata });
  await binding.patch({ status: backup.status }, { subresource: "status" });
  await binding.annotate(UNPAUSED);
}
