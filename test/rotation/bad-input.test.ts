import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Invalid } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { btp } from "../families/btp.ts";
import { direct } from "../families/families.ts";
import type { Fields } from "../families/family.ts";
import { Stories, target, together } from "./harness.ts";
import { StoryBinding } from "./story-binding.ts";
import type { WorldView } from "./world-view.ts";

const slow = { ttl: "3h", frequency: "2h" };
/** Long enough for several attempts. */
const A_WHILE_MS = 2_000;

/** What the schema can refuse: which field, and a word of the remedy. */
const refusals: readonly (readonly [reason: string, spec: Fields, says: RegExp])[] = [
  ["a key would end before its successor begins", { rotation: { ttl: "1h", frequency: "2h" } }, /spec\.rotation.*ttl/s],
  ["the same in days", { rotation: { ttl: "23h", frequency: "1d" } }, /spec\.rotation.*ttl/s],
  ["ttl alone", { rotation: { ttl: "2h" } }, /spec\.rotation.*frequency/s],
  ["frequency alone", { rotation: { frequency: "2h" } }, /spec\.rotation.*ttl/s],
  ["neither of the two", { rotation: {} }, /spec\.rotation/],
  ["a frequency of zero", { rotation: { ttl: "1h", frequency: "0s" } }, /spec\.rotation/],
  ["a negative ttl", { rotation: { ttl: "-1h", frequency: "1h" } }, /spec\.rotation\.ttl/],
  ["a negative frequency", { rotation: { ttl: "1h", frequency: "-1h" } }, /spec\.rotation\.frequency/],
  ["words instead of a duration", { rotation: { ttl: "a fortnight", frequency: "1h" } }, /spec\.rotation\.ttl/],
  ["a number without a unit", { rotation: { ttl: "14", frequency: "12" } }, /spec\.rotation/],
  ["an empty duration", { rotation: { ttl: "", frequency: "1h" } }, /spec\.rotation\.ttl/],
  ["a million years", { rotation: { ttl: "8760000000h", frequency: "1h" } }, /spec\.rotation/],
  ["a layout nobody knows", { secretFormat: "ini" }, /spec\.secretFormat/],
  ["a key no Secret can have", { secretKey: "a/b" }, /spec\.secretKey/],
  ["no service instance named", { forProvider: { name: "x" } }, /forProvider\.serviceInstanceId: Required value/],
  [
    "a name no Secret can have",
    { writeConnectionSecretToRef: { namespace: "default", name: "UPPER_x" } },
    /spec\.writeConnectionSecretToRef\.name/,
  ],
  ["an action nobody knows", { managementPolicies: ["Destroy"] }, /spec\.managementPolicies/],
  ["a deletion policy nobody knows", { deletionPolicy: "Keep" }, /spec\.deletionPolicy/],
];

