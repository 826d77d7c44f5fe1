import assert from "node:assert/strict";
import { describe } from "node:test";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { allFamilies, direct, families } from "../families/families.ts";
import { Stories, target, together } from "./harness.ts";
import { brisk } from "./stage.ts";

const slow = { ttl: "3h", frequency: "2h" };
/** The key is pending for a second. */
const slowBroker = { brokerLatencyMs: 1_000 };
const A_WHILE_MS = 3_500;

/** What goes, what stays, and in what order, when resources are deleted or were never to be acted for. */
describe(`departures on the ${target.name} server`, together, () => {
  const stories = new Stories("departure", { flags: brisk({ sweepEvery: "2s" }), families: allFamilies });

  stories.tell(
    "all",
    "retired keys go with the active one, and the resource goes last",
    { rotation: slow },
    async (binding) => {
      await binding.force("one");
      const before = await binding.force("two");
      assert.equal(before.outside.length, 3);
      await binding.delete();
      await binding.gone();
      assert.deepEqual(binding.view().outside, []);
    },
  );

  stories.tell(
    "orphan",
    "deletionPolicy Orphan keeps active and retired keys and takes our marks off",
    { rotation: slow, spec: { deletionPolicy: "Orphan" }, endsItself: true },
    async (binding) => {
      const before = await binding.force("one");
      await binding.delete();
      await binding.gone();
      // The sweep comes by meanwhile, and must not take them for forgotten ones.
      await binding.remains(A_WHILE_MS, ({ outside }) => outside.join() === before.outside.join());
      for (const id of before.outside) {
        const ours = Object.keys(binding.marksOf(id)).filter((mark) => mark.startsWith("keyturn"));
        assert.deepEqual(ours, []);
      }
      const named = (await binding.events()).join("\n");
      for (const id of before.outside) assert.ok(named.includes(id), "an event names what was left behind");
    },
  );

  stories.tell(
    "orphan-pending",
    "deletionPolicy Orphan deletes the key that is still being made",
    {
      rotation: slow,
      spec: { deletionPolicy: "Orphan" },
      endsItself: true,
    },
    async (binding) => {
      const before = binding.view();
      binding.setInstance(slowBroker);
      await binding.askForRotation("now");
      await binding.until("a key to be made", ({ isPending }) => isPending);
      await binding.delete();
      await binding.gone();
      await binding.until("only the active key to be left", ({ outside }) => outside.join() === before.activeId);
      await binding.remains(A_WHILE_MS, ({ outside }) => outside.join() === before.activeId);
    },
  );

  stories.tell(
    "observe",
    "managementPolicies without Create: nothing is made",
    { isUnmade: true, families },
    async (binding) => {
      await binding.create(binding.manifest({ spec: { managementPolicies: ["Observe"] } }));
      await binding.until(
        "it to be looked at",
        (view) => view.condition("Synced") !== "" || view.condition("Ready") !== "",
      );
      await binding.remains(A_WHILE_MS, ({ outside, secret }) => outside.length === 0 && secret === undefined);
      await binding.patchSpec({ managementPolicies: ["*"] });
      await binding.calm("a key once it may");
    },
  );

  stories.tell(
    "no-delete",
    "managementPolicies without Delete: the key stays when the resource goes",
    { spec: { managementPolicies: ["Observe", "Create", "Update"] }, endsItself: true, families },
    async (binding) => {
      const before = binding.view();
      await binding.delete();
      await binding.gone();
      await binding.remains(A_WHILE_MS, ({ outside }) => outside.join() === before.outside.join());
    },
  );

  stories.tell(
    "mid-rotation",
    "a resource that is deleted while a key is being made leaves nothing",
    { rotation: slow },
    async (binding) => {
      // An asynchronous broker is asked every ten seconds: on the real server there is time for that.
      binding.setInstance(target.name === "real" ? { broker: "asynchronous", brokerWorkMs: 1_000 } : slowBroker);
      await binding.askForRotation("now");
      await binding.until("a key to be made", ({ isPending }) => isPending);
      await binding.delete();
      await binding.gone();
      await binding.remains(A_WHILE_MS, ({ outside }) => outside.length === 0);
    },
  );

  stories.tell(
    "finalizer",
    "keys of a resource whose finalizer was taken off are found by the sweep",
    { rotation: slow, endsItself: true, families },
    async (binding) => {
      const before = await binding.force("one");
      assert.equal(before.outside.length, 2);
      await binding.annotate({ "crossplane.io/paused": "true" });
      await binding.patch({ metadata: { finalizers: null } });
      await binding.delete();
      await binding.gone();
      await binding.until("the sweep to have come by", ({ outside }) => outside.length === 0);
    },
  );

  stories.tell(
    "together",
    "ProviderConfig, credentials and bindings deleted in one go: everything goes, nobody is locked out",
    { isUnmade: true, families },
    async (binding) => {
      const { stage, family, name: config } = binding;
      await stage.putProviderConfig(family, config, binding.standIn.furtherLogin());
      const credentials = stage.credentialsOf(family, config);
      await binding.create(binding.manifest({ rotation: slow, spec: { providerConfigRef: { name: config } } }));
      await binding.calm();
      await binding.force("one");
      // In the order of a directory listing: what the bindings need goes first.
      await stage.kube.delete(secretType, credentials);
      await stage.kube.delete(family.configType, { name: config });
      await binding.delete();
      await binding.gone();
      await binding.until("nothing to be left outside", ({ outside }) => outside.length === 0);
      await binding.until("the credentials to go", () => stage.secrets.get(credentials) === undefined);
      await binding.untilAsync(
        "the ProviderConfig to go",
        async () => !(await stage.hasProviderConfig(family, config)),
      );
    },
  );

  stories.tell(
    "instance-gone",
    "a service instance that was cancelled takes its keys along and keeps nobody",
    { rotation: slow, endsItself: true, families: direct },
    async (binding) => {
      await binding.force("one");
      await binding.doingHarm(async () => {
        binding.standIn.removeInstance(binding.instanceId);
        await binding.until("it to be said", (view) => /InstanceNotFound/.test(view.condition("Synced")));
        await binding.delete();
        await binding.gone();
      });
    },
  );
});
