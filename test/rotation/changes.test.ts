import assert from "node:assert/strict";
import { describe } from "node:test";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { btp } from "../families/btp.ts";
import { direct } from "../families/families.ts";
import { readConnectionSecret } from "./connection-secret.ts";
import { Stories, target, together } from "./harness.ts";

const slow = { ttl: "3h", frequency: "2h" };
const hours = (count: number): number => count * 3_600_000;
/** Takes its time with every create: the key is pending for a while. */
const slowBroker = { broker: "asynchronous", brokerWorkMs: 1_500 } as const;

describe(`changes of the spec on the ${target.name} server`, together, () => {
  const stories = new Stories("changes");

  stories.tell(
    "ttl",
    "a ttl that is raised or lowered moves the end of keys that are retired already",
    { rotation: slow },
    async (binding) => {
      const { retired } = await binding.force("one");
      const createdAt = retired[0]?.createdAt ?? Number.NaN;
      await binding.patchRotation({ ttl: "12h", frequency: "2h" });
      const isRaised = await binding.calm("the later date", (view) =>
        view.retired.some((key) => key.deletionAt === createdAt + hours(12)),
      );
      assert.equal(isRaised.retired.length, 1);
      await binding.patchRotation({ ttl: "150m", frequency: "2h" });
      // The hour of overlap that was promised when the rotation began is kept whatever the ttl says now.
      const replacedAt = isRaised.retired[0]?.replacedAt ?? Number.NaN;
      const expected = Math.max(createdAt + hours(2.5), replacedAt + hours(1));
      await binding.calm("the earlier date", (view) => view.retired.some(({ deletionAt }) => deletionAt === expected));
    },
  );

  stories.tell(
    "off",
    "rotation that is switched off: no more rotations, and what is retired goes at its saved date",
    { rotation: { ttl: "6s", frequency: "2s" } },
    async (binding) => {
      const before = await binding.until("a retired key", ({ retired, isPending }) => retired.length > 0 && !isPending);
      await binding.patchRotation(null);
      const off = await binding.calm("rotation to be off", (view) =>
        /^False Disabled/.test(view.condition("RotationStatus")),
      );
      const after = await binding.calm("the retired keys to go", ({ retired }) => retired.length === 0);
      assert.equal(after.activeId, off.activeId);
      const lastAt = Math.max(...before.retired.map(({ deletionAt }) => deletionAt));
      assert.ok(Date.now() >= lastAt, "none went before its date");
      await binding.patchRotation({ ttl: "4s", frequency: "2s" });
      const rotating = await binding.rotated(after);
      assert.match(rotating.condition("RotationStatus"), /^True Enabled/);
    },
  );

  stories.tell(
    "off-pending",
    "rotation that is switched off and on while a key is being made: the key is finished",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      binding.setInstance(slowBroker);
      await binding.askForRotation("now");
      await binding.until("a key to be made", ({ isPending }) => isPending);
      await binding.patchRotation(null);
      await binding.patchRotation(slow);
      await binding.until("the broker to be done", () => binding.hasReady(2));
      await binding.patchRotation(null);
      const after = await binding.rotated(before);
      binding.setInstance({ broker: "synchronous" });
      assert.equal(after.sequence, before.sequence + 1, "one key, not several");
      assert.deepEqual(
        after.retired.map(({ id }) => id),
        [before.activeId],
      );
      assert.match(after.condition("RotationStatus"), /^False Disabled/);
    },
  );

  stories.tell(
    "on",
    "rotation that is switched on for an old static key: replaced at once, with the overlap promised",
    async (binding) => {
      const before = binding.view();
      await binding.until("the key to be old", () => Date.now() > before.createdAt + 2_500);
      await binding.patchRotation({ ttl: "5s", frequency: "2s" });
      const after = await binding.rotated(before);
      const [old] = after.retired;
      assert.equal(old?.id, before.activeId);
      assert.ok(old && old.deletionAt >= old.replacedAt + 3_000, "ttl − frequency, from now");
      await binding.until("the static key to go", ({ outside }) => !outside.includes(before.activeId ?? ""));
      assert.ok(old && Date.now() >= old.deletionAt);
    },
  );

  stories.tell("name", "another name is another key", { rotation: slow, families: direct }, async (binding) => {
    const before = binding.view();
    await binding.patchSpec({ forProvider: { name: "renamed" } });
    const after = await binding.rotated(before);
    assert.match(after.activeName ?? "", /^renamed-/);
    assert.deepEqual(
      after.retired.map(({ id }) => id),
      [before.activeId],
    );
  });

  stories.tell(
    "instance",
    "another service instance is another key, and the old one ends where it was",
    { rotation: slow, families: direct },
    async (binding) => {
      const before = binding.view();
      const other = binding.addInstance();
      await binding.patchSpec(binding.family.instanceSpec(other));
      const after = await binding.rotated(before);
      const at = new Map(binding.keysAtService().map(({ id, instanceId }) => [id, instanceId]));
      assert.equal(at.get(after.activeId ?? ""), other);
      assert.equal(at.get(before.activeId ?? ""), binding.instanceId);
    },
  );

  stories.tell(
    "parameters",
    "other parameters, in the spec or in a Secret, are another key",
    { rotation: slow, families: [btp] },
    async (binding) => {
      const before = binding.view();
      await binding.patchSpec({ forProvider: { parameters: { role: "reader", nested: { depth: 1 } } } });
      const changed = await binding.rotated(before);
      const metadata = { namespace: binding.stage.namespace, name: `${binding.name}-parameters` };
      const put = (value: object): Promise<KubeObject> => {
        const body = { apiVersion: "v1", kind: "Secret", metadata, stringData: { json: JSON.stringify(value) } };
        return binding.stage.kube.patch(
          secretType,
          metadata,
          { type: "apply", body, force: true },
          { fieldManager: "story" },
        );
      };
      await put({ nested: { more: 2 } });
      await binding.patchSpec({ forProvider: { parameterSecretRefs: [{ ...metadata, key: "json" }] } });
      const merged = await binding.rotated(changed);
      assert.deepEqual(binding.parametersOf(merged.activeId), { role: "reader", nested: { depth: 1, more: 2 } });
      await put({ nested: { more: 3 } });
      const again = await binding.rotated(merged);
      assert.deepEqual(binding.parametersOf(again.activeId), { role: "reader", nested: { depth: 1, more: 3 } });
    },
  );

  stories.tell(
    "moved",
    "a Secret reference that moved: both names work until the key of the old one ends",
    { rotation: slow },
    async (binding) => {
      const before = binding.view();
      const former = binding.secretRef;
      binding.moveSecret(`${binding.name}-elsewhere`);
      await binding.patchSpec({ writeConnectionSecretToRef: binding.secretRef });
      const moved = await binding.calm("the Secret under its new name");
      assert.equal(moved.activeId, before.activeId, "it is the same key");
      // The guard logs in with both; the former Secret must be gone before the key that it holds is.
      await binding.annotate({ "keyturn.dev/compromised": "yes" });
      await binding.calm("the old key to be gone", ({ outside }) => !outside.includes(before.activeId ?? ""));
      await binding.until("the former Secret to be gone", () => binding.stage.secrets.get(former) === undefined);
    },
  );

  stories.tell(
    "layouts",
    "the Secret in the layout that the spec asks for, and replaced as a whole when that changes",
    { families: [btp] },
    async (binding) => {
      const keysOf = async (): Promise<string[]> => Object.keys((await binding.liveSecret()).data ?? {}).sort();
      assert.deepEqual(await keysOf(), ["credentials", "hostname", "password", "port", "uri", "username"]);
      await binding.patchSpec({ secretKey: "access.json" });
      await binding.until(
        "one key",
        (view) => view.works && dataKeys(binding.stage.secrets.get(binding.secretRef)).length === 1,
      );
      assert.deepEqual(await keysOf(), ["access.json"]);
      await binding.patchSpec({ secretKey: null, secretFormat: "sap-kubernetes" });
      const isSap = (): boolean => dataKeys(binding.stage.secrets.get(binding.secretRef)).includes(".metadata");
      await binding.until("the layout of SAP's libraries", (view) => view.works && isSap());
      const { credentials } = readConnectionSecret(await binding.liveSecret());
      assert.ok(credentials && binding.standIn.lets(credentials));
    },
  );
});

const dataKeys = (secret: KubeObject | undefined): string[] => Object.keys(secret?.data ?? {});