/** Wrong input is refused, or said on the resource with field and remedy; and the operator goes on for all others. */
describe(`bad input on the ${target.name} server`, together, () => {
  const stories = new Stories("bad", { families: [btp] });

  for (const [index, [reason, spec, says]] of refusals.entries()) {
    test(`refused at admission: ${reason}`, async () => {
      const binding = new StoryBinding(stories.stage, { family: btp, name: `bad-${index}` });
      const attempt = binding.stage.kube.create<KubeObject>(btp.type, binding.manifest({ spec }));
      await assert.rejects(attempt, (error) => {
        assert.ok(error instanceof Invalid, String(error));
        assert.match(error.message, says);
        return true;
      });
    });
  }

  stories.tell("minimum", "a frequency below the operator's minimum", { isUnmade: true }, async (binding) => {
    await said(
      binding,
      { spec: { rotation: { ttl: "1s", frequency: "500ms" } } },
      /spec\.rotation\.frequency.*at least 1s/,
    );
    await binding.patchSpec({ rotation: slow });
    await binding.calm("a key once it is mended");
  });

  stories.tell("lost-instance", "a service instance that does not exist", { isUnmade: true }, async (binding) => {
    const forProvider = { name: "x", serviceInstanceId: "00000000-0000-4000-8000-000000000000" };
    await said(binding, { spec: { forProvider } }, /instance|serviceInstanceId/i);
    await binding.patchSpec({ forProvider: { serviceInstanceId: binding.instanceId } });
    await binding.calm("a key once it is mended");
  });

  stories.tell(
    "unbindable",
    "a plan that does not allow bindings",
    { isUnmade: true, instance: { bindable: false } },
    async (binding) => {
      await said(binding, {}, /plan|bindable/i);
    },
  );

  stories.tell("quota", "a quota that is used up", { isUnmade: true }, async (binding) => {
    const { controls } = binding.stage.standIns.serviceManager.sandbox;
    controls.putInstance({ bindingQuota: 0 }, binding.instanceId);
    await said(binding, {}, /quota/i);
  });

  stories.tell(
    "full",
    "a key that is over makes room for the next one where there is room for no more",
    { rotation: { ttl: "8s", frequency: "4s" } },
    async (binding) => {
      const first = binding.view();
      await binding.until("a second key", ({ outside }) => outside.length === 2);
      const { controls } = binding.stage.standIns.serviceManager.sandbox;
      controls.putInstance({ bindingQuota: 2 }, binding.instanceId);
      const later = await binding.until(
        "two keys of which the first is neither",
        ({ outside, works }) => works && outside.length === 2 && !outside.includes(first.activeId ?? ""),
      );
      await binding.until("the next", ({ activeId, works }) => works && activeId !== later.activeId);
    },
  );

  for (const [name, spec] of [
    ["dots", { secretKey: ".." }],
    ["metadata", { secretKey: ".metadata", secretFormat: "sap-kubernetes" }],
  ] as const) {
    stories.tell(name, `a key that the Secret cannot have: ${name}`, { isUnmade: true }, async (binding) => {
      await said(binding, { spec }, /spec\.secretKey/);
    });
  }

  stories.tell(
    "nothing-to-adopt",
    "an external-name that means no key: another one is made, with a warning",
    { isUnmade: true },
    async (binding) => {
      const annotations = { "crossplane.io/external-name": "nobody" };
      await binding.create(binding.manifest({ annotations }));
      await binding.calm("a key", ({ works }) => works);
      const told = async () =>
        (await binding.events()).some((text) => /named no key that could be taken over/.test(text));
      await binding.untilAsync("it to be told", told);
    },
  );

  stories.tell(
    "no-config",
    "a ProviderConfig that is missing, and comes later",
    { isUnmade: true },
    async (binding) => {
      const { stage, name } = binding;
      const spec = { providerConfigRef: { name } };
      await said(binding, { spec }, new RegExp(`spec\\.providerConfigRef.*no ProviderConfig ${name}`));
      await stage.putProviderConfig(btp, name, binding.standIn.furtherLogin());
      await binding.calm("a key once it is there");
    },
  );

  stories.tell(
    "access",
    "credentials that are missing, then incomplete, then wrong, then right",
    { isUnmade: true },
    async (binding) => {
      const { stage, name } = binding;
      const secretRef = { namespace: stage.namespace, name: `${name}-manager` };
      await stage.kube.create<KubeObject>(btp.configType, configOf(name, secretRef));
      await said(binding, { spec: { providerConfigRef: { name } } }, /ProviderConfig .*secretRef.*no Secret/);
      const put = (stringData: Fields): Promise<KubeObject> => {
        const body = { apiVersion: "v1", kind: "Secret", metadata: secretRef, stringData };
        return stage.kube.patch(secretType, secretRef, { type: "apply", body, force: true }, { fieldManager: "story" });
      };
      await put({ clientid: "me" });
      await saidOf(binding, /ProviderConfig .*secretRef: .*clientsecret|certificate/);
      const credentials = binding.standIn.furtherLogin();
      await put({ ...credentials, clientsecret: "wrong" });
      await saidOf(binding, /does not accept/);
      await put({ ...credentials });
      await binding.calm("a key once they are right");
    },
  );

  stories.tell(
    "foreign-secret",
    "a Secret that belongs to somebody else is not touched",
    { isUnmade: true, families: direct },
    async (binding) => {
      const foreign = await putSecret(binding, { stringData: { mine: "yes" } });
      await said(binding, {}, /belongs to somebody else.*writeConnectionSecretToRef/);
      const { metadata, data } = await binding.liveSecret();
      assert.equal(metadata.resourceVersion, foreign.metadata.resourceVersion);
      assert.deepEqual(Object.keys(data ?? {}), ["mine"]);
      await binding.deleteSecret();
      await binding.calm("a key once the name is free");
    },
  );

  stories.tell(
    "secret-type",
    "a Secret of a type that is not written is not touched",
    { isUnmade: true },
    async (binding) => {
      await putSecret(binding, { type: "example.org/other" });
      await said(binding, {}, /type example\.org\/other.*choose another name/);
      await binding.deleteSecret();
      await binding.calm("a key once the name is free");
    },
  );

  stories.tell("no-namespace", "a Secret in a namespace that is not there", { isUnmade: true }, async (binding) => {
    const spec = { writeConnectionSecretToRef: { namespace: "nowhere-at-all", name: "x" } };
    await binding.create(binding.manifest({ spec }));
    const { outside } = await saidOf(binding, /nowhere-at-all.*writeConnectionSecretToRef/);
    assert.deepEqual(outside, [], "a key that nobody could be given is not made");
    await binding.patchSpec({ writeConnectionSecretToRef: binding.secretRef });
    await binding.calm("a key once it is mended");
  });

  stories.tell(
    "bind",
    "a broker that makes no key: the old one stays, and the next one comes when it can",
    { rotation: slow, families: direct },
    async (binding) => {
      const before = binding.view();
      binding.setInstance({ brokerFailures: "always", brokerFailsOn: "bind" });
      await binding.askForRotation("now");
      const says = /^False .*(broker|could not make)/i;
      const isSaid = (view: WorldView): boolean => says.test(view.condition("Synced"));
      await binding.until("it to be said", isSaid);
      const during = await binding.remains(A_WHILE_MS, isSaid);
      assert.equal(during.activeId, before.activeId);
      assert.ok(during.works);
      binding.setInstance({ brokerFailures: 0 });
      const after = await binding.rotated(before);
      assert.equal(after.outside.length, 2, "the failed attempts have left nothing");
    },
  );

  stories.tell(
    "unbind",
    "a broker that deletes no key: tried again until it does",
    { rotation: slow, families: direct },
    async (binding) => {
      const before = binding.view();
      binding.setInstance({ brokerFailures: "always", brokerFailsOn: "unbind" });
      await binding.annotate({ "keyturn.dev/compromised": "yes" });
      const during = await saidOf(binding, /broker/i);
      assert.notEqual(during.activeId, before.activeId, "the new key is in use all the same");
      assert.ok(during.outside.includes(before.activeId ?? ""));
      binding.setInstance({ brokerFailures: 0 });
      await binding.removed(before.activeId ?? "");
    },
  );

  stories.tell(
    "turned-bad",
    "a good binding whose spec turns bad keeps its key and its Secret",
    { rotation: slow, families: direct },
    async (binding) => {
      const before = binding.view();
      await binding.patchSpec({ providerConfigRef: { name: "nowhere" } });
      const during = await saidOf(binding, /spec\.providerConfigRef/);
      assert.equal(during.activeId, before.activeId);
      assert.ok(during.works);
      assert.deepEqual(during.outside, before.outside, "no half-done rotation");
      await binding.patchSpec({ providerConfigRef: { name: binding.stage.namespace } });
      await binding.calm("it to be well again", (view) => /^True/.test(view.condition("Synced")));
    },
  );

  stories.tell(
    "other-config",
    "keys stay with the ProviderConfig that they were made with, which stays for them, whichever is named",
    { isUnmade: true, endsItself: true, families: direct },
    async (binding) => {
      const { stage, family, name: config } = binding;
      await stage.putProviderConfig(family, config, binding.standIn.furtherLogin());
      await binding.create(binding.manifest({ rotation: slow, spec: { providerConfigRef: { name: config } } }));
      await binding.calm();
      const before = await binding.force("one");
      await binding.patchSpec({ providerConfigRef: { name: stage.namespace } });
      const during = await saidOf(
        binding,
        new RegExp(`providerConfigRef\\.name: its keys were made with .* ${config},`),
      );
      assert.deepEqual([during.outside, during.works], [before.outside, true]);
      await stage.kube.delete(family.configType, { name: config });
      await binding.remains(A_WHILE_MS, ({ outside }) => outside.length === before.outside.length);
      assert.ok(await stage.hasProviderConfig(family, config), "it is held for its keys");
      await binding.delete();
      await binding.gone();
      assert.deepEqual(binding.view().outside, []);
      await binding.untilAsync("it to go", async () => !(await stage.hasProviderConfig(family, config)));
    },
  );

  stories.tell("good", "a good binding among all these is served as ever", { rotation: slow }, async (binding) => {
    await binding.force("one");
    for (const { text, hasEnded } of binding.stage.operators) {
      assert.equal(hasEnded, false);
      assert.doesNotMatch(text, /uncaught|unhandled/i);
    }
  });
});

