import assert from "node:assert/strict";
import { describe } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { NotFound } from "../../src/kube/errors.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import { allFamilies, direct, families } from "../families/families.ts";
import type { Fields } from "../families/family.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { rotatingResources } from "../families/rotating-resources.ts";
import { Stories, target, together } from "./harness.ts";
import { EXTERNAL_NAME } from "./story-binding.ts";

const NOBODY = "00000000-0000-4000-8000-00000000dead";
const slow = { ttl: "3h", frequency: "2h" };

describe(`drift on the ${target.name} server`, together, () => {
  const stories = new Stories("drift", { families: allFamilies });

  stories.tell("active-gone", "an active key that was deleted outside is replaced at once", async (binding) => {
    const before = binding.view();
    const after = await binding.doingHarm(async () => {
      await binding.removeOutside(before.activeId);
      return binding.rotated(before);
    });
    assert.notEqual(after.activeId, before.activeId);
    await binding.calm("the dead key to be forgotten", ({ retired }) => retired.length === 0);
  });

  stories.tell("retired-gone", "a retired key that was deleted outside is forgotten quietly", async (binding) => {
    await binding.force("one");
    const after = await binding.force("two");
    const [first, second] = after.retired;
    await binding.removeOutside(first?.id);
    const calm = await binding.removed(first?.id ?? "");
    assert.equal(calm.activeId, after.activeId);
    assert.deepEqual(
      calm.retired.map(({ id }) => id),
      [second?.id],
      "the other one stays",
    );
    assert.match(calm.condition("Synced"), /^True/);
  });

  stories.tell("secret-edited", "a Secret that somebody edited is written again with the same key", async (binding) => {
    const before = binding.view();
    const data = { password: Buffer.from("mine").toString("base64"), extra: "" };
    const after = await binding.doingHarm(async () => {
      await binding.patchSecret({ data });
      return binding.calm("the Secret to be whole again");
    });
    assert.equal(after.activeId, before.activeId, "no new key is made for it");
    const secret = await binding.liveSecret();
    assert.ok(!Object.keys(secret.data ?? {}).includes("extra"), "it is replaced as a whole");
  });

  stories.tell(
    "secret-deleted",
    "a Secret that somebody deleted is written again with the same key",
    async (binding) => {
      const before = binding.view();
      await binding.deleteSecret();
      const after = await binding.calm("a new Secret");
      assert.equal(after.activeId, before.activeId);
      assert.equal(after.outside.length, 1);
    },
  );

  stories.tell(
    "tampered",
    "an external-name that points nowhere: a new key, and the lost one is retired",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      await binding.annotate({ [EXTERNAL_NAME]: NOBODY });
      const after = await binding.rotated(before);
      assert.deepEqual(
        after.retired.map(({ id }) => id),
        [before.activeId],
      );
    },
  );

  stories.tell(
    "tampered-lost",
    "an external-name that points nowhere and a status that is lost: the key is found by its marks",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      await binding.patch({ metadata: { annotations: { [EXTERNAL_NAME]: NOBODY } } });
      await binding.patch({ status: null }, { subresource: "status" });
      const after = await binding.calm("the key to be known again", (view) =>
        view.outside.includes(before.activeId ?? ""),
      );
      assert.ok([after.activeId, ...after.retired.map(({ id }) => id)].includes(before.activeId));
    },
  );

  stories.tell(
    "name-removed",
    "an external-name that was removed: nothing is lost and nothing is left over",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      await binding.annotate({ [EXTERNAL_NAME]: null });
      const after = await binding.calm("it to be there again", ({ externalName }) => externalName !== undefined);
      assert.ok(after.outside.includes(before.activeId ?? ""));
    },
  );

  stories.tell(
    "status-lost",
    "a status that is lost is rebuilt from the marks, and no key is made for it",
    { rotation: slow },
    async (binding) => {
      const before = await binding.force("one");
      await binding.patch({ status: null }, { subresource: "status" });
      const after = await binding.calm("the status to be back", (view) => view.retired.length === 1);
      assert.equal(after.activeId, before.activeId);
      assert.deepEqual(after.outside, before.outside);
      assert.equal(after.sequence, before.sequence);
    },
  );

  stories.tell(
    "status-lost-deleted",
    "a resource whose status was lost before it is deleted leaves no key behind",
    { rotation: slow },
    async (binding) => {
      await binding.force("one");
      await binding.annotate({ "crossplane.io/paused": "true" });
      await binding.patch({ status: null }, { subresource: "status" });
      await binding.delete();
      await binding.annotate({ "crossplane.io/paused": null }).catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
      });
    },
  );

  stories.tell(
    "role-lost",
    "a role that is lost, so that everything looks deleted: nothing is made or deleted, and all is well again with it",
    { isUnmade: true, families: [cloudFoundry] },
    async (binding) => {
      const { stage, name } = binding;
      const { login, setRole } = stage.standIns.cloudFoundry.loginWithRole();
      await stage.putProviderConfig(binding.family, name, login);
      await binding.create(binding.manifest({ rotation: { ttl: "6s", frequency: "3s" }, spec: configured(name) }));
      await binding.calm();
      const before = await binding.force("one");
      setRole("none");
      const lost = await binding.until("it to be said", (view) => /^False/.test(view.condition("Synced")));
      assert.match(lost.condition("Synced"), /^False ProviderForbidden: .*Space Developer/);
      // The next rotation and the end of the retired key fall into this while.
      await binding.remains(8_000, ({ outside, works, activeId }) => {
        return works && activeId === before.activeId && outside.join() === before.outside.join();
      });
      setRole("space-developer");
      await binding.calm("it to be well again", (view) => /^True/.test(view.condition("Synced")));
      await binding.rotated(before);
      await binding.until("the retired key to go", ({ outside }) => !outside.includes(before.retired[0]?.id ?? ""));
    },
  );

  stories.tell(
    "child-secret",
    "a child's Secret that somebody edited or deleted is restored by its own controller, and the key stays",
    { rotation: slow, families: [rotatingKeys] },
    async (parent) => {
      const { stage } = parent;
      const before = parent.view();
      const ref = { namespace: stage.namespace, name: before.activeName ?? "" };
      const whole = stage.secrets.get(ref)?.data;
      assert.ok(whole);
      const data = { password: Buffer.from("mine").toString("base64") };
      await stage.secrets.shows(await stage.kube.patch(secretType, ref, { type: "merge", body: { data } }));
      await parent.calm("it to be as it was", () => isDeepStrictEqual(stage.secrets.get(ref)?.data, whole));
      await stage.kube.delete(secretType, ref);
      const after = await parent.calm("it to be there again", () =>
        isDeepStrictEqual(stage.secrets.get(ref)?.data, whole),
      );
      assert.equal(after.activeId, before.activeId);
    },
  );

  stories.tell(
    "child-rotates",
    "a child that somebody gives a policy of its own keeps each old key until the stable Secret holds the next one",
    { rotation: slow, families: [rotatingKeys] },
    async (parent) => {
      const before = parent.view();
      const ref = { name: before.activeName ?? "" };
      const [first] = parent.keysAtService();
      const body = { spec: cloudFoundry.rotationSpec({ ttl: "4s", frequency: "2s" }) };
      await parent.stage.kube.patch(cloudFoundry.type, ref, { type: "merge", body });
      const isGone = (): boolean => !parent.keysAtService().some(({ id }) => id === first?.id);
      const after = await parent.until(
        "the first key to go, and the Secret to let in",
        (view) => isGone() && view.works,
      );
      assert.equal(after.activeId, before.activeId, "it is the same child");
      await parent.stage.kube.patch(cloudFoundry.type, ref, {
        type: "merge",
        body: { spec: cloudFoundry.rotationSpec(null) },
      });
      await parent.calm();
    },
  );

  stories.tell(
    "child-heals",
    "a child whose key was deleted at Cloud Foundry makes another one, and the stable Secret follows",
    { rotation: slow, families: [rotatingKeys] },
    async (parent) => {
      const before = parent.view();
      const [key] = parent.keysAtService();
      const after = await parent.doingHarm(async () => {
        parent.standIn.removeKey(key?.id ?? "");
        return parent.calm("the Secret to hold a living key", () => parent.keysAtService()[0]?.id !== key?.id);
      });
      assert.equal(after.activeId, before.activeId, "it is the same child");
    },
  );

  stories.tell(
    "adopted",
    "a binding with the external-name of a key that is there takes that key over",
    { isUnmade: true, families: direct },
    async (binding) => {
      const id = await binding.makeByHand("made-by-hand");
      await binding.create(binding.manifest({ annotations: { [EXTERNAL_NAME]: id } }));
      const after = await binding.calm();
      assert.deepEqual(after.outside, [id]);
      assert.equal(after.activeName, "made-by-hand");
      assert.ok(Object.values(binding.marksOf(id)).includes(after.uid ?? ""), "it bears our marks now");
    },
  );

  stories.tell(
    "adopted-rotates",
    "a key that was taken over is rotated like any other",
    { isUnmade: true, families: direct },
    async (binding) => {
      const id = await binding.makeByHand("from-the-cockpit");
      const rotation = { ttl: "4s", frequency: "2s" };
      await binding.create(binding.manifest({ annotations: { [EXTERNAL_NAME]: id }, rotation }));
      const after = await binding.until(
        "the key to be replaced",
        (view) => view.activeId !== undefined && view.activeId !== id,
      );
      assert.ok(after.retired.some((key) => key.id === id));
      await binding.until("the old key to go", ({ outside }) => !outside.includes(id));
    },
  );

  stories.tell(
    "stranger",
    "a key that belongs to a living binding is not taken over, and the condition says what to do",
    { families },
    async (owner) => {
      const { activeId = "" } = owner.view();
      const thief = owner.neighbour("thief");
      await thief.create(thief.manifest({ annotations: { [EXTERNAL_NAME]: activeId } }));
      const refused = await thief.until("the refusal", (view) =>
        /external-name/.test(view.condition("RotationStatus")),
      );
      assert.match(refused.condition("RotationStatus"), /belongs to somebody else.*remove the annotation/);
      assert.equal(refused.activeId, undefined);
      assert.equal(refused.secret, undefined);
      await thief.annotate({ [EXTERNAL_NAME]: null });
      const own = await thief.until("a key of its own", (view) => view.activeId !== undefined && view.works);
      assert.notEqual(own.activeId, activeId);
      assert.equal(owner.view().activeId, activeId);
      await thief.delete();
      await thief.gone();
    },
  );

  stories.tell(
    "stranger-unseen",
    "a child whose name is that of somebody else's is not even seen, whatever an external-name says",
    { families: [rotatingResources] },
    async (owner) => {
      const { activeId = "" } = owner.view();
      const thief = owner.neighbour("thief");
      await thief.create(thief.manifest({ annotations: { [EXTERNAL_NAME]: activeId } }));
      const own = await thief.until("a child of its own", (view) => view.activeId !== undefined && view.works);
      assert.notEqual(own.activeId, activeId);
      assert.deepEqual(
        owner.children().map(({ metadata }) => metadata.uid),
        [activeId],
      );
      await thief.delete();
      await thief.gone();
    },
  );
});

/** A ProviderConfig of a story's own. */
const configured = (name: string): Fields => ({ providerConfigRef: { name } });