/** Made all the same, and told on the resource what is wrong with it; nothing is made outside. */
async function said(
  binding: StoryBinding,
  wishes: Parameters<StoryBinding["manifest"]>[0],
  says: RegExp,
): Promise<void> {
  await binding.create(binding.manifest(wishes));
  const view = await saidOf(binding, says);
  assert.equal(view.activeId, undefined);
  assert.deepEqual(view.outside, []);
}

/** The condition says it, and goes on saying the same without being written again and again. */
async function saidOf(binding: StoryBinding, says: RegExp) {
  const view = await binding.until(`Synced to say ${says}`, (one) => says.test(one.condition("Synced")));
  assert.match(view.condition("Synced"), /^False [A-Za-z]+: /);
  const { resourceVersion } = view.object?.metadata ?? {};
  return binding.remains(A_WHILE_MS, ({ object }) => object?.metadata.resourceVersion === resourceVersion);
}

async function putSecret(binding: StoryBinding, fields: Fields): Promise<KubeObject> {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: binding.secretRef, ...fields };
  return binding.stage.kube.create<KubeObject>(secretType, secret);
}

const configOf = (name: string, secretRef: Fields): KubeObject => ({
  apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
  kind: "ProviderConfig",
  metadata: { name },
  spec: { serviceManagerSecret: { source: "Secret", secretRef } },
});
